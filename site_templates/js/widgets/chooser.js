// The problem of the page, chosen by its two digits in the header; figures follow it.
(function (Article) {
  "use strict";

  const FOLLOWING = '[data-follows~="problem"], .problem-part';

  /** @param {HTMLElement} header */
  function mount(header) {
    if (!document.querySelector(FOLLOWING)) return;
    const [a, b] = digits();
    const label = Article.text("chooser_label");
    const group = Article.make("div", { className: "problem-chooser", role: "group", ariaLabel: label, title: label }, a, "\u00d7", b);
    header.querySelector(".site-title")?.after(group);

    group.addEventListener("change", () => choose(`${a.value}x${b.value}`));
    for (const type of ["pointerenter", "focusin"]) group.addEventListener(type, () => Article.passes.load().catch(() => {}));
    Article.state.subscribe(() => {
      [a.value, b.value] = Article.scene.problem().split("x");
    });
  }

  /** @param {string} problem that the page shows from now on */
  function choose(problem) {
    Article.state.set({ problem: problem === Article.scene.written() ? null : problem });
  }

  /** @returns {HTMLSelectElement[]} the choice of each digit of a problem */
  function digits() {
    return ["chooser_a", "chooser_b"].map((name) => (
      Article.make("select", { ariaLabel: Article.text(name) }, ...Array.from({ length: 10 }, (_, digit) => new Option(String(digit))))
    ));
  }

  Article.chooser = { mount, choose, digits };
})((window.Article ??= {}));
