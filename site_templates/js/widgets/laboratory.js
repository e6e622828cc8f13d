// The laboratory: the model answers a problem token by token, and the reader may write along.
//
// What stands there is `prefix` of the state, such as `7x8=5`; where that is null, it is what the
// model writes by itself. One forward pass over it gives the probabilities at every place.
(function (Article) {
  "use strict";

  const CODES = { "\u00d7": "x", "<end>": ".", "<pad>": "_" };
  const END = ".";

  /** @type {HTMLElement} */
  let root;
  /** @type {string[]} tokens as an address writes them, by id */
  let codes;
  /** @type {string[]} tokens as readers see them, by id */
  let labels;
  /** How many tokens the model can read, and how many of them are the question. */
  let limit = 0, asked = 0;
  /** @type {any} the run, and the model that the page shows */
  let run, model;
  /** @type {{problem: string, tokens: number[], steps: any[]}} what stands there */
  let shown;
  /** Whether that is still what the build wrote. */
  let isAsBuilt = false;
  let latest = 0;

  const part = (name) => /** @type {HTMLElement} */ (root.querySelector(`.laboratory-${name}`));
  const isEnded = (tokens) => codes[tokens.at(-1)] === END;
  const code = (tokens) => tokens.map((id) => codes[id]).join("");
  const words = (tokens) => tokens.map((id) => labels[id]).join("");
  const question = (problem) => [...`${problem}=`].map((mark) => codes.indexOf(mark));

  /** @param {HTMLElement} element */
  function mount(element) {
    root = element;
    const { problem, prefix, vocab, context } = root.dataset;
    codes = vocab.split(" ").map((token) => CODES[token] ?? token);
    labels = vocab.split(" ").map(Article.cellNames.token);
    [limit, asked] = [Number(context), question(problem).length];
    Article.laboratoryGrid.mount(part("choice"), { labels, choose: chooseProblem, shownModel });
    Article.laboratorySteps.mount(part("steps"), { labels, choose });
    mountDigits();
    mountControls();
    const tokens = parse(prefix, problem);
    isAsBuilt = isEnded(tokens); // where the model errs, its trace does not tell how it goes on
    if (isAsBuilt) display(problem, tokens, Article.laboratorySteps.probsOfPage());
    Article.state.subscribe((state, change) => {
      if ("problem" in change || "prefix" in change) guarded(() => follow(state, change));
    });
    document.addEventListener("article:scene", () => {
      const next = Article.passes.model();
      const isSame = model ? model === next : next.isBuilds;
      model = next;
      if (isSame) return; // the problem is another, no more
      guarded(() => update());
      Article.laboratoryGrid.refresh();
    });
  }

  /** The weights that the page's figures show, and the step of the training that they are from. */
  async function shownModel() {
    run ??= await Article.passes.load();
    return currentModel();
  }

  /** The same, once the run is there, with what the reader has overwritten. */
  function currentModel() {
    return { run, ...Article.passes.model() };
  }

  /** Show what the state asks for; a prefix that means nothing is left out, with a note. */
  async function follow(state, change) {
    if (state.prefix === null || parse(state.prefix, problemOf(state))) return update(change !== state);
    await null; // until all others have read the address
    if ("prefix" in change) Article.state.refuse(["prefix"]);
    else Article.state.set({ prefix: null }, { replace: true });
  }

  /** @param {boolean} [isWriting] whether new tokens come out one at a time */
  async function update(isWriting = false) {
    const mine = ++latest;
    const state = Article.state.get();
    const problem = problemOf(state);
    const isOwn = state.prefix === null && problem === root.dataset.problem && (model?.isBuilds ?? true);
    if (isAsBuilt && isOwn) return;
    run ??= await Article.passes.load();
    if (mine !== latest) return; // another state came in between
    isAsBuilt = false;
    const { step, isEdited } = currentModel();
    const given = parse(state.prefix ?? "", problem);
    const { tokens, passed } = given ? over(given) : answer(problem);
    display(problem, tokens, (position) => Article.engine.probabilities(passed, position), isWriting);
    const source = step === null ? Article.text("laboratory_trained", { step: run.recipe.steps }) : Article.text("laboratory_step", { step });
    const parts = [run.seed === null ? "" : Article.seed.name(run.seed), source, isEdited ? Article.text("scene_edited") : ""];
    Article.setText(part("weights"), parts.filter(Boolean).join(" \u00b7 "));
  }

  /** A forward pass over tokens. */
  function over(tokens) {
    const { engine } = Article, { weights, edits } = currentModel();
    const passed = new engine.Transformer(run.sizes, engine.sequence(readOf(tokens), limit));
    passed.forward(weights, edits);
    return { tokens, passed };
  }

  /** What the model writes by itself: nearly always what the figures' pass has read. */
  function answer(problem) {
    const tokens = Article.passes.tokens(problem), { model: passed } = Article.passes.at({ problem, stage: "trained" });
    const isWritten = tokens.slice(asked).every((id, i) => Article.engine.likeliest(passed, asked - 1 + i) === id);
    return isWritten ? { tokens, passed } : over(complete(question(problem), currentModel()));
  }

  /** @returns {string} the problem in view */
  function problemOf({ problem }) {
    return problem !== null && /^\dx\d$/.test(problem) ? problem : root.dataset.problem;
  }

  /**
   * @param {string} text
   * @param {string} problem
   * @returns {number[] | null} token ids; null if it does not go on from the problem's question
   */
  function parse(text, problem) {
    const tokens = [...text].map((mark) => codes.indexOf(mark));
    const isText = text.startsWith(`${problem}=`) && tokens.length <= limit && !tokens.includes(-1);
    return isText && !tokens.slice(0, -1).includes(codes.indexOf(END)) ? tokens : null;
  }

  /** What the model reads of it: the end token is written, never read. */
  const readOf = (tokens) => (isEnded(tokens) ? tokens.slice(0, -1) : tokens);

  /** @returns {number[]} with all that the model writes, to its end token or to the last position */
  function complete(tokens, { weights, edits }) {
    const written = [...tokens];
    while (!isEnded(written) && written.length < limit) Article.engine.writeNext(run.sizes, weights, [written], edits);
    return written;
  }

  /**
   * @param {string} problem
   * @param {number[]} tokens
   * @param {(position: number) => ArrayLike<number>} probsAt
   * @param {boolean} [isWriting]
   */
  function display(problem, tokens, probsAt, isWriting = false) {
    const read = readOf(tokens), [a, b] = problem.split("x").map(Number);
    const steps = read.slice(asked - 1).map((_, i) => {
      const position = asked - 1 + i, before = read.slice(0, position + 1);
      const isTraced = `${problem}=${a * b}`.startsWith(code(before)); // a cell can be opened
      return {
        position,
        read: before.map((id) => labels[id]),
        probs: probsAt(position),
        written: tokens[position + 1] ?? null,
        canChoose: position + 1 < limit,
        cell: isTraced ? (id) => `${problem}:trained:probs[${position},${id}]` : null,
      };
    });
    const kept = shown?.problem === problem ? tokens.findIndex((id, i) => id !== shown.tokens[i]) : asked;
    shown = { problem, tokens, steps };
    Article.laboratorySteps.show(steps, isWriting && kept >= 0 ? kept - asked : Infinity);
    Article.laboratoryGrid.select(problem);
    root.querySelectorAll("select").forEach((select, i) => (select.value = String([a, b][i])));
    enable({ restart: tokens.length > asked, back: tokens.length > asked, next: canGoOn(), finish: canGoOn() });
    say(status(a * b));
  }

  const canGoOn = () => !isEnded(shown.tokens) && shown.tokens.length < limit;

  function status(product) {
    const { tokens } = shown;
    if (!isEnded(tokens)) return Article.text(tokens.length < limit ? "laboratory_open" : "laboratory_limit", { limit });
    const answer = words(tokens.slice(asked, -1));
    if (answer === String(product)) return Article.text("laboratory_right", { answer });
    return Article.text("laboratory_wrong", { answer: answer || labels[tokens.at(-1)], product });
  }

  /** @param {string} text the same text is not said again */
  function say(text) {
    Article.setText(part("status"), text);
  }

  /** @param {number[]} tokens what shall stand there; of what the model writes by itself, nothing is kept */
  function write(tokens) {
    const { problem } = shown;
    const own = isAsBuilt ? root.dataset.prefix : code(complete(question(problem), currentModel()));
    Article.state.set({ problem: named(problem), prefix: code(tokens) === own ? null : code(tokens) });
  }

  /** @param {string} problem null if the page shows it by itself */
  const named = (problem) => (problem === root.dataset.problem ? null : problem);

  function chooseProblem(problem) {
    Article.state.set({ problem: named(problem), prefix: null });
  }

  function choose(position, id) {
    write([...shown.tokens.slice(0, position + 1), id]);
  }

  const COMMANDS = {
    restart: () => write(shown.tokens.slice(0, asked)),
    back: () => write(shown.tokens.slice(0, -1)),
    next: () => write(complete(shown.tokens, currentModel()).slice(0, shown.tokens.length + 1)),
    finish: () => write(complete(shown.tokens, currentModel())),
  };

  function mountControls() {
    part("controls").hidden = false;
    part("controls").addEventListener("click", (event) => {
      const button = /** @type {Element} */ (event.target).closest("button");
      if (button?.getAttribute("aria-disabled") === "false") guarded(() => COMMANDS[button.dataset.write]());
    });
    enable({});
  }

  /** A command that is out of reach stays focusable, so that the keyboard does not lose its place. */
  function enable(can) {
    for (const button of part("controls").querySelectorAll("button")) {
      button.ariaDisabled = String(!can[button.dataset.write]);
    }
  }

  /** The digits of the question become a choice. */
  function mountDigits() {
    const selects = Article.chooser.selects();
    root.querySelectorAll("span.laboratory-digit").forEach((span, i) => {
      selects[i].className = span.className;
      selects[i].value = span.textContent;
      span.replaceWith(selects[i]);
      selects[i].addEventListener("change", () => chooseProblem(Article.chooser.chosen(selects)));
    });
  }

  /** @param {() => any} work what may fail without taking the page along */
  async function guarded(work) {
    try {
      await work();
    } catch (error) {
      reportError(error);
      say(Article.text("laboratory_failed"));
    }
  }

  Article.laboratory = { mount };
})((window.Article ??= {}));
