// Numbers and problems within sentences follow what the reader looks at; numbers open like cells.
(function (Article) {
  "use strict";

  /** @param {HTMLElement} element a number that can be opened */
  function mount(element) {
    element.role = "button";
    element.tabIndex = 0;
  }

  /** What the author wrote of a number: its cell is given by indices; `next` stands for the token that follows. */
  function read(element, run) {
    const own = Article.follow.own(element, ({ opens, cell = opens, value, format, decimals }) => {
      const [, key, indices] = /^(.*)\[(.*)\]$/.exec(cell);
      return { key, indices: indices.split(","), value: Number(value), format, decimals, text: element.textContent, title: element.title };
    });
    return { ...own, head: run.tensors[own.key].axes.includes("head") ? Number(own.indices[0]) : null };
  }

  /** @returns {any} the place of the cell whose number this is, or whose arithmetic has it; null where this problem has none */
  function placeIn(element, view) {
    const written = read(element, view.run);
    return placeOf(written.indices, Article.follow.resolve(written, view), view);
  }

  /**
   * A number of the model.
   *
   * @param {HTMLElement} element
   * @param {import("./follow").View} view
   */
  function number(element, view) {
    const { run } = view;
    const own = read(element, run), next = Article.follow.resolve(own, view);
    if (next.position === null && Article.follow.isAsWritten(own, next, view)) return show(element, own.text, own.title, own.value);
    const place = placeOf(own.indices, next, view);
    const value = place && Article.engine.valueOf(pass(next, view), place.cell);
    if (typeof value !== "number") return show(element, Article.figure.MASKED, "", undefined);
    const isGradient = next.target !== null;
    const stored = Article.number.stored(value, !isGradient && run.tensors[next.key].isWeight);
    const address = `${isGradient ? "\u2202" : ""}${next.key}${Article.cellNames.indices(place, run)}`;
    const title = [address, Article.cellNames.problem(next.problem), Article.number.exact(stored)].join(" \u00b7 ");
    show(element, Article.number.formatted(stored, own.format, own.decimals), title, stored);
  }

  /** The numbers of the model within a figure. */
  function numbers(figure, view) {
    for (const element of figure.querySelectorAll(".value[data-cell]")) number(element, view);
  }

  /** @returns {any} the cell, or null where this problem has none */
  function placeOf(indices, { key, head, problem, stage, position, target }, { run, problem: page }) {
    const pair = indices.slice(-2);
    if (position !== null && pair.length === 2) pair[0] = String(position);
    const { tokens } = Article.cellNames.problemOf(run, problem || page);
    if (pair.at(-1) === "next") pair[1] = String(run.dataset.vocab.indexOf(tokens[Number(pair[0]) + 1]));
    const at = head === null ? pair : [head, ...pair];
    return Article.cellNames.parse(`${problem || page}:${stage}:${key}[${at.join(",")}]${target === null ? "" : `@${target}`}`, run);
  }

  function pass({ problem, stage, target }, view) {
    return Article.passes.at({ problem: problem || view.problem, stage, position: target });
  }

  function show(element, text, title, value) {
    Article.setText(element, text);
    if (element.title !== title) element.title = title;
    if (value === undefined) delete element.dataset.value;
    else element.dataset.value = String(value);
  }

  /**
   * A part of the page's problem, such as its answer.
   *
   * @param {HTMLElement} element
   * @param {import("./follow").View} view
   */
  function problem(element, { run, problem: name }) {
    const { tokens, prompt } = Article.cellNames.problemOf(run, name);
    const [question, answer] = [tokens.slice(0, prompt), tokens.slice(prompt).filter((token) => token !== "<end>")].map((part) => part.join(""));
    const parts = {
      a: tokens[0], b: tokens[2], product: question.slice(0, -1), prompt: question,
      answer, first: answer[0], whole: question + answer,
    };
    Article.setText(element, parts[element.dataset.part]);
  }

  Article.prose = { mount, number, numbers, placeIn, problem };
})((window.Article ??= {}));
