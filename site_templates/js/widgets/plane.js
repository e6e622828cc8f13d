// Attention in two dimensions: the reader turns the query of a toy, and all the rest follows.
//
// The controls are the state. A number of the tables has a part, a source and a dimension; the one
// that is pointed at is written out below its table.
(function (Article) {
  "use strict";

  /** Of the drawings, for each unit of the plane; `builder/blocks/arrows.py` draws the same. */
  const UNIT = 36, EDGE = 4.5, ROW = 22;
  /** How far a key moves the query, in tenths; the sliders keep it to their range. */
  const KEYS = {
    ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
    PageUp: [0, 10], PageDown: [0, -10], Home: [-99, 0], End: [99, 0],
  };
  /** What adds up to the sums below the tables. */
  const TERMS = { total: ({ share }) => share, output: ({ brought }, d) => brought.map((pair) => pair[d]) };

  const show = (x, decimals = 3) => Article.number.display(x, decimals);
  const operand = (x, decimals) => (x < 0 ? `(${show(x, decimals)})` : show(x, decimals));
  /** However small, no share is 0. */
  const showShare = (a) => (a < 5e-4 ? Article.number.formatted(a, "scientific", 0) : show(a));
  const cut = (x) => Number(x.toFixed(4));
  const pair = (vector, decimals) => `(${vector.map((x) => show(x, decimals)).join(", ")})`;

  /** @param {HTMLElement} figure */
  function mount(figure) {
    const { all, one } = partsOf(figure);
    const toys = JSON.parse(figure.dataset.toys), names = all(".choice label").map((label) => label.textContent);
    const readers = all(".choice input"), boxes = all('[type="checkbox"]'), sliders = all('[type="range"]');
    const panels = all(".plane-panel"), cases = all(".plane-cases button"), handle = one(".plane-handle");
    const reader = () => readers.findIndex(({ checked }) => checked), written = readers.findIndex(({ defaultChecked }) => defaultChecked);
    let toy, made, latest;

    /** @param {string} name of the case that is in view, or `start` */
    function mark(name) {
      latest = name;
      for (const button of cases) give(button, { "aria-current": button.value === name });
    }

    /** A case of another query is one no more when that is turned, or another reads. */
    const leave = () => toys[latest].q && mark("start");

    function start(name) {
      toy = structuredClone({ ...toys.start, ...toys[name] });
      mark(name);
      for (const input of [readers[written], ...boxes]) input.checked = true;
      sliders[2].value = "1";
      write();
    }

    /** The sliders keep it to their range and steps. */
    function turn(query) {
      query.forEach((x, d) => (sliders[d].value = x));
      toy.q[reader()] = query.map((_, d) => Number(sliders[d].value));
      leave();
      write();
    }

    function write() {
      made = computed(toy, reader(), ...boxes.map(({ checked }) => checked), Number(sliders[2].value));
      made.q.forEach((x, d) => (sliders[d].value = x));
      display(figure, made, names, names[reader()]);
    }

    figure.addEventListener("input", ({ target }) => {
      if (target.name[0] === "q") return turn([sliders[0].value, sliders[1].value]);
      if (readers.includes(target)) leave();
      write();
    });
    figure.addEventListener("click", ({ target }) => target.matches("button") && start(target.value));
    figure.addEventListener("article:cell", ({ target, detail: td }) => {
      if (!td) return;
      const text = explained(td, made);
      target.querySelector(".readout").textContent = text;
      td.ariaLabel = `${Article.matrix.sentence(td)} ${text}`;
    });
    one(".plane-real a")?.addEventListener("click", ({ target: link }) => {
      const position = reader() === written ? null : reader();
      link.href = Article.state.withState(link.hash, { ...Article.state.get(), position });
    });
    mountHandle(handle, () => made.q, turn);
    for (const input of all("input")) input.autocomplete = "off"; // who comes back finds the start
    panels.forEach(Article.matrix.mount);
    all("[hidden]").forEach((part) => (part.hidden = false));
    all("[disabled]").forEach((button) => (button.disabled = false));
    start("start");
  }

  const partsOf = (figure) => ({
    all: (selector) => [...figure.querySelectorAll(selector)],
    one: (selector) => figure.querySelector(selector),
  });

  /** Draw, write and say what a reader reads. */
  function display(figure, made, names, reader) {
    const { all, one } = partsOf(figure), own = Article.text("plane_query", { reader });
    draw(figure, made);
    all("[data-part]").forEach((td) => fill(td, made));
    for (const slider of all('[type="range"]')) slider.nextElementSibling.textContent = show(Number(slider.value), 1);
    one(".plane-own th").textContent = own;
    give(one(".plane-handle"), { "aria-label": own, "aria-valuenow": made.q[0], "aria-valuetext": pair(made.q, 1) });
    const shares = made.share.slice(0, made.seen).map((a, j) => `${names[j]} ${showShare(a)}`).join(", ");
    one(".plane-summary").textContent = Article.text("plane_summary", { reader, output: pair(made.output), shares });
    all(".plane-panel").forEach(Article.matrix.refresh);
  }

  /** What is read with a query: dot products, scores, shares, and the sum of values, step by step. */
  function computed({ q: queries, k, v }, reader, isMasked, isScaled, temperature) {
    const q = queries[reader], seen = isMasked ? reader + 1 : k.length;
    const divisors = [isScaled ? Math.SQRT2 : 1, temperature].filter((x) => x !== 1);
    const dot = k.map(([x, y]) => x * q[0] + y * q[1]);
    const score = dot.map((x) => divisors.reduce((rest, by) => rest / by, x)), share = k.map(() => 0);
    Article.engine.softmax(score, 0, seen, share);
    const brought = v.map((value, j) => value.map((x) => share[j] * x));
    const steps = [[0, 0]];
    for (const [x, y] of brought) steps.push([steps.at(-1)[0] + x, steps.at(-1)[1] + y]);
    return { q, k, v, seen, divisors, dot, score, share, brought, steps, output: steps.at(-1), total: 1 };
  }

  function draw(figure, { q, q: [x, y], k, v, seen, share, steps, output }) {
    const { all, one } = partsOf(figure);
    const far = EDGE / (Math.max(Math.abs(x), Math.abs(y)) || 1);
    line(one(".plane-across"), [far * y, -far * x], [-far * y, far * x]);
    line(one(".plane-query"), q);
    give(one(".plane-handle"), { transform: `translate(${x * UNIT} ${-y * UNIT})` });
    all(".plane-step").forEach((step, j) => line(step, steps[j + 1], steps[j]));
    all("[data-source]").forEach((element) => {
      const j = element.dataset.source;
      element.classList.toggle("masked", j >= seen);
      element.style.setProperty("--a", share[j].toFixed(3));
    });
    all(".plane-key").forEach((arrow, j) => point(arrow, k, j));
    all(".plane-value").forEach((arrow, j) => point(arrow, v, j));
    point(one(".plane-output"), [output], 0);
  }

  const give = (element, attributes) => Object.entries(attributes).forEach((each) => element.setAttribute(...each));

  function line(element, to, from = [0, 0]) {
    give(element, { x1: from[0] * UNIT, y1: -from[1] * UNIT, x2: to[0] * UNIT, y2: -to[1] * UNIT });
  }

  /** An arrow with its name at the tip; below a name that is there already. */
  function point({ children: [shaft, name] }, vectors, j) {
    const [x, y] = vectors[j], above = vectors.slice(0, j).filter((other) => String(other) === String(vectors[j])).length;
    line(shaft, vectors[j]);
    give(name, { "text-anchor": x < 0 ? "end" : "start", x: x * UNIT + (x < 0 ? -6 : 6), y: -y * UNIT + (y < 0 ? 12 : 4) + above * ROW });
  }

  /** @param {HTMLElement} td of a part, source and dimension */
  function fill(td, made) {
    const { part, d, decimals } = td.dataset, j = td.parentElement.dataset.source;
    const value = [j, d].reduce((found, i) => (i === undefined ? found : found[i]), made[part]);
    const isMasked = j >= made.seen && /dot|score|share|brought/.test(part);
    Article.figure.set({ td, mark: "" }, isMasked ? null : Article.number.rounded(value), "", td.dataset);
    if (part === "share" && !isMasked) td.textContent = showShare(value);
    if (!TERMS[part]) return;
    const [enough, adds] = Article.worked.thatAddUp(TERMS[part](made, d), value, Number(decimals));
    if (!adds || enough > decimals) td.prepend("\u2248 ");
  }

  /** @returns {string} how a number of the tables is made from those before it */
  function explained(td, made) {
    const { part, d, decimals } = td.dataset, j = td.parentElement.dataset.source;
    const { q, k, v, seen, dot, divisors, score, share } = made, shown = td.textContent;
    if (!part) return "";
    if ("qkv".includes(part)) return Article.text("plane_chosen");
    if (TERMS[part]) {
      const terms = TERMS[part](made, d).slice(0, seen), sum = d ? made.output[d] : 1;
      const [enough, adds] = Article.worked.thatAddUp(terms, sum, Number(decimals));
      return `${terms.map((x) => operand(x, enough)).join(" + ")} ${adds ? "=" : "\u2248"} ${show(sum, enough)}`;
    }
    if (j >= seen) return Article.text("masked");
    if (part === "dot") return `q \u00b7 k = ${q.map((x, i) => `${operand(x, 1)} \u00d7 ${operand(k[j][i], 1)}`).join(" + ")} = ${shown}`;
    /** What was written before comes to it, or nearly; halves go away from 0. */
    const equals = (value) => ` ${show(value * (1 + 1e-9)) === shown ? "=" : "\u2248"} ${shown}`;
    if (part === "score") {
      const written = [show(dot[j], 2), ...divisors.map((by) => show(by, 4))].join(" \u00f7 ");
      return `S = ${written}${equals(divisors.reduce((rest, by) => rest / cut(by), dot[j]))}`;
    }
    if (part === "brought") return `A \u00d7 v = ${show(share[j], 4)} \u00d7 ${operand(v[j][d], 1)}${equals(cut(share[j]) * v[j][d])}`;
    const scores = score.slice(0, seen), most = Math.max(...scores), powers = scores.map((s) => cut(Math.exp(s - most)));
    const texts = powers.map((x) => show(x, 4));
    const sum = powers.reduce((before, x) => before + x);
    return `${Article.text("plane_powers", { most: show(most) })}A = ${texts[j]} \u00f7 (${texts.join(" + ")})${equals(powers[j] / sum)}`;
  }

  /** The tip of the query, moved by mouse, finger or keys. */
  function mountHandle(handle, query, turn) {
    give(handle, { tabindex: 0, role: "slider" });
    let off = [0, 0];
    const at = ({ clientX, clientY }) => {
      const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(handle.ownerSVGElement.getScreenCTM().inverse());
      return [x / UNIT, -y / UNIT];
    };
    const minus = (a, b) => a.map((x, d) => x - b[d]);
    handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false }); // a finger on it scrolls nothing
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      off = minus(at(event), query()); // wherever it is taken hold of, it does not jump
    });
    handle.addEventListener("pointermove", (event) => handle.hasPointerCapture(event.pointerId) && turn(minus(at(event), off)));
    handle.addEventListener("keydown", (event) => {
      const way = KEYS[event.key];
      if (!way) return;
      event.preventDefault();
      turn(query().map((x, d) => x + way[d] / (event.shiftKey ? 1 : 10)));
    });
  }

  Article.plane = { mount };
})((window.Article ??= {}));
