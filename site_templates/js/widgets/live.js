// The live face: an Altair heatmap over the cells of a table, drawn while the figure is near.
//
// It takes values, digits and geometry from the table, so the two faces cannot differ. The table
// stays: it keeps the edges, takes the pointer and the focus, and is what is printed and spoken.
// What is far from view costs nothing: it has no face, and styles and layout pass its cells over.
(function (Article) {
  "use strict";

  const COLOURS = { ink: "--ink", paper: "--paper", masked: "--masked", low: "--low", middle: "--cell", high: "--high" };
  const NEAR = "50% 0px";
  const FAR = "250% 0px";
  const REST = 120;

  /** @typedef {{view: any, host: HTMLElement, resize: ResizeObserver, queue: Promise<any>, isWaiting: boolean}} Face */
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
    (entries) => entries.forEach(({ target, isIntersecting }) => {
      target.classList.toggle("is-far", !isIntersecting);
      if (isIntersecting) draw(target);
      if (isIntersecting && stale.has(target)) rest();
    }),
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
      const { view, host } = embed(figure);
      await view.runAsync();
      if (isWanted()) attach(figure, state, view, host);
      else view.finalize();
    } catch (error) {
      Article.problem.tell(figure, error);
    }
  }

  /** @param {HTMLElement} figure */
  function embed(figure) {
    const { View, parse, expressionInterpreter } = Article.vega;
    const host = document.createElement("div");
    host.className = "matrix-live";
    host.setAttribute("aria-hidden", "true");
    const spec = Article.charts[figure.dataset.range];
    const view = new View(parse(spec, {}, { ast: true }), {
      expr: expressionInterpreter,
      renderer: "svg",
      container: host,
      hover: false,
    });
    view.signal("domain", Number(figure.dataset.domain)).data("cells", Article.matrix.cellsOf(figure).map(record));
    paint(figure, view);
    fit(figure, view, host);
    return { view, host };
  }

  /** Put a finished chart into the page, and keep it as the table is. */
  function attach(figure, state, view, host) {
    figure.querySelector(".matrix-scroll").append(host);
    const resize = new ResizeObserver(() => refit(figure, state.face));
    state.face = { view, host, resize, queue: Promise.resolve(), isWaiting: false };
    resize.observe(figure.querySelector(".matrix-table"));
    showLit(state);
  }

  /** @param {HTMLTableCellElement} cell */
  function record(cell) {
    const { row, column, value } = cell.dataset;
    return {
      row: Number(row),
      column: Number(column),
      value: value === undefined ? null : Number(value),
      text: cell.textContent.trim(),
    };
  }

  /** Lay the chart over the cells. */
  function fit(figure, view, host) {
    const cells = Article.matrix.cellsOf(figure);
    const scroll = /** @type {HTMLElement} */ (figure.querySelector(".matrix-scroll"));
    const frame = scroll.getBoundingClientRect();
    const [first, last] = [cells[0].getBoundingClientRect(), cells.at(-1).getBoundingClientRect()];
    const [width, height] = [last.right - first.left, last.bottom - first.top];
    const [left, top] = [first.left - frame.left + scroll.scrollLeft, first.top - frame.top + scroll.scrollTop];
    Object.assign(host.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    view.width(width).height(height);
  }

  /**
   * @param {HTMLElement} figure
   * @param {Face | null} face
   */
  function refit(figure, face) {
    if (!face || face.host.hidden || !figure.querySelector(".matrix-table")?.getClientRects().length) return;
    paint(figure, face.view); // the size of the digits may have changed too
    fit(figure, face.view, face.host);
    update(face);
  }

  /** Give the chart the colours and the size of digits that the table has now. */
  function paint(figure, view) {
    const probe = document.createElement("span");
    probe.hidden = true;
    for (const property of Object.values(COLOURS)) {
      probe.append(Object.assign(document.createElement("span"), { style: `color: var(${property})` }));
    }
    figure.append(probe);
    Object.keys(COLOURS).forEach((signal, i) => view.signal(signal, getComputedStyle(probe.children[i]).color));
    probe.remove();
    const digits = getComputedStyle(Article.matrix.cellsOf(figure)[0]);
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
    face.host.hidden = true;
    stale.add(figure);
    rest();
  }

  function rest() {
    clearTimeout(resting);
    resting = setTimeout(redraw, REST);
  }

  /** Draw the changed figures anew, one a task; those out of sight when they are near again. */
  function redraw() {
    const figure = [...stale].find(({ classList }) => !classList.contains("is-far"));
    if (!figure) return;
    stale.delete(figure);
    const face = states.get(figure)?.face;
    if (face && Article.matrix.cellsOf(figure).length) {
      if (!replace(face.view, Article.matrix.cellsOf(figure).map(record))) fit(figure, face.view, face.host);
      update(face).then(() => (face.host.hidden = stale.has(figure)));
    }
    resting = setTimeout(redraw);
  }

  /** @returns {boolean} whether the cells are the same ones: then only what has changed is drawn anew */
  function replace(view, now) {
    const before = view.data("cells");
    const isSame = before.length === now.length && now.every(({ row, column }, i) => before[i].row === row && before[i].column === column);
    if (isSame) {
      const changes = Article.vega.changeset();
      now.forEach((cell, i) => {
        for (const field of ["value", "text"]) if (cell[field] !== before[i][field]) changes.modify(before[i], field, cell[field]);
      });
      view.change("cells", changes);
    } else view.data("cells", now);
    return isSame;
  }

  /** Whether the figure is near enough to be drawn. */
  function isNear(figure) {
    return Boolean(states.get(figure)?.drawing);
  }

  /**
   * @param {HTMLElement} figure
   * @param {number | null} row
   * @param {number | null} column
   */
  function light(figure, row, column) {
    const state = states.get(figure);
    if (!state || (state.lit.row === row && state.lit.column === column)) return;
    state.lit = { row, column };
    if (state.face) showLit(state);
  }

  /** @param {State} state */
  function showLit({ face, lit }) {
    face.view.signal("lit_row", lit.row).signal("lit_column", lit.column);
    update(face);
  }

  /** One update after the other: Vega drops what comes in between. One takes all that has waited for it. */
  function update(face) {
    if (face.isWaiting) return face.queue;
    face.isWaiting = true;
    return (face.queue = face.queue.then(() => {
      face.isWaiting = false;
      return face.view.runAsync();
    }));
  }

  /** @param {HTMLElement} figure */
  function dismiss(figure) {
    const state = states.get(figure);
    const { face } = state;
    state.drawing = state.face = null;
    stale.delete(figure);
    if (!face) return;
    face.resize.disconnect();
    face.host.remove();
    face.queue.then(() => face.view.finalize());
  }

  Article.live = { mount, light, refresh, repaint, isNear };
})((window.Article ??= {}));
