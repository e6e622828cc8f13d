// The page follows the state: its figures, numbers and words show what the reader looks at.
//
// Once a frame at most. `article:scene` says that what is near has followed, `article:rest` that all
// of the page has.
(function (Article) {
  "use strict";

  const FIELDS = ["seed", "step", "problem", "position", "layer", "head", "source", "change", "edits"];
  const OF_TRAINED = ', [data-stage="trained"]:not(.quiz *, .digest), .atlas:not([data-shows])';
  /** What else follows a field than what lists it. */
  const FOLLOWING = { seed: ", *", problem: ", .problem-part", step: OF_TRAINED, edits: OF_TRAINED };

  /** @typedef {{step: number | null, weights: Float32Array | Float64Array}} Shown */

  /** @type {Shown | null} weights of a run here, which stand above the state's step */
  let live = null;
  /** @type {import("./follow").View | null} */
  let view = null;
  let frame = 0, turn = 0;
  /** Whether most of the page is about the model before training. */
  let isAboutStart = false;

  function mount() {
    if (!written()) return; // a page without a chapter has nothing that follows
    const figures = (stage) => document.querySelectorAll(`figure[data-stage="${stage}"]`).length;
    isAboutStart = figures("initial") > figures("trained");
    Article.elements.mount();
    Article.state.subscribe((_, change) => {
      if ("step" in change) live = null; // a run that figures follow goes on while a cell is opened
      if (FIELDS.some((name) => name in change)) schedule();
    });
  }

  /** @param {Shown | null} next weights of a run here; null for those of the state */
  function show(next) {
    live = next;
    schedule();
  }

  function schedule() {
    turn++;
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      update(turn);
    });
  }

  /** @returns {string} the problem that the page shows, whether or not it has followed yet */
  function problem() {
    return Article.state.get().problem ?? written();
  }

  /** @returns {string} the problem that the prose speaks of */
  function written() {
    return document.body.dataset.problem ?? "";
  }

  /** Write a figure that is incomplete without scripts when there is time, while the page is as it was built. */
  function begin(figure, write) {
    Article.whenIdle(async () => {
      try {
        const run = await Article.passes.load();
        if (!view) write(figure, viewOf(run));
      } catch (error) {
        Article.failure.tell(figure, error);
      }
    });
  }

  /** @param {number} mine whether the reader has gone on is seen by it */
  async function update(mine) {
    const isPlain = !live && FIELDS.every((name) => Article.state.get()[name] === null);
    if (!view && isPlain) return; // the page is as it was built
    try {
      const found = await look(mine);
      if (!found) return;
      const isFirst = view === null;
      view = found;
      tell();
      Article.elements.show(view, isFirst);
      document.dispatchEvent(new CustomEvent("article:scene", { detail: view }));
    } catch (error) {
      reportError(error);
      Article.bar.note(Article.text("scene_failed"));
    }
  }

  /** Read the state; what there is not in it is put right, with a note, and comes round again. */
  async function look(mine) {
    const { seed, step, position, layer, head } = Article.state.get();
    const run = await Article.passes.load();
    if (document.querySelector(".effects")) await Article.data.effects();
    const last = run.recipe.steps; // the default
    const kept = step === null || step === last || live ? null : await Article.data.checkpoints();
    const other = Article.seed.isOther(seed) ? (await Article.data.seeds())[seed] : null;
    if (mine !== turn || !isKnown(run, kept)) return null;
    const chosen = live ?? (kept && { step, weights: kept.weights[kept.steps.indexOf(step)] });
    const shown = chosen?.step === last ? { ...chosen, step: null } : chosen;
    const edits = Article.edits.read(Article.state.get().edits, run);
    Article.passes.look(shown, edits, other);
    const end = Article.cellNames.tokensOf(run, problem()).length - 1;
    return {
      run, edits, layer, head, problem: problem(), step: shown?.step ?? null,
      position: position === null ? null : Math.min(position, end), isBuilds: !shown && !other && !edits.list.length,
    };
  }

  /** Whether the model has what the state names; what it has not is taken out of the state. */
  function isKnown(run, kept) {
    const { seed, step, position, layer, head, source, change, edits } = Article.state.get();
    const { n_layers, n_heads } = run.sizes;
    const { length } = Article.cellNames.longest(run).tokens;
    const wrong = {
      seed: seed !== null && !Article.seed.isListed(seed), step: kept && (Article.seed.isOther(seed) || !kept.steps.includes(step)),
      problem: !Article.cellNames.tokensOf(run, problem()), edits: !Article.edits.read(edits, run),
      position: position >= length - 1, layer: layer >= n_layers, head: head >= n_heads, source: Number(source) >= length - 1,
      change: change !== null && !document.querySelector(`[name="change"] [value="${change}"]`),
    };
    const names = Object.keys(wrong).filter((name) => wrong[name]);
    if (names.length === 0) return true;
    Article.state.refuse(names, (part) => Boolean(part && Article.edits.made(part, run)));
    return false;
  }

  /** Say what the figures show, where that is not what the prose speaks of. */
  function tell() {
    const { step, position, layer, head, edits, run } = view;
    Article.curves.mark(step);
    const { count } = edits;
    const chosen = Object.entries({
      seed: run.seed === null ? "" : Article.seed.told(run),
      problem: view.problem === written() ? "" : Article.cellNames.problem(view.problem),
      layer: layer === null ? "" : Article.text("figure.layer", { number: layer + 1 }),
      head: head === null ? "" : Article.text("figure.head", { number: head + 1 }),
      position: position === null ? "" : Article.text("scene_position", { token: Article.cellNames.tokensOf(run, view.problem)[position], position }),
      step: step === null ? "" : Article.text("scene_step", { step }),
      edits: count === 0 ? "" : (count === 1 ? Article.text("scene_edit") : Article.text("scene_edits", { count })),
    }).filter(([, text]) => text);
    const followed = chosen.filter(isFollowed), isMoved = followed.length > 0;
    const shown = (isMoved ? followed : chosen).map(([, text]) => text).join(Article.text("scene_and"));
    const own = [Article.cellNames.problem(written()), ...(run.seed === null ? [] : [Article.seed.name()])];
    const values = { shown, problem: own.join(Article.text("scene_and")), last: run.recipe.steps };
    Article.bar.say(shown && Article.text(isMoved ? (isAboutStart ? "scene_shown_initial" : "scene_shown") : "scene_unmoved", values));
  }

  /** Whether anything of the page changes with a field; a choice does if it has what is chosen. */
  function isFollowed([name]) {
    return document.querySelector(`[data-follows~="${name}"], [name="${name}"] [value="${view[name]}"]${FOLLOWING[name] ?? ""}`);
  }

  /** @returns {import("./follow").View | null} null while the page is as it was built */
  function current() {
    return view;
  }

  /** @returns {import("./follow").View} what is looked at, also while the page is as it was built */
  function viewOf(run) {
    const nothing = { layer: null, head: null, position: null, step: null };
    return view ?? { run, ...nothing, problem: written(), edits: Article.edits.read(null, run), isBuilds: true };
  }

  Article.scene = { mount, show, begin, problem, written, current, view: viewOf };
})((window.Article ??= {}));
