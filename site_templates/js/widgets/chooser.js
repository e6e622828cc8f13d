// The problem of the page, chosen by its two digits in the header; figures follow it.
(function (Article) {
  "use strict";

  const FOLLOWING = '[data-follows~="problem"], .problem-part';

  /** @param {HTMLElement} header */
  function mount(header) {
    if (!document.querySelector(FOLLOWING)) return;
    const group = document.createElement("div");
    group.className = "problem-chooser";
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", Article.text("chooser_label"));
    group.title = Article.text("chooser_label");
    const [a, b] = [Article.text("chooser_a"), Article.text("chooser_b")].map(digits);
    group.append(a, "\u00d7", b);
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

  /** @param {string} label */
  function digits(label) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", label);
    for (let digit = 0; digit < 10; digit++) select.append(new Option(String(digit)));
    return select;
  }

  Article.chooser = { mount, choose };
})((window.Article ??= {}));
