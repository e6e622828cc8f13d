// A part that fails is heard of: in the console, and at the figure that it belongs to.
(function (Article) {
  "use strict";

  /**
   * @param {Element} element
   * @param {unknown} error
   */
  function tell(element, error) {
    reportError(error);
    const figure = element.closest("figure");
    if (!figure || figure.querySelector(":scope > .figure-problem")) return;
    const note = document.createElement("p");
    note.className = "figure-problem";
    note.textContent = Article.text("figure_failed");
    note.title = String(error);
    figure.append(note);
  }

  Article.problem = { tell };
})((window.Article ??= {}));
