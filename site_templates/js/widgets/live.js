// The live face: an Altair heatmap over the cells of a table, drawn while the figure is near, once no
// figure has come, gone or changed for a while.
//
// It takes values, digits and geometry from the table, so the two faces cannot differ. The table
// stays: it keeps the edges, takes the pointer and the focus, and is what is printed and spoken.
(function (Article) {
  "use strict";

  const COLOURS = { ink: "--ink", paper: "--paper", masked: "--masked", low: "--low", middle: "--cell", high: "--high" };
  const NEAR = "50% 0px";
  const FAR = "250% 0px";

  const MARKED = "td:is(.open, .opened, .operand, .pointed, :focus-visible)";

  /** @typedef {{view: any, host: HTMLElement, chart: HTMLElement, size: string, resize: ResizeObserver, queue: Promise<any>}} Face
   *   `host` lies over the cells, with the chart and the marks upon it; `size` is the table's that it fits */
  /** @typedef {{lit: {row: number | null, column: number | null}, isWanted: boolean, face: Face | null}} State */

  /**
   * What is lit outlasts the face.
   *
   * @type {Map<HTMLElement, State>}
   */
  const states = new Map();
  /** @type {Promise<any> | undefined} */
  let loading;
  /** Figures whose chart is missing, behind their table, or of no more use. */
  const stale = new Set();
  let resting = 0, isBringing = false;

  /** A figure is watched until it is near, then until it is far, and so on. */
  const near = new IntersectionObserver((entries) => follow(entries, true), { rootMargin: NEAR });
  const far = new IntersectionObserver((entries) => follow(entries, false), { rootMargin: FAR });

  /** @param {HTMLElement} figure */
  function mount(figure) {
    if (matchMedia("(forced-colors: active)").matches) return; // colours are the reader's there
    states.set(figure, { lit: { row: null, column: null }, isWanted: false, face: null });
    near.observe(figure);
  }

  /** Figures have come near, or are far away now. */
  function follow(entries, isWanted) {
    const [last, next] = isWanted ? [near, far] : [far, near];
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting !== isWanted) continue;
      last.unobserve(target);
      next.observe(target);
      states.get(target).isWanted = isWanted;
      want(target);
    }
  }

  /** Ask that a figure's chart be as it should, once no figure has asked for a while. */
  function want(figure) {
    stale.add(figure);
    clearTimeout(resting);
    resting = setTimeout(bring, Article.REST);
  }

  /** Bring the charts to where they should be, one a task. */
  async function bring() {
    resting = 0;
    const [figure] = stale;
    if (!figure || isBringing) return;
    isBringing = true;
    stale.delete(figure);
    await settle(figure, states.get(figure)).catch((error) => Article.failure.tell(figure, error));
    isBringing = false;
    resting ||= setTimeout(bring);
  }

  /** Draw a chart, draw it anew, or take it away. */
  async function settle(figure, state) {
    if (!state.isWanted) dismiss(figure, state);
    else await (state.face ? redraw(figure, state.face) : draw(figure, state));
  }

  /**
   * @param {HTMLElement} figure
   * @param {State} state
   */
  async function draw(figure, state) {
    loading ??= Promise.all(["vega.js", "charts.js"].map(Article.data.load));
    await loading;
    if (!state.isWanted) return; // the reader has scrolled on
    const face = embed(figure);
    await run(face);
    attach(figure, state, face);
  }

  async function redraw(figure, face) {
    const cells = Article.cells.of(figure);
    if (cells.length === 0) return;
    face.view.data("cells", cells.map(record));
    face.size = fit(figure, face.view, face.host);
    await update(face);
    face.chart.hidden = stale.has(figure);
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
    return { view, host, chart, size: fit(figure, view, host) };
  }

  /** Put a finished chart into the page, and keep it as the table is. */
  function attach(figure, state, drawn) {
    figure.querySelector(".matrix-scroll").append(drawn.host);
    figure.classList.add("has-face");
    const resize = new ResizeObserver(([entry]) => refit(figure, state.face, entry.borderBoxSize[0]));
    state.face = { ...drawn, resize, queue: Promise.resolve() };
    resize.observe(figure.querySelector(".matrix-table"));
    drawn.chart.hidden = stale.has(figure); // it may have changed meanwhile
    showLit(state);
    mark(figure);
  }

  const record = ({ td, row, column, number: value }) => ({ row, column, value, text: td.textContent.trim() });

  /** Lay the chart over the cells, with digits and colours as theirs are; the table's size is returned. */
  function fit(figure, view, host) {
    paint(figure, view);
    const cells = [...figure.querySelectorAll(".matrix-table tbody td")];
    const table = figure.querySelector(".matrix-table").getBoundingClientRect();
    const [first, last] = [cells[0], cells.at(-1)].map((td) => td.getBoundingClientRect());
    const [width, height] = [last.right - first.left, last.bottom - first.top];
    const [left, up, down] = [first.left - table.left, first.top - table.bottom, table.bottom - last.bottom];
    Object.assign(host.style, { margin: `${up}px 0 ${down}px ${left}px`, width: `${width}px`, height: `${height}px` });
    view.width(width).height(height);
    return String([table.width, table.height]);
  }

  /**
   * @param {HTMLElement} figure
   * @param {Face | null} face
   * @param {ResizeObserverSize} size of the table
   */
  function refit(figure, face, { inlineSize, blockSize }) {
    if (!face || face.chart.hidden || inlineSize === 0 || face.size === String([inlineSize, blockSize])) return;
    face.size = fit(figure, face.view, face.host);
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
    const state = states.get(figure);
    if (state?.face) state.face.chart.hidden = true; // also one that waits to be taken away
    if (state?.isWanted) want(figure);
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

  /**
   * @param {HTMLElement} figure
   * @param {State} state
   */
  function dismiss(figure, state) {
    const { face } = state;
    if (!face) return;
    state.face = null;
    face.resize.disconnect();
    face.host.remove();
    figure.classList.remove("has-face");
    face.queue.then(() => face.view.finalize());
  }

  Article.live = { mount, light, mark, refresh, repaint };
})((window.Article ??= {}));
