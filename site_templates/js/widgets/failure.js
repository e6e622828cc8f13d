// A part that fails is heard of: in the console, and at the figure that it belongs to.
(function (Article) {
  "use strict";

  /**
   * @param {Element} element
   * @param {unknown} error
   * @param {string} [text] that says so, where it can pass
   */
  function tell(element, error, text = "") {
    reportError(error);
    const figure = element.closest("figure");
    if (!figure || noteOf(figure)) return;
    const note = Article.make("p", { className: "figure-failure", title: String(error) }, text || Article.text("figure_failed"));
    note.classList.toggle("can-pass", text !== "");
    figure.append(note);
  }

  /** @param {Element} figure which has followed again */
  function clear(figure) {
    const note = noteOf(figure);
    if (note?.classList.contains("can-pass")) note.remove();
  }

  /** @returns {HTMLElement | null} */
  function noteOf(figure) {
    return figure.querySelector(":scope > .figure-failure");
  }

  Article.failure = { tell, clear };
})((window.Article ??= {}));
