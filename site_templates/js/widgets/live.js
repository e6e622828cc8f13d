// The live face: an Altair heatmap over the cells of a table, drawn while the figure is near.
//
// It takes values, digits and geometry from the table, so the two faces cannot differ. The table
// stays: it keeps the edges, takes the pointer and the focus, and is what is printed and spoken. A
// face that is out of sight falls behind, and catches up when it is near again.
(function (Article) {
  "use strict";

  const COLOURS = { ink: "--ink", paper: "--paper", masked: "--masked", low: "--low", middle: "--cell", high: "--high" };
  const NEAR = "50% 0px";
  const FAR = "250% 0px";

  /** @typedef {{view: any, host: HTMLElement, resize: ResizeObserver, queue: Promise<any>, isWaiting: boolean}} Face */
  /** @typedef {{lit: {row: number | null, column: number | null}, drawing: object | null, face: Face | null,
   *   isNear: boolean, isBehind: boolean}} State */

  /**
   * What is lit outlasts the face. `drawing` is the one attempt that may put a face into the page.
   *
   * @type {Map<HTMLElement, State>}
   */
  const states = new Map();
  /** @type {Promise<any> | undefined} */
  let loading;

  const near = new IntersectionObserver(
    (entries) => entries.forEach(({ target, isIntersecting }) => approach(target, isIntersecting)),
    { rootMargin: NEAR },
  );
  const far = new IntersectionObserver(
    (entries) => entries.forEach((entry) => entry.isIntersecting || dismiss(entry.target)),
    { rootMargin: FAR },
  );

  /** @param {HTMLElement} figure */
  function mount(figure) {
    if (matchMedia("(forced-colors: active)").matches) return; // colours are the reader's there
    states.set(figure, { lit: { row: null, column: null }, drawing: null, face: null, isNear: false, isBehind: false });
    near.observe(figure);
    far.observe(figure);
  }

  /** The figure comes near, or goes. */
  function approach(figure, isNear) {
    const state = states.get(figure);
    state.isNear = isNear;
    if (isNear && !state.face) draw(figure);
    else if (isNear && state.isBehind) refresh(figure);
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
    refresh(figure); // the numbers may have changed meanwhile
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
    if (!face || !figure.querySelector(".matrix-table")?.getClientRects().length) return;
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

  /** The table's numbers have changed: draw those that have, or all of them when it has other cells. */
  function refresh(figure) {
    const state = states.get(figure);
    if (!state?.face) return;
    state.isBehind = !state.isNear;
    if (state.isBehind) return;
    const { view } = state.face;
    const before = view.data("cells"), now = Article.matrix.cellsOf(figure).map(record);
    const isSame = before.length === now.length && now.every(({ row, column }, i) => before[i].row === row && before[i].column === column);
    if (isSame) {
      const changes = Article.vega.changeset();
      now.forEach((cell, i) => {
        if (cell.value !== before[i].value) changes.modify(before[i], "value", cell.value);
        if (cell.text !== before[i].text) changes.modify(before[i], "text", cell.text);
      });
      view.change("cells", changes);
    } else view.data("cells", now);
    update(state.face);
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
    if (face.isWaiting) return;
    face.isWaiting = true;
    face.queue = face.queue.then(() => {
      face.isWaiting = false;
      return face.view.runAsync();
    });
  }

  /** @param {HTMLElement} figure */
  function dismiss(figure) {
    const state = states.get(figure);
    const { face } = state;
    state.drawing = state.face = null;
    if (!face) return;
    face.resize.disconnect();
    face.host.remove();
    face.queue.then(() => face.view.finalize());
  }

  Article.live = { mount, light, refresh, repaint };
})((window.Article ??= {}));
