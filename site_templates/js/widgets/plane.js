// Attention in two dimensions: the reader turns the query of a toy, and all the rest follows.
//
// The controls are the state. A number of the tables has a part, a source and a dimension; the one
// that is pointed at is written out below its table.
(function (Article) {
  "use strict";

  /** Of the drawings, for each unit of the plane; `builder/blocks/arrows.py` draws the same. */
  const UNIT = 36, ROW = 15;
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  /** What adds up to the sums below the tables. */
  const TERMS = { total: ({ share }) => share, output: ({ brought }, d) => brought.map((pair) => pair[d]) };

  const show = (x, decimals = 3) => Article.number.display(x, decimals);
  const operand = (x, decimals) => (x < 0 ? `(${show(x, decimals)})` : show(x, decimals));
  const pair = (vector, decimals) => `(${vector.map((x) => show(x, decimals)).join(", ")})`;

  /** @param {HTMLElement} figure */
  function mount(figure) {
    const all = (selector) => [...figure.querySelectorAll(selector)], one = (selector) => figure.querySelector(selector);
    const toys = JSON.parse(figure.dataset.toys), names = all(".choice label").map((label) => label.textContent);
    const readers = all(".choice input"), boxes = all('[type="checkbox"]'), sliders = all('[type="range"]');
    const panels = all(".plane-panel"), handle = one(".plane-handle");
    const reader = () => readers.findIndex(({ checked }) => checked), written = reader();
    let toy, made;

    function start(name) {
      toy = structuredClone(toys[name]);
      for (const input of [readers[written], ...boxes]) input.checked = true;
      sliders[2].value = "1";
      write();
    }

    /** The sliders keep it to their range and steps. */
    function turn(query) {
      query.forEach((x, d) => (sliders[d].value = x));
      toy.q[reader()] = query.map((_, d) => Number(sliders[d].value));
      write();
    }

    function write() {
      made = computed(toy, reader(), ...boxes.map(({ checked }) => checked), Number(sliders[2].value));
      const own = Article.text("plane_query", { reader: names[reader()] });
      draw(all, made);
      all("[data-part]").forEach((td) => fill(td, made));
      made.q.forEach((x, d) => (sliders[d].value = x));
      for (const slider of sliders) slider.nextElementSibling.textContent = show(Number(slider.value), 1);
      one(".plane-own th").textContent = own;
      handle.setAttribute("aria-label", own);
      handle.setAttribute("aria-valuenow", made.q[0]);
      handle.setAttribute("aria-valuetext", pair(made.q, 1));
      one(".plane-summary").textContent = Article.text("plane_summary", {
        reader: names[reader()], output: pair(made.output),
        shares: made.share.slice(0, made.seen).map((a, j) => `${names[j]} ${show(a)}`).join(", "),
      });
      panels.forEach(Article.matrix.refresh);
    }

    figure.addEventListener("input", ({ target }) => (target.name[0] === "q" ? turn([sliders[0].value, sliders[1].value]) : write()));
    figure.addEventListener("click", ({ target }) => target.matches("button") && start(target.value));
    figure.addEventListener("article:cell", ({ target, detail: td }) => {
      if (!td) return;
      const text = explained(td, made);
      target.querySelector(".readout").textContent = text;
      td.setAttribute("aria-label", `${Article.matrix.sentence(td)} ${text}`);
    });
    one(".plane-real a")?.addEventListener("click", ({ target: link }) => {
      const position = reader() === written ? null : reader();
      link.href = Article.state.withState(link.hash, { ...Article.state.get(), position });
    });
    mountHandle(handle, () => made.q, turn);
    panels.forEach(Article.matrix.mount);
    all("[hidden]").forEach((part) => (part.hidden = false));
    all("[disabled]").forEach((button) => (button.disabled = false));
    start("start");
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

  function draw(all, { q, q: [x, y], k, v, seen, share, steps, output }) {
    line(all(".plane-across"), [9 * y, -9 * x], [-9 * y, 9 * x]);
    line(all(".plane-query"), q);
    all(".plane-handle")[0].setAttribute("transform", `translate(${x * UNIT} ${-y * UNIT})`);
    all(".plane-step").forEach((step, j) => line([step], steps[j + 1], steps[j]));
    all("[data-source]").forEach((element) => {
      const j = element.dataset.source;
      element.classList.toggle("masked", j >= seen);
      element.style.setProperty("--a", share[j].toFixed(3));
    });
    all(".plane-key").forEach((arrow, j) => point(arrow, k, j));
    all(".plane-value").forEach((arrow, j) => point(arrow, v, j));
    point(all(".plane-output")[0], [output], 0);
  }

  function line([element], to, from = [0, 0]) {
    Object.entries({ x1: from[0], y1: -from[1], x2: to[0], y2: -to[1] }).forEach(([name, at]) => element.setAttribute(name, at * UNIT));
  }

  /** An arrow with its name at the tip; below a name that is there already. */
  function point({ children: [shaft, name] }, vectors, j) {
    const [x, y] = vectors[j], above = vectors.slice(0, j).filter((other) => String(other) === String(vectors[j])).length;
    line([shaft], vectors[j]);
    name.setAttribute("text-anchor", x < 0 ? "end" : "start");
    name.setAttribute("x", x * UNIT + (x < 0 ? -6 : 6));
    name.setAttribute("y", -y * UNIT + (y < 0 ? 12 : 4) + above * ROW);
  }

  /** @param {HTMLElement} td of a part, source and dimension */
  function fill(td, made) {
    const { part, d, decimals } = td.dataset, j = td.parentElement.dataset.source;
    const value = [j, d].reduce((found, i) => (i === undefined ? found : found[i]), made[part]);
    const isMasked = j >= made.seen && /dot|score/.test(part);
    Article.figure.set({ td, mark: "" }, isMasked ? null : Article.number.rounded(value), "", td.dataset);
    if (!TERMS[part]) return;
    const [enough, adds] = Article.worked.thatAddUp(TERMS[part](made, d), value, Number(decimals));
    if (!adds || enough > decimals) td.prepend("\u2248 ");
  }

  /** @returns {string} how a number of the tables is made from those before it */
  function explained(td, made) {
    const { part, d, decimals } = td.dataset, j = td.parentElement.dataset.source;
    const { q, k, v, seen, dot, divisors, score, share } = made, result = ` = ${td.textContent}`;
    if (!part) return "";
    if ("qkv".includes(part)) return Article.text("plane_chosen");
    if (TERMS[part]) {
      const terms = TERMS[part](made, d).slice(0, seen), sum = d ? made.output[d] : 1;
      const [enough, adds] = Article.worked.thatAddUp(terms, sum, Number(decimals));
      return `${terms.map((x) => operand(x, enough)).join(" + ")} ${adds ? "=" : "\u2248"} ${show(sum, enough)}`;
    }
    if (j >= seen) return Article.text("masked");
    if (part === "dot") return `q \u00b7 k = ${q.map((x, i) => `${operand(x, 1)} \u00d7 ${operand(k[j][i], 1)}`).join(" + ")}${result}`;
    if (part === "score") return `S = ${[show(dot[j], 2), ...divisors.map((by) => show(by, 4))].join(" \u00f7 ")}${result}`;
    if (part === "brought") return `A \u00d7 v = ${show(share[j], 4)} \u00d7 ${operand(v[j][d], 1)}${result}`;
    const scores = score.slice(0, seen), most = Math.max(...scores), powers = scores.map((s) => show(Math.exp(s - most), 4));
    return `${Article.text("plane_powers", { most: show(most) })}A = ${powers[j]} \u00f7 (${powers.join(" + ")})${result}`;
  }

  /** The tip of the query, moved by mouse, finger or keys. */
  function mountHandle(handle, query, turn) {
    handle.tabIndex = 0;
    handle.setAttribute("role", "slider");
    handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false }); // a finger on it scrolls nothing
    handle.addEventListener("pointerdown", ({ pointerId }) => handle.setPointerCapture(pointerId));
    handle.addEventListener("pointermove", ({ pointerId, clientX, clientY }) => {
      if (!handle.hasPointerCapture(pointerId)) return;
      const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(handle.ownerSVGElement.getScreenCTM().inverse());
      turn([x / UNIT, -y / UNIT]);
    });
    handle.addEventListener("keydown", (event) => {
      const way = ARROWS[event.key];
      if (!way) return;
      event.preventDefault();
      turn(query().map((x, d) => x + way[d] / (event.shiftKey ? 1 : 10)));
    });
  }

  Article.plane = { mount };
})((window.Article ??= {}));
