// The atlas: one number of each of the hundred problems, and the way to any of them.
//
// A number is computed here, or what the build has found: in boxes of class `effects`, what an intervention does.
(function (Article) {
  "use strict";

  /** @param {HTMLElement} figure */
  function mount(figure) {
    const controls = /** @type {HTMLElement} */ (boxOf(figure).querySelector(".atlas-controls"));
    if (controls.hidden) {
      controls.hidden = false;
      controls.addEventListener("change", ({ target }) => {
        const { name, value } = /** @type {HTMLSelectElement} */ (target);
        const chosen = value === read(figure).written[name] ? null : value;
        Article.state.set({ [name]: chosen === null || isText(name) ? chosen : Number(chosen) });
      });
    }
    const table = figure.querySelector(".matrix-table");
    const choose = (event) => {
      const td = Article.cells.at(event);
      if (!td) return;
      const { row, column } = Article.cells.placed(td);
      Article.chooser.choose(`${row}x${column}`);
    };
    table.addEventListener("click", choose);
    table.addEventListener("keydown", (event) => ["Enter", " "].includes(event.key) && choose(event));
    Article.state.subscribe(() => mark(figure));
  }

  const boxOf = (figure) => figure.closest(".effects") ?? figure;
  const isText = (name) => ["source", "change"].includes(name);

  /** What the author wrote, and what is shown. */
  function read(figure) {
    return Article.follow.own(figure, ({ decimals = 2, domain, shows }) => {
      const cells = Article.cells.of(figure), box = boxOf(figure);
      const selects = Object.fromEntries([...box.querySelectorAll("select")].map((select) => [select.name, select]));
      const written = Object.fromEntries(Object.keys(selects).map((name) => [name, box.dataset[name]]));
      return {
        written, selects, cells, shows, numbers: cells.map(({ number }) => number), decimals: Number(decimals), domain: Number(domain),
        where: part(figure, "where").textContent, meaning: part(figure, "meaning").textContent,
        spoken: figure.querySelector("caption").textContent,
      };
    });
  }

  const part = (figure, name) => figure.querySelector(`.matrix-${name}`);

  /** The problem of the page stands out. */
  function mark(figure) {
    const problem = Article.scene.problem();
    for (const { td, row, column } of read(figure).cells) {
      td.ariaSelected = String(`${row}x${column}` === problem);
    }
  }

  /**
   * @param {HTMLElement} figure
   * @param {import("./follow").View} view
   */
  function write(figure, view) {
    const own = read(figure), { written, selects, shows } = own, state = Article.state.get();
    if (!shows) written.head = String(Article.follow.address("", own.head, own, view).head); // another seed's may be another
    const chosen = Object.fromEntries(Object.keys(written).map((name) => [name, String((isText(name) ? state : view)[name] ?? written[name])]));
    for (const [name, select] of Object.entries(selects)) {
      select.value = chosen[name];
      if (select.selectedIndex < 0) select.value = chosen[name] = written[name]; // a receiver that is none of these
    }
    const isOwn = !shows && view.isBuilds && Object.keys(written).every((name) => chosen[name] === written[name]);
    const at = shows ? stored(figure, chosen) : isOwn ? null : numbers(chosen, view);
    const changed = own.cells.filter((cell, i) => {
      const raw = isOwn ? own.numbers[i] : at(`${cell.row}x${cell.column}`, i);
      const number = isOwn || raw === null ? raw : Article.number.stored(raw, false);
      if (number === cell.number) return false;
      Article.figure.set(cell, number, "", own);
      return true;
    });
    name(figure, own, chosen, shows ? { run: { ...view.run, seed: null }, step: null, edits: { list: [] } } : view, (choice) => selects[choice].selectedOptions[0].text);
    if (!changed.length) return;
    Article.matrix.refresh(figure);
    Article.live.refresh(figure);
  }

  /** @returns {(problem: string) => number} */
  function numbers({ layer, head, position, source }, { run }) {
    const { engine, passes } = Article, { model, places } = passes.all();
    const isProbability = source === "next";
    const key = isProbability ? "probs" : `blocks.${layer}.attn.pattern`;
    const at = engine.activationMatrix(model, key, isProbability ? null : Number(head));
    return (problem) => {
      const { problems, vocab } = run.dataset, place = Number(position);
      const index = problems.findIndex((known) => known.problem === problem);
      const column = isProbability ? vocab.indexOf(problems[index].tokens[place + 1]) : source === "self" ? place : Number(source);
      return at(places[index][place], column);
    };
  }

  /** What the build has found out about an intervention. */
  function stored(figure, { layer, head, change }) {
    const { shows } = read(figure), effect = Article.effects[`${layer}.${head}.${change}`];
    boxOf(figure).querySelector(".effects-total").textContent = Article.text("effects_total", effect.total);
    return (_, i) => effect[shows] && effect[shows][i] / 100;
  }

  /** Say what the table shows, to the eye and to the ear. */
  function name(figure, own, { layer, head, source }, view, text) {
    const isProbability = source === "next";
    const cell = isProbability ? { key: "probs", head: null } : { key: `blocks.${layer}.attn.pattern`, head: Number(head) };
    const where = Article.follow.where({ ...cell, problem: "", stage: "trained", target: null }, view);
    const words = own.shows ? { change: text("change") } : { position: text("position"), source: text("source") };
    const meaning = Article.text(own.shows ? `effects_${own.shows}` : isProbability ? "atlas_probability" : "atlas_share", words);
    if (!own.shows) part(figure, "letter").textContent = view.run.tensors[cell.key].letter;
    part(figure, "where").textContent = where;
    part(figure, "meaning").textContent = meaning;
    figure.querySelector("caption").textContent = own.spoken.replace(own.where, where).replace(own.meaning, meaning);
  }

  /** Ring the points of the page's problem among those of all problems, of which each has as many. */
  function ring(figure, { run, problem }) {
    const { problems } = run.dataset, place = problems.findIndex((known) => known.problem === problem);
    for (const svg of figure.querySelectorAll("svg")) {
      const points = svg.querySelector(".all").getAttribute("d").match(/M[^M]+/g), each = points.length / problems.length;
      svg.querySelector(".here").setAttribute("d", points.slice(place * each, (place + 1) * each).join(""));
    }
  }

  Article.atlas = { mount, write, ring };
})((window.Article ??= {}));
