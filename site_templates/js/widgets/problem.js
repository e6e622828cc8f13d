// A part that fails is heard of: in the console, and at the figure that it belongs to.
(function (Article) {
  "use strict";

  /**
   * @param {Element} element
   * @param {unknown} error
   * @param {string} [name] of the text that says so
   */
  function tell(element, error, name = "figure_failed") {
    reportError(error);
    const figure = element.closest("figure");
    if (!figure || noteOf(figure)) return;
    const note = document.createElement("p");
    note.className = "figure-problem";
    note.dataset.problem = name;
    note.textContent = Article.text(name);
    note.title = String(error);
    figure.append(note);
  }

  /** @param {Element} figure which has followed again */
  function clear(figure) {
    const note = noteOf(figure);
    if (note?.dataset.problem === "scene_figure_failed") note.remove();
  }

  /** @returns {HTMLElement | null} */
  function noteOf(figure) {
    return figure.querySelector(":scope > .figure-problem");
  }

  Article.problem = { tell, clear };
})((window.Article ??= {}));
