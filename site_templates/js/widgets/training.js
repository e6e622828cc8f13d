// Train here: the same run as the build's, in front of the reader, and a verdict on every weight.
(function (Article) {
  "use strict";

  /** @typedef {Awaited<ReturnType<typeof Article.data.run>>} Run */

  /** @param {HTMLElement} root */
  function mount(root) {
    const start = /** @type {HTMLButtonElement} */ (root.querySelector("#train-here"));
    const follows = /** @type {HTMLInputElement} */ (root.querySelector("[data-follow]"));
    /** @type {((command: string) => void) | undefined} */
    let send;
    /** @type {Run} */
    let run;
    let isRunning = false;
    let latest = null;

    root.hidden = false;
    start.addEventListener("click", () => command(isRunning ? "pause" : "run"));
    for (const name of ["step", "reset"]) {
      root.querySelector(`[data-command="${name}"]`).addEventListener("click", () => command(name));
    }
    follows.addEventListener("change", follow);
    Article.state.subscribe((_, change) => {
      if ("step" in change) follows.checked = false; // the figures show that step
    });

    async function command(name) {
      try {
        if (!send) {
          run = await Article.data.run();
          send = connect(run, hear);
        }
        isRunning = name === "run";
        send(name);
        label();
      } catch (error) {
        isRunning = false;
        verdictOf(root).textContent = Article.text("train_failed", { reason: String(error) });
        reportError(error);
      }
    }

    function hear(report) {
      if (report.isDone) isRunning = false;
      show(root, report);
      latest = report;
      if (follows.checked) follow();
      judge(verdictOf(root), report.isDone ? report.weights : null, run);
      label();
    }

    function follow() {
      const isShown = follows.checked && !Article.seed.isOther(Article.state.get().seed);
      Article.scene.show(isShown ? latest : null);
    }

    function label() {
      start.textContent = Article.text(isRunning ? "train_pause" : "train_run");
      start.ariaPressed = String(isRunning);
    }
  }

  const verdictOf = (root) => /** @type {HTMLElement} */ (root.querySelector("#train-verdict"));

  /** Where the run is, and the curves up to there. */
  function show(root, { step, steps, loss, correct }) {
    const part = (name) => /** @type {HTMLElement} */ (root.querySelector(`[data-part="${name}"]`));
    part("step").textContent = String(step);
    part("loss").textContent = Article.number.display(loss.at(-1), 4);
    part("correct").textContent = String(correct.at(-1));
    /** @type {HTMLProgressElement} */ (root.querySelector("progress")).value = step / steps;
    Article.curves.draw("loss", step - loss.length + 1, loss);
    Article.curves.draw("correct", step - correct.length + 1, correct);
  }

  /**
   * Compare every weight with the build's; float32 is what the build stores.
   *
   * @param {HTMLElement} verdict
   * @param {Float64Array | null} weights null while the run is on its way
   * @param {Run} run
   */
  function judge(verdict, weights, run) {
    if (!weights) {
      verdict.textContent = "";
      delete verdict.dataset.identical;
      delete verdict.dataset.total;
      return;
    }
    const isDifferent = (value, i) => !Object.is(value, run.trained[i]);
    const mine = Float32Array.from(weights), total = run.trained.length;
    const different = mine.filter(isDifferent).length, identical = total - different;
    Object.assign(verdict.dataset, { identical: String(identical), total: String(total) });
    const counts = { identical: whole(identical), different: whole(different), total: whole(total) };
    verdict.textContent = different
      ? Article.text("train_different", { ...counts, first: nameOf(mine.findIndex(isDifferent), run) })
      : Article.text("train_identical", counts);
  }

  /** The tensor that has a weight, and its place in it. */
  function nameOf(index, run) {
    const places = [...Article.engine.weightPlaces(run.sizes).values()];
    const { key, start } = places.find(({ start: from, size }) => index < from + size);
    return `${key}, ${index - start}`;
  }

  const whole = (count) => count.toLocaleString("en-US");

  /**
   * Train in a worker made from the engine's own source, which works from a file too; where there
   * are no workers, train on the page, a slice at a time.
   *
   * @param {any} run
   * @param {(report: any) => void} hear
   * @returns {(command: string) => void}
   */
  function connect(run, hear) {
    const parts = { sizes: run.sizes, recipe: run.recipe, dataset: run.dataset, initial: run.initial };
    try {
      const source = `(${Article.defineEngine})();(${work})();`;
      const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
      worker.onmessage = ({ data }) => hear(data);
      worker.onerror = (event) => reportError(event.error ?? new Error(event.message));
      worker.postMessage({ run: parts });
      return (command) => worker.postMessage({ command });
    } catch {
      const runner = new Article.engine.Runner(parts, hear);
      return (command) => runner.do(command);
    }
  }

  /** Everything that the worker does; its text is sent there. */
  function work() {
    let runner;
    onmessage = ({ data }) => {
      if (data.run) runner = new globalThis.Article.engine.Runner(data.run, (report) => postMessage(report));
      else runner.do(data.command);
    };
  }

  Article.training = { mount };
})((window.Article ??= {}));
