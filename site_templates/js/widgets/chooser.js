// The problem of the page, chosen in the header, part by part where its name has parts; figures follow it.
(function (Article) {
  "use strict";

  const FOLLOWING = '[data-follows~="problem"], .problem-part';

  /** @param {HTMLElement} header */
  function mount(header) {
    if (!document.querySelector(FOLLOWING)) return;
    const parts = selects(), label = Article.text("chooser_label");
    const group = Article.make("div", { className: "problem-chooser", role: "group", ariaLabel: label, title: label }, ...shown(parts));
    header.querySelector(".site-title")?.after(group);

    group.addEventListener("change", () => choose(chosen(parts)));
    for (const type of ["pointerenter", "focusin"]) group.addEventListener(type, () => Article.passes.load().catch(() => {}));
    Article.state.subscribe(() => write(parts, Article.scene.problem().split("x")));
  }

  /** @param {string} problem that the page shows from now on */
  function choose(problem) {
    Article.state.set({ problem: problem === Article.scene.written() ? null : problem });
  }

  /** @returns {HTMLSelectElement[]} the choice of each part of a problem's name */
  function selects() {
    const lists = document.body.dataset.choices.split("|"), names = lists[1] ? ["chooser_a", "chooser_b"] : ["chooser_label"];
    const options = (list) => list.split(" ").map((name) => new Option(name));
    return lists.map((list, i) => Article.make("select", { ariaLabel: Article.text(names[i]) }, ...options(list)));
  }

  /** Let a choice be among the targets of a problem, such as 7×8= → 5, each by its position. */
  function writeTargets(select, run, problem, position) {
    const { question, tokensOf } = Article.cellNames;
    select.replaceChildren(...tokensOf(run, problem).map((_, at) => new Option(question(run, problem, at), String(at), false, at === position)));
  }

  const write = (parts, values) => parts.forEach((part, i) => { part.value = values[i]; });
  const chosen = (parts) => parts.map(({ value }) => value).join("x");
  const shown = (parts) => parts.flatMap((part, i) => (i ? ["\u00d7", part] : [part]));

  Article.chooser = { mount, choose, selects, write, writeTargets, chosen, shown };
})((window.Article ??= {}));
