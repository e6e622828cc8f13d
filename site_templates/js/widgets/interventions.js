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
    Object.assign(own.dataset, { kind: "own" });
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

  /**
   * @param {HTMLElement} figure
   * @param {import("./follow").View} view
   */
  function write(figure, view) {
    const own = read(figure), { run } = view, { engine, passes } = Article;
    const next = Article.follow.resolve(own, view), { problem } = next, row = next.position ?? 3;
    const { key, head } = Article.follow.resolve({ ...own, follows: new Set() }, view); // the author's, for this seed
    Object.assign(own, { run, written: { layer: layerOf(key), head, position: 3 } });
    part(figure, "where").firstElementChild.textContent = Article.follow.where(next, { ...view, edits: { list: [] } });
    const select = (name) => figure.querySelector(`select[name="${name}"]`);
    [select("layer").value, select("head").value] = [layerOf(next.key), next.head].map(String);
    const { question, tokensOf } = Article.cellNames;
    select("position").replaceChildren(...tokensOf(run, problem).map((_, at) => new Option(question(run, problem, at), String(at), false, at === row)));

    const ids = passes.tokens(problem), labels = ids.map((id) => Article.cellNames.token(run.dataset.vocab[id]));
    const plain = passes.at({ problem, stage: "trained" }, true).model;
    const after = (edit) => {
      const model = new engine.Transformer(run.sizes, plain.rows);
      model.forward(passes.weights("trained", true), Article.edits.made(edit, run).cells);
      return probabilities(model);
    };
    const probabilities = (model) => Array.from(run.dataset.vocab, (_, id) => Article.number.rounded(engine.activationMatrix(model, "probs", null)(row, id)));
    const before = probabilities(plain), right = ids[row + 1];
    const top = (probs) => probs.map((p, id) => [p, Article.cellNames.token(run.dataset.vocab[id])]).sort(([a], [b]) => b - a).slice(0, FIRST)
      .map(([p, token]) => `${token}:\u00a0${Article.number.display(p, DECIMALS)}`).join(" \u00b7 ");
    const first = part(figure, "before");
    first.firstElementChild.textContent = Article.text("interventions_before", { prompt: labels.slice(0, row + 1).join(""), token: labels[row + 1] });
    number(first.querySelector("b"), before[right]);
    part(first, "top").textContent = Article.text("interventions_top", { top: top(before) });

    sources(figure, labels.slice(0, row + 1));
    const shares = engine.activationMatrix(plain, next.key, next.head);
    const most = labels.slice(0, row + 1).reduce((best, _, source) => (shares(row, source) > shares(row, best) ? source : best), 0);
    const donor = Article.chooser.chosen([...figure.querySelectorAll(".interventions-donor select")]);
    for (const tr of figure.querySelectorAll("tbody tr")) {
      const { kind, source } = tr.dataset;
      if (kind === "own") {
        tr.hidden = view.edits.list.length === 0;
        show(tr, probabilities(passes.at({ problem, stage: "trained" }).model));
        continue;
      }
      tr.dataset.edit = EDITS[kind](next, { row, source, donor });
      const [label, ...others] = [...tr.firstElementChild.childNodes].map((node) => node.textContent), button = tr.querySelector("button");
      button.ariaLabel = `${button.textContent}: ${label}${kind === "source" ? others.slice(0, -1).join("") : kind === "another_problem" ? donor.replace("x", "\u00d7") : ""}`;
      show(tr, after(tr.dataset.edit));
      if (kind !== "layer") {
        part(tr, "share").firstElementChild.textContent = labels[source ?? most];
        number(part(tr, "share").querySelector("b"), Article.number.rounded(shares(row, Number(source ?? most))));
      }
    }

    function show(tr, probs) {
      const shown = (p) => Number(p.toFixed(DECIMALS));
      number(part(tr, "after").querySelector("b"), probs[right]);
      part(tr, "after").querySelector("small").textContent = Article.number.display(shown(probs[right]) - shown(before[right]), DECIMALS);
      part(tr, "top").textContent = top(probs);
    }
  }

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

  /** What each kind overwrites. Rows of A are those that the longest problem has. */
  const EDITS = {
    ablated: (at) => whole(at, () => 0),
    uniform: (at) => whole(at, (row) => 1 / (row + 1)),
    own_mean(at) {
      const { model, places } = Article.passes.all(true), share = Article.engine.activationMatrix(model, at.key, at.head);
      return whole(at, (row, column) => {
        const known = places.filter(({ length }) => length > row);
        return known.reduce((sum, rows) => sum + share(rows[row], column), 0) / known.length;
      });
    },
    another_problem(at, { donor }) {
      const { model } = Article.passes.at({ problem: donor, stage: "trained" }, true);
      return whole(at, Article.engine.activationMatrix(model, at.key, at.head), model.rows.n);
    },
    source: ({ key, head }, { row, source }) => `${key}[${head},${row},${source}]=0`,
    layer: ({ key }) => `${key.replace("attn.pattern", "attn_out")}=0`,
  };

  /** A head's whole A, row by row. */
  function whole({ key, head }, value, n = 6) {
    const rows = Array.from({ length: n }, (_, row) => Array.from({ length: row + 1 }, (__, column) => Number(value(row, column).toPrecision(7))));
    return `${key}[${head}]=${rows.flat().join(",")}`;
  }

  Article.interventions = { mount, write };
})((window.Article ??= {}));
