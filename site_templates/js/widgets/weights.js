// Figures that follow other weights: a checkpoint of the timeline, or a run here.
//
// Every matrix of the trained model is computed anew by the engine and written into its table, from
// which the live face takes it. The prose does not follow, and a bar says so.
(function (Article) {
  "use strict";

  /** @typedef {{step: number, weights: Float32Array | Float64Array}} Shown */

  /** @type {Shown | null} */
  let shown = null;
  let latest = 0;

  /** Follow the state: the checkpoint that is nearest to its step. */
  function mount() {
    Article.state.subscribe(async ({ step }, change) => {
      if (!("step" in change)) return; // a run that figures follow goes on while a cell is opened
      const turn = ++latest;
      if (step === null) return show(null);
      try {
        const kept = await Article.data.checkpoints();
        const index = Article.timeline.nearest(kept.steps, step);
        if (turn === latest) await show({ step: kept.steps[index], weights: kept.weights[index] });
      } catch (error) {
        reportError(error);
        Article.bar.say(Article.text("weights_failed"));
      }
    });
  }

  /** @param {Shown | null} next null for the build's trained model */
  async function show(next) {
    shown = next;
    if (!next) {
      for (const figure of figures()) restore(figure);
      Article.curves.mark(null);
      Article.bar.say("");
      tell();
      return;
    }
    const run = await Article.data.run();
    if (shown !== next) return; // another came in between
    const models = new Map();
    for (const figure of figures()) {
      try {
        write(figure, matrixOf(figure, run, Float64Array.from(next.weights), models));
      } catch (error) {
        Article.problem.tell(figure, error);
      }
    }
    Article.curves.mark(next.step);
    Article.bar.say(Article.text("weights_step", { step: next.step, last: run.recipe.steps }));
    tell();
  }

  /** @returns {Shown | null} */
  function current() {
    return shown;
  }

  function tell() {
    document.dispatchEvent(new CustomEvent("article:weights"));
  }

  /** @returns {HTMLElement[]} matrices that show the trained model */
  function figures() {
    return [...document.querySelectorAll('figure.matrix[data-stage="trained"]')];
  }

  /**
   * @param {HTMLElement} figure
   * @param {Map<string, any>} models forward passes by problem, shared by all figures
   * @returns {(row: number, column: number) => number} the figure's matrix under other weights
   */
  function matrixOf(figure, run, weights, models) {
    const { key, problem = "", transposed } = figure.dataset;
    const head = figure.dataset.head === undefined ? null : Number(figure.dataset.head);
    if (!problem) return oriented(Article.engine.weightMatrix(run.sizes, weights, key, head), transposed);
    if (!models.has(problem)) {
      const ids = new Map(run.dataset.vocab.map((token, id) => [token, id]));
      const { tokens } = run.dataset.problems.find((known) => known.problem === problem);
      const rows = Article.engine.sequence(tokens.slice(0, -1).map((token) => ids.get(token)), run.sizes.n_ctx);
      const model = new Article.engine.Transformer(run.sizes, rows);
      model.forward(weights);
      models.set(problem, model);
    }
    return oriented(Article.engine.activationMatrix(models.get(problem), key, head), transposed);
  }

  const oriented = (at, transposed) => (transposed ? (row, column) => at(column, row) : at);

  /** @param {HTMLElement} figure */
  function write(figure, at) {
    const domain = Number(figure.dataset.domain);
    for (const cell of Article.matrix.cellsOf(figure)) {
      if (cell.dataset.value === undefined) continue; // masked, whatever the weights
      keep(cell);
      const value = Article.number.rounded(at(Number(cell.dataset.row), Number(cell.dataset.column)));
      const share = Math.abs(value) / domain;
      cell.dataset.value = String(value);
      cell.textContent = Article.number.display(value);
      cell.className = value > 0 ? "positive" : value < 0 ? "negative" : "zero";
      cell.classList.toggle("clipped", share > 1);
      cell.style.setProperty("--v", Math.min(share, 1).toFixed(3));
    }
    Article.live.refresh(figure);
  }

  /** @type {WeakMap<HTMLElement, {value: string, text: string, name: string, share: string}>} */
  const kept = new WeakMap();

  function keep(cell) {
    if (kept.has(cell)) return;
    const share = cell.style.getPropertyValue("--v");
    kept.set(cell, { value: cell.dataset.value, text: cell.textContent, name: cell.className, share });
  }

  function restore(figure) {
    let isChanged = false;
    for (const cell of Article.matrix.cellsOf(figure)) {
      const before = kept.get(cell);
      if (!before || before.value === cell.dataset.value) continue;
      isChanged = true;
      cell.dataset.value = before.value;
      cell.textContent = before.text;
      cell.className = before.name;
      cell.style.setProperty("--v", before.share);
    }
    if (isChanged) Article.live.refresh(figure);
  }

  Article.weights = { mount, show, current };
})((window.Article ??= {}));
