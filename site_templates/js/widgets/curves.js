// Training curves: what a run here has measured, over the build's own curve, and the step in view.
(function (Article) {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";

  /**
   * The figure of a quantity, and how its numbers lie in the drawing.
   *
   * @param {string} name `loss` or `correct`
   */
  function frameOf(name) {
    const figure = /** @type {HTMLElement | null} */ (document.querySelector(`figure.curve[data-curve="${name}"]`));
    const svg = figure?.querySelector(".curve-chart svg");
    if (!figure || !svg) return null;
    const [left, top, width, height] = figure.dataset.frame.split(" ").map(Number);
    const x = (step) => left + (width * step) / Number(figure.dataset.steps);
    const y = (value) => top + height * (1 - Math.min(1, value / Number(figure.dataset.top)));
    return { svg, x, y, top, bottom: top + height };
  }

  /**
   * Continue the curve of the reader's own run.
   *
   * @param {string} name
   * @param {number} first step of the first value; 0 begins anew
   * @param {number[]} values
   */
  function draw(name, first, values) {
    const frame = frameOf(name);
    if (!frame) return;
    const line = child(frame.svg, "polyline", "curve-own");
    const before = first === 0 ? [] : (line.getAttribute("points") ?? "").split(" ").slice(0, first);
    const points = values.map((value, i) => `${frame.x(first + i).toFixed(1)},${frame.y(value).toFixed(1)}`);
    line.setAttribute("points", [...before, ...points].join(" "));
  }

  /** @param {number | null} step mark it on every curve; null takes the marks away */
  function mark(step) {
    for (const name of ["loss", "correct"]) {
      const frame = frameOf(name);
      if (!frame) continue;
      const line = child(frame.svg, "line", "curve-mark");
      line.toggleAttribute("hidden", step === null);
      if (step === null) continue;
      const x = frame.x(step).toFixed(1);
      const ends = { x1: x, x2: x, y1: frame.top, y2: frame.bottom };
      for (const [attribute, value] of Object.entries(ends)) line.setAttribute(attribute, String(value));
    }
  }

  function child(svg, tag, name) {
    const found = svg.querySelector(`.${name}`);
    if (found) return found;
    const made = document.createElementNS(SVG, tag);
    made.setAttribute("class", name);
    svg.append(made);
    return made;
  }

  Article.curves = { draw, mark };
})((window.Article ??= {}));
