// What follows on the page: figures, numbers and words, each written when it is its turn.
//
// What is near the window is written at once. The rest waits until the page has come to rest, or
// until it comes near: while a slider moves, nobody sees it.
(function (Article) {
  "use strict";

  const NEAR = "50% 0px";
  /** Milliseconds of work in one task. */
  const SLICE = 5;

  /** @typedef {import("./follow").View} View */

  /** @type {Map<Element, (element: any, view: View) => void>} how each is written */
  const writers = new Map();
  /** @type {Set<Element>} */
  const near = new Set();
  /** @type {Set<Element>} what has not been written yet */
  const pending = new Set();
  /** @type {View} */
  let view;
  let resting = 0;

  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) near.delete(target);
      else if (near.add(target) && pending.has(target)) write(target);
    }
  }, { rootMargin: NEAR });

  function mount() {
    const kinds = {
      "figure.matrix[data-stage]": Article.figure.write,
      "figure.worked": Article.worked.write,
      "figure.atlas": Article.atlas.write,
      "figure.share-effect": Article.atlas.ring,
      "figure.votes": Article.votes.write,
      "figure.route": Article.route.write,
      "figure.one-step": Article.oneStep.write,
      "figure.interventions": Article.interventions.write,
      ".value[data-cell]:not(.route *, .one-step *, .quiz *)": Article.prose.number, // those are written with their figure, or stay
      ".problem-part": Article.prose.problem,
      ...Article.seed.WRITERS,
    };
    for (const [selector, kind] of Object.entries(kinds)) {
      for (const element of document.querySelectorAll(selector)) {
        writers.set(element, kind);
        observer.observe(element);
      }
    }
    addEventListener("beforeprint", () => pending.forEach(write));
  }

  /**
   * @param {View} next
   * @param {boolean} isFirst whether the page has shown only what the author wrote: then all is soon
   */
  function show(next, isFirst) {
    view = next;
    for (const element of writers.keys()) pending.add(element);
    for (const element of near) write(element);
    clearTimeout(resting);
    resting = setTimeout(rest, isFirst ? 0 : Article.REST);
  }

  /** Write what is far away, a few milliseconds at a time; `article:rest` says that all is written. */
  function rest() {
    const stop = performance.now() + SLICE;
    for (const element of pending) {
      write(element);
      if (performance.now() > stop) break;
    }
    if (pending.size) resting = setTimeout(rest);
    else document.dispatchEvent(new CustomEvent("article:rest"));
  }

  /** One that fails says so, and the others go on. */
  function write(element) {
    pending.delete(element);
    try {
      writers.get(element)(element, view);
      Article.failure.clear(element);
    } catch (error) {
      Article.failure.tell(element, error, Article.text("scene_figure_failed"));
    }
  }

  Article.elements = { mount, show };
})((window.Article ??= {}));
