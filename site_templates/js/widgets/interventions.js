// Interventions: what becomes of the right token when one thing in the model is overwritten.
//
// Each row tries one on the model as it is, without what the reader has overwritten. Its button does
// the same to the page: it is an edit like any other, and taken back like any other.
(function (Article) {
  "use strict";

  const DECIMALS = 3, FIRST = 3;

  /** @param {HTMLElement} figure */
  function mount(figure) {
    const controls = part(figure, "controls"), donor = part(figure, "donor");
    controls.hidden = false;
    controls.addEventListener("change", ({ target: { name, value } }) => {
      Article.state.set({ [name]: Number(value) === read(figure).written[name] ? null : Number(value) });
    });
    const parts = Article.chooser.selects();
    Article.chooser.write(parts, figure.dataset.problem.split("x").reverse());
    donor.replaceChildren(...Article.chooser.shown(parts));
    donor.addEventListener("change", () => write(figure, Article.scene.view(read(figure).run)));
    const body = figure.querySelector("tbody");
    const own = body.lastElementChild.cloneNode(true);
    own.dataset.kind = "own";
    own.hidden = true;
    own.firstElementChild.firstChild.data = Article.text("interventions_own");
    body.append(own);
    for (const button of body.querySelectorAll("button")) button.hidden = button.closest("tr") === own;
    body.addEventListener("click", ({ target }) => {
      if (!target.closest("button")) return;
      const [place, values] = target.closest("tr").dataset.edit.split("=");
      if (!Article.edits.set(place, values.split(",").map(Number))) Article.bar.note(Article.text("edit_too_many"));
    });
    Article.scene.begin(figure, write);
  }

  const part = (element, name) => element.querySelector(`.interventions-${name}`);
  const read = (figure) => Article.follow.own(figure, () => ({ written: {}, run: null }));

  /** @typedef {{row: number, right: number, labels: string[], probs: number[]}} Untouched the position
   *   that is looked at, the id of the token that should follow it, all tokens of the problem, and P
   *   there as the model has it */

  /**
   * @param {HTMLElement} figure
   * @param {import("./follow").View} view
   */
  function write(figure, view) {
    const own = read(figure), { run } = view, next = Article.follow.resolve(own, view);
    const { tokens, prompt } = Article.cellNames.problemOf(run, next.problem), row = next.position ?? prompt - 1;
    const { key, head } = Article.follow.resolve({ ...own, follows: new Set() }, view); // the author's, for this seed
    Object.assign(own, { run, written: { layer: layerOf(key), head, position: prompt - 1 } });
    const { model } = Article.passes.at({ problem: next.problem, stage: "trained" }, true);
    const labels = tokens.map(Article.cellNames.token), right = run.dataset.vocab.indexOf(tokens[row + 1]);
    const untouched = { row, labels, right, probs: probabilities(model, row) };

    writeControls(figure, next, row, view);
    writeBefore(figure, untouched, run);
    sources(figure, labels.slice(0, row + 1));
    const shares = Article.engine.activationMatrix(model, next.key, next.head);
    for (const tr of figure.querySelectorAll("tbody tr")) {
      if (tr.dataset.kind === "own") tr.hidden = view.edits.list.length === 0;
      else writeEdit(figure, tr, next, row, run);
      writeAfter(tr, tried(tr, next, model, run), untouched, run);
      const share = part(tr, "share").querySelector("b");
      if (share) writeShare(share, Number(tr.dataset.source ?? mostRead(shares, row)), shares, untouched);
    }
  }

  /** What is looked at, and what else can be. */
  function writeControls(figure, next, row, view) {
    part(figure, "where").firstElementChild.textContent = Article.follow.where(next, { ...view, edits: { list: [] } });
    const select = (name) => figure.querySelector(`select[name="${name}"]`);
    [select("layer").value, select("head").value] = [layerOf(next.key), next.head].map(String);
    Article.chooser.writeTargets(select("position"), view.run, next.problem, row);
  }

  /** P of the right token as the model has it. */
  function writeBefore(figure, { row, labels, right, probs }, run) {
    const line = part(figure, "before");
    const said = { prompt: labels.slice(0, row + 1).join(""), token: labels[row + 1] };
    line.firstElementChild.textContent = Article.text("interventions_before", said);
    number(line.querySelector("b"), probs[right]);
    part(line, "top").textContent = Article.text("interventions_top", { top: top(probs, run) });
  }

  /** What a line overwrites, and what its button is called. */
  function writeEdit(figure, tr, next, row, run) {
    const { kind, source } = tr.dataset, button = tr.querySelector("button");
    const donor = Article.chooser.chosen([...part(figure, "donor").querySelectorAll("select")]);
    const { length } = Article.cellNames.longest(run).tokens;
    tr.dataset.edit = EDITS[kind](next, { row, source, donor, n: length - 1 });
    const [label, ...others] = [...tr.firstElementChild.childNodes].map((node) => node.textContent);
    const which = { source: others.slice(0, -1).join(""), another_problem: Article.cellNames.problem(donor) }[kind] ?? "";
    button.ariaLabel = `${button.textContent}: ${label}${which}`;
  }

  /** P after what a line overwrites, or after all that the reader has. */
  function tried(tr, { problem }, { rows }, run) {
    const { engine, passes } = Article, { edit } = tr.dataset;
    if (edit === undefined) return passes.at({ problem, stage: "trained" }).model;
    const model = new engine.Transformer(run.sizes, rows);
    model.forward(passes.weights("trained", true), Article.edits.made(edit, run).cells);
    return model;
  }

  function writeAfter(tr, model, { row, right, probs: before }, run) {
    const after = probabilities(model, row), shown = (p) => Number(p.toFixed(DECIMALS));
    number(part(tr, "after").querySelector("b"), after[right]);
    part(tr, "after").querySelector("small").textContent = Article.number.display(shown(after[right]) - shown(before[right]), DECIMALS);
    part(tr, "top").textContent = top(after, run);
  }

  function writeShare(element, source, shares, { row, labels }) {
    element.previousElementSibling.textContent = labels[source];
    number(element, Article.number.rounded(shares(row, source)));
  }

  /** The source that a row reads most. */
  function mostRead(shares, row) {
    let best = 0;
    for (let source = 1; source <= row; source++) if (shares(row, source) > shares(row, best)) best = source;
    return best;
  }

  /** The likeliest tokens and their P. */
  function top(probs, { dataset }) {
    const ranked = probs.map((p, id) => [p, Article.cellNames.token(dataset.vocab[id])]).sort(([a], [b]) => b - a);
    return ranked.slice(0, FIRST).map(([p, token]) => `${token}:\u00a0${Article.number.display(p, DECIMALS)}`).join(" \u00b7 ");
  }

  const probabilities = (model, row) => Array.from(Article.engine.probabilities(model, row), Article.number.rounded);
  const layerOf = (key) => Number(key.split(".")[1]);

  function number(element, value) {
    element.dataset.value = String(value);
    element.textContent = Article.number.display(value, DECIMALS);
  }

  /** A row for each source that the position can read. */
  function sources(figure, labels) {
    const rows = () => [...figure.querySelectorAll("tr[data-source]")];
    while (rows().length > labels.length) rows().at(-1).remove();
    while (rows().length < labels.length) {
      const made = rows().at(-1).cloneNode(true);
      made.dataset.source = String(rows().length);
      rows().at(-1).after(made);
    }
    rows().forEach((tr, source) => (tr.querySelector("code").textContent = labels[source]));
  }

  /** What each kind overwrites. A has `n` rows, as many as the longest problem has positions. */
  const EDITS = {
    ablated: (at, { n }) => whole(at, n, () => 0),
    uniform: (at, { n }) => whole(at, n, (row) => 1 / (row + 1)),
    own_mean(at, { n }) {
      const { model, places } = Article.passes.all(true), share = Article.engine.activationMatrix(model, at.key, at.head);
      return whole(at, n, (row, column) => {
        const known = places.filter(({ length }) => length > row);
        return known.reduce((sum, rows) => sum + share(rows[row], column), 0) / known.length;
      });
    },
    another_problem(at, { donor }) {
      const { model } = Article.passes.at({ problem: donor, stage: "trained" }, true);
      return whole(at, model.rows.n, Article.engine.activationMatrix(model, at.key, at.head));
    },
    source: ({ key, head }, { row, source }) => `${key}[${head},${row},${source}]=0`,
    layer: ({ key }) => `${key.replace("attn.pattern", "attn_out")}=0`,
  };

  /** A head's whole A, row by row. */
  function whole({ key, head }, n, value) {
    const shares = (row) => Array.from({ length: row + 1 }, (_, column) => Number(value(row, column).toPrecision(7)));
    const rows = Array.from({ length: n }, (_, row) => shares(row));
    return `${key}[${head}]=${rows.flat().join(",")}`;
  }

  Article.interventions = { mount, write };
})((window.Article ??= {}));
