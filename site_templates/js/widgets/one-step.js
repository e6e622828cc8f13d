// One step of plain gradient descent for one target alone: its probabilities before and after.
(function (Article) {
  "use strict";

  const DECIMALS = 4;

  /** @param {HTMLElement} figure */
  function mount(figure) {
    figure.hidden = false;
    figure.querySelector("select").addEventListener("change", ({ target }) => {
      const position = Number(/** @type {HTMLSelectElement} */ (target).value);
      Article.state.set({ position: position === read(figure).target ? null : position });
    });
    Article.scene.begin(figure, write);
  }

  const read = (figure) => Article.follow.own(figure, ({ rate }) => ({ rate: Number(rate) }));

  /**
   * @param {HTMLElement} figure
   * @param {import("./follow").View} view
   */
  function write(figure, view) {
    const own = read(figure), { run } = view, next = Article.follow.resolve(own, view);
    const { problem, stage, target: position } = next;
    const pass = Article.passes.at({ problem, stage, position });
    const stepped = pass.weights.map((weight, i) => weight - own.rate * pass.gradient[i]);
    const model = new Article.engine.Transformer(run.sizes, pass.model.rows);
    model.forward(stepped);
    const [before, after] = [pass.model, model].map((of) => [...Article.engine.probabilities(of, position)]);
    const shown = (p) => Number(p.toFixed(DECIMALS));
    const change = after.map((p, c) => shown(p) - shown(before[c])); // of what is written above it
    Article.prose.numbers(figure, view);
    colour(figure, "before", before, 1);
    fill(figure, "after", after, 1);
    fill(figure, "change", change, Math.max(...change.map(Math.abs)));
    const { rows: lines } = figure.querySelector("table"), head = lines[0].cells[pass.target.token + 1];
    const isLit = head.matches(".lit");
    for (const { cells } of lines) {
      [...cells].forEach((cell, c) => cell.classList.toggle("lit", c === pass.target.token + 1));
    }
    name(figure, next, view);
    if (isLit) return;
    const box = figure.querySelector(".worked-scroll");
    box.scrollLeft = head.offsetLeft - box.clientWidth / 2;
  }

  function fill(figure, row, numbers, domain) {
    colour(figure, row, numbers, domain).forEach((td, c) => {
      const value = Article.number.rounded(numbers[c]);
      td.dataset.value = String(value);
      td.textContent = Article.number.display(value, DECIMALS);
    });
  }

  function colour(figure, row, numbers, domain) {
    const cells = figure.querySelectorAll(`.one-step-${row} td`);
    cells.forEach((td, c) => {
      td.className = numbers[c] < 0 ? "negative" : "positive";
      td.style.setProperty("--v", (Math.abs(numbers[c]) / domain).toFixed(2));
    });
    return cells;
  }

  /** What was asked, and what else can be. */
  function name(figure, next, view) {
    figure.querySelector(".matrix-where").textContent = Article.follow.where({ ...next, key: "probs", target: null }, view);
    Article.chooser.writeTargets(figure.querySelector("select"), view.run, next.problem, next.target);
  }

  Article.oneStep = { mount, write };
})((window.Article ??= {}));
