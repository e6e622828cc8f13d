// The live face: an Altair heatmap over the cells of a table, drawn while the figure is near.
//
// It takes values, digits and geometry from the table, so the two faces cannot differ. The table
// stays: it keeps the edges, takes the pointer and the focus, and is what is printed and spoken.
(function (Article) {
  "use strict";

  const COLOURS = { ink: "--ink", paper: "--paper", masked: "--masked", low: "--low", middle: "--cell", high: "--high" };
  const NEAR = "50% 0px";
  const FAR = "250% 0px";

  const MARKED = "td:is(.open, .opened, .operand, .pointed)";

  /** @typedef {{view: any, host: HTMLElement, chart: HTMLElement, resize: ResizeObserver, queue: Promise<any>}} Face
   *   `host` lies over the cells, with the chart and the marks upon it */
  /** @typedef {{lit: {row: number | null, column: number | null}, drawing: object | null, face: Face | null}} State */

  /**
   * What is lit outlasts the face. `drawing` is the one attempt that may put a face into the page.
   *
   * @type {Map<HTMLElement, State>}
   */
  const states = new Map();
  /** @type {Promise<any> | undefined} */
  let loading;
  /** Figures whose chart is behind their table. */
  const stale = new Set();
  let resting = 0;

  const near = new IntersectionObserver(
    (entries) => entries.forEach((entry) => entry.isIntersecting && draw(entry.target)),
    { rootMargin: NEAR },
  );
  const far = new IntersectionObserver(
    (entries) => entries.forEach((entry) => entry.isIntersecting || dismiss(entry.target)),
    { rootMargin: FAR },
  );

  /** @param {HTMLElement} figure */
  function mount(figure) {
    if (matchMedia("(forced-colors: active)").matches) return; // colours are the reader's there
    states.set(figure, { lit: { row: null, column: null }, drawing: null, face: null });
    near.observe(figure);
    far.observe(figure);
  }

  /** @param {HTMLElement} figure */
  async function draw(figure) {
    const state = states.get(figure);
    if (state.drawing) return;
    const drawing = (state.drawing = {});
    const isWanted = () => state.drawing === drawing; // or else the reader has scrolled on
    try {
      loading ??= Promise.all(["vega.js", "charts.js"].map(Article.data.load));
      await loading;
      if (!isWanted()) return;
      const face = embed(figure);
      await run(face);
      if (isWanted()) attach(figure, state, face);
      else face.view.finalize();
    } catch (error) {
      Article.failure.tell(figure, error);
    }
  }

  /** @param {HTMLElement} figure */
  function embed(figure) {
    const { View, parse, expressionInterpreter } = Article.vega;
    const chart = Article.make("div", {}), marks = Article.make("div", { className: "matrix-marks" });
    const host = Article.make("div", { className: "matrix-live", ariaHidden: "true" }, chart, marks);
    const spec = Article.charts[figure.dataset.range];
    const view = new View(parse(spec, {}, { ast: true }), {
      expr: expressionInterpreter,
      renderer: "svg",
      container: chart,
      hover: false,
    });
    view.signal("domain", Number(figure.dataset.domain)).data("cells", Article.cells.of(figure).map(record));
    paint(figure, view);
    fit(figure, view, host);
    return { view, host, chart };
  }

  /** Put a finished chart into the page, and keep it as the table is. */
  function attach(figure, state, { view, host, chart }) {
    figure.querySelector(".matrix-scroll").append(host);
    figure.classList.add("has-face");
    const resize = new ResizeObserver(() => refit(figure, state.face));
    state.face = { view, host, chart, resize, queue: Promise.resolve() };
    resize.observe(figure.querySelector(".matrix-table"));
    showLit(state);
    mark(figure);
  }

  const record = ({ td, row, column, number: value }) => ({ row, column, value, text: td.textContent.trim() });

  /** Lay the chart over the cells. */
  function fit(figure, view, host) {
    const cells = [...figure.querySelectorAll(".matrix-table tbody td")];
    const table = figure.querySelector(".matrix-table").getBoundingClientRect();
    const [first, last] = [cells[0], cells.at(-1)].map((td) => td.getBoundingClientRect());
    const [width, height] = [last.right - first.left, last.bottom - first.top];
    const [left, up, down] = [first.left - table.left, first.top - table.bottom, table.bottom - last.bottom];
    Object.assign(host.style, { margin: `${up}px 0 ${down}px ${left}px`, width: `${width}px`, height: `${height}px` });
    view.width(width).height(height);
  }

  /**
   * @param {HTMLElement} figure
   * @param {Face | null} face
   */
  function refit(figure, face) {
    if (!face || face.chart.hidden || !figure.querySelector(".matrix-table")?.getClientRects().length) return;
    paint(figure, face.view); // the size of the digits may have changed too
    fit(figure, face.view, face.host);
    update(face);
  }

  /** Give the chart the colours and the size of digits that the table has now. */
  function paint(figure, view) {
    const probe = Article.make("span", {});
    figure.append(probe);
    for (const [signal, property] of Object.entries(COLOURS)) {
      probe.style.color = `var(${property})`;
      view.signal(signal, getComputedStyle(probe).color);
    }
    probe.remove();
    const digits = getComputedStyle(figure.querySelector(".matrix-table tbody td"));
    view.signal("font_size", Number.parseFloat(digits.fontSize));
  }

  /** Colours have changed: paint every chart anew. */
  function repaint() {
    for (const [figure, { face }] of states) {
      if (!face) continue;
      paint(figure, face.view);
      update(face);
    }
  }

  /** The table's numbers have changed: it stands for itself until the page has come to rest. */
  function refresh(figure) {
    const face = states.get(figure)?.face;
    if (!face) return;
    face.chart.hidden = true;
    stale.add(figure);
    clearTimeout(resting);
    resting = setTimeout(redraw, Article.REST);
  }

  /** Draw the changed figures anew, one a task. */
  function redraw() {
    const [figure] = stale;
    if (!figure) return;
    stale.delete(figure);
    const face = states.get(figure)?.face, cells = Article.cells.of(figure);
    if (face && cells.length) {
      face.view.data("cells", cells.map(record));
      fit(figure, face.view, face.host);
      update(face).then(() => (face.chart.hidden = stale.has(figure)));
    }
    resting = setTimeout(redraw);
  }

  /**
   * @param {HTMLElement} figure
   * @param {number | null} row
   * @param {number | null} column
   */
  function light(figure, row, column) {
    const state = states.get(figure);
    if (!state) return;
    state.lit = { row, column };
    if (state.face) showLit(state);
  }

  /** @param {State} state */
  function showLit({ face, lit }) {
    face.view.signal("lit_row", lit.row).signal("lit_column", lit.column);
    update(face);
  }

  /** What is marked in the table is marked on the chart, which covers it. */
  function mark(figure) {
    const marks = states.get(figure)?.face?.host.lastChild;
    marks?.replaceChildren(...[...figure.querySelectorAll(MARKED)].map((td) => {
      const made = Article.make("i", { className: td.className });
      made.style.gridArea = `${td.parentElement.sectionRowIndex + 1} / ${td.cellIndex}`;
      return made;
    }));
  }

  /** One update after the other: Vega drops what comes in between. */
  function update(face) {
    return (face.queue = face.queue.then(() => run(face)));
  }

  /** Digits that stand where they stand, and are not moved there, are painted much faster. */
  async function run({ view, chart }) {
    await view.runAsync();
    for (const digits of chart.querySelectorAll("text[transform]")) {
      const [x, y] = digits.getAttribute("transform").match(/[-\d.]+/g);
      digits.setAttribute("x", x);
      digits.setAttribute("y", y);
      digits.removeAttribute("transform");
    }
  }

  /** @param {HTMLElement} figure */
  function dismiss(figure) {
    const state = states.get(figure);
    const { face } = state;
    state.drawing = state.face = null;
    if (!face) return;
    face.resize.disconnect();
    face.host.remove();
    figure.classList.remove("has-face");
    face.queue.then(() => face.view.finalize());
  }

  Article.live = { mount, light, mark, refresh, repaint };
})((window.Article ??= {}));
