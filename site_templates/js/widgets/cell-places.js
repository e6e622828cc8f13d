// Which cell an element of the page stands for: a number of a table, one in a sentence, or a link.
//
// `isPages` says that a place goes with the page's problem.
(function (Article) {
  "use strict";

  /** @returns {HTMLTableCellElement | null | undefined} the number of a table that opens */
  function cellOf(target) {
    return target.closest?.(`figure[data-stage] ${Article.cells.CELLS}`);
  }

  /** @returns {any} null where the problem that is looked at has no such cell */
  function of(element, run) {
    return element.matches("td") ? ofCell(element, run) : element.matches("a") ? ofLink(element, run) : ofNumber(element, run);
  }

  function ofCell(td, run) {
    const figure = td.closest("figure"), data = { ...figure.dataset, ...td.parentElement.dataset };
    const place = data.kind ? Article.worked.placeIn(figure, td, Article.scene.view(run)) : Article.cellNames.ofMatrix(data, Article.cells.placed(td), run);
    return place && { ...place, problem: place.problem || pageProblem(run), isPages: isPages(data) };
  }

  function ofNumber(value, run) {
    const place = Article.prose.placeIn(value, Article.scene.view(run));
    return place && { ...place, isPages: isPages(value.dataset) };
  }

  /** The cell that a link names, of the problem that the page shows. */
  function ofLink(link, run) {
    const { cell } = Article.state.parse(link.getAttribute("href")).state;
    return { ...Article.cellNames.parse(cell, run), problem: pageProblem(run), isPages: true };
  }

  /** Whether what an element shows goes with the page's problem. */
  function isPages({ follows = "", problem }) {
    return !problem || follows.includes("problem");
  }

  /** @returns {string} the problem of a weight's cells */
  function pageProblem(run) {
    return Article.scene.problem() || run.dataset.problems[0].problem;
  }

  Article.cellPlaces = { cellOf, of, pageProblem };
})((window.Article ??= {}));
