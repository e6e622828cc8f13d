// The atlas: one number of each of the hundred problems, and the way to any of them.
(function (Article) {
  "use strict";

  const CHOICES = ["layer", "head", "position", "source"];

  /** @param {HTMLElement} figure */
  function mount(figure) {
    const controls = /** @type {HTMLElement} */ (figure.querySelector(".atlas-controls"));
    controls.hidden = false;
    controls.addEventListener("change", ({ target }) => {
      const { name, value } = /** @type {HTMLSelectElement} */ (target);
      const chosen = value === read(figure).written[name] ? null : value;
      Article.state.set({ [name]: chosen === null || name === "source" ? chosen : Number(chosen) });
    });
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

  /** What the author wrote, and what is shown. */
  function read(figure) {
    return Article.follow.own(figure, (data) => {
      const cells = Article.cells.of(figure);
      const written = Object.fromEntries(CHOICES.map((name) => [name, data[name]]));
      return {
        written, cells, numbers: cells.map(({ number }) => number), decimals: 2, domain: 1,
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
      td.setAttribute("aria-selected", String(`${row}x${column}` === problem));
    }
  }

  /**
   * @param {HTMLElement} figure
   * @param {import("./follow").View} view
   */
  function write(figure, view) {
    const own = read(figure), { written } = own;
    const { source } = Article.state.get();
    written.head = String(Article.follow.address("", own.head, own, view).head); // another seed's may be another
    const chosen = Object.fromEntries(CHOICES.map((name) => [name, String((name === "source" ? source : view[name]) ?? written[name])]));
    const select = (name) => /** @type {HTMLSelectElement} */ (figure.querySelector(`select[name="${name}"]`));
    for (const name of CHOICES) {
      select(name).value = chosen[name];
      if (select(name).selectedIndex < 0) select(name).value = chosen[name] = written[name]; // a receiver that is none of these
    }
    const isOwn = view.isBuilds && CHOICES.every((name) => chosen[name] === written[name]);
    const at = isOwn ? null : numbers(chosen, view);
    const changed = own.cells.filter((cell, i) => {
      const number = isOwn ? own.numbers[i] : Article.number.stored(at(`${cell.row}x${cell.column}`), false);
      if (number === cell.number) return false;
      Article.figure.set(cell, number, "", own);
      return true;
    });
    name(figure, own, chosen, view, (choice) => select(choice).selectedOptions[0].text);
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

  /** Say what the table shows, to the eye and to the ear. */
  function name(figure, own, { layer, head, source }, view, text) {
    const isProbability = source === "next";
    const cell = isProbability ? { key: "probs", head: null } : { key: `blocks.${layer}.attn.pattern`, head: Number(head) };
    const where = Article.follow.where({ ...cell, problem: "", stage: "trained", target: null }, view);
    const words = { position: text("position"), source: text("source") };
    const meaning = isProbability ? Article.text("atlas_probability", words) : Article.text("atlas_share", words);
    part(figure, "letter").textContent = view.run.tensors[cell.key].letter;
    part(figure, "where").textContent = where;
    part(figure, "meaning").textContent = meaning;
    figure.querySelector("caption").textContent = own.spoken.replace(own.where, where).replace(own.meaning, meaning);
  }

  Article.atlas = { mount, write };
})((window.Article ??= {}));
