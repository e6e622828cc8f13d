// Train here: the same run as the build's, in front of the reader, and a verdict on every weight.
(function (Article) {
  "use strict";

  /** @param {HTMLElement} root */
  function mount(root) {
    const part = (name) => /** @type {HTMLElement} */ (root.querySelector(`[data-part="${name}"]`));
    const button = (name) => /** @type {HTMLButtonElement} */ (root.querySelector(`[data-command="${name}"]`));
    const start = /** @type {HTMLButtonElement} */ (root.querySelector("#train-here"));
    const verdict = /** @type {HTMLElement} */ (root.querySelector("#train-verdict"));
    const follows = /** @type {HTMLInputElement} */ (root.querySelector("[data-follow]"));
    /** @type {((command: string) => void) | undefined} */
    let send;
    /** @type {Awaited<ReturnType<typeof Article.data.run>>} */
    let run;
    let isRunning = false;

    root.hidden = false;
    start.addEventListener("click", () => command(isRunning ? "pause" : "run"));
    for (const name of ["step", "reset"]) button(name).addEventListener("click", () => command(name));
    follows.addEventListener("change", () => !follows.checked && Article.scene.show(null));

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
        verdict.textContent = Article.text("train_failed", { reason: String(error) });
        reportError(error);
      }
    }

    function hear({ step, steps, loss, correct, weights, isDone }) {
      if (isDone) isRunning = false;
      part("step").textContent = String(step);
      part("loss").textContent = Article.number.display(loss.at(-1), 4);
      part("correct").textContent = String(correct.at(-1));
      /** @type {HTMLProgressElement} */ (root.querySelector("progress")).value = step / steps;
      Article.curves.draw("loss", step - loss.length + 1, loss);
      Article.curves.draw("correct", step - correct.length + 1, correct);
      if (follows.checked && !Article.seed.isOther(Article.state.get().seed)) Article.scene.show({ step, weights });
      judge(isDone ? weights : null);
      label();
    }

    /** Compare every weight with the build's; float32 is what the build stores. */
    function judge(weights) {
      if (!weights) {
        verdict.textContent = "";
        delete verdict.dataset.identical;
        delete verdict.dataset.total;
        return;
      }
      const mine = Float32Array.from(weights);
      const identical = mine.filter((value, i) => Object.is(value, run.trained[i])).length;
      const total = run.trained.length;
      Object.assign(verdict.dataset, { identical: String(identical), total: String(total) });
      const first = mine.findIndex((value, i) => !Object.is(value, run.trained[i]));
      verdict.textContent =
        first < 0
          ? Article.text("train_identical", { identical: whole(identical), total: whole(total) })
          : Article.text("train_different", {
              different: whole(total - identical),
              total: whole(total),
              first: nameOf(first),
            });
    }

    function nameOf(index) {
      for (const { key, start: from, size } of Article.engine.weightPlaces(run.sizes).values()) {
        if (index < from + size) return `${key}, ${index - from}`;
      }
      return String(index);
    }

    function label() {
      start.textContent = isRunning ? Article.text("train_pause") : Article.text("train_run");
      start.setAttribute("aria-pressed", String(isRunning));
    }
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
