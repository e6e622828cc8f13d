// What several problems ask of the next token, and the sum, follow the weights that are looked at.
(function (Article) {
  "use strict";

  /**
   * @param {HTMLElement} figure
   * @param {import("./follow").View} view
   */
  function write(figure, view) {
    const { key, stage, target, domain, decimals } = figure.dataset, row = Number(target);
    const own = Article.follow.own(figure, () => ({ latest: 0 })), version = Article.passes.version(stage);
    if (own.latest === version) return;
    own.latest = version;
    const lines = [...figure.querySelectorAll("tr[data-problem]")];
    const votes = lines.map(({ dataset: { problem } }) => Article.follow.numbers({ key, head: null, problem, stage, target: row }, view));
    for (const td of figure.querySelectorAll("td[data-value]")) {
      const line = votes[lines.indexOf(td.parentElement)];
      const value = (line ? [line] : votes).reduce((sum, at) => sum + at(row, td.cellIndex - 1), 0);
      Article.figure.set({ td, mark: "" }, Article.number.stored(value, false), "", { decimals, domain });
    }
    Article.matrix.refresh(figure);
  }

  Article.votes = { write };
})((window.Article ??= {}));
