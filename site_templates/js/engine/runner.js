// A training run that can be started, paused, taken step by step and begun again.
//
// It works in slices of a few steps and looks up between them, so that whoever drives it, a worker
// or the page itself, can still be told to stop.
(function (Article) {
  "use strict";

  const engine = (Article.engine ??= {});

  /** Milliseconds of work between two looks up. */
  const SLICE = 40;

  class Runner {
    /**
     * @param {{sizes: any, recipe: any, dataset: any, initial: Float32Array}} run
     * @param {(report: {step: number, steps: number, loss: number[], correct: number[],
     *   weights: Float64Array, isDone: boolean}) => void} report called after each slice with what
     *   was measured before each of its steps, and with the weights after it
     */
    constructor(run, report) {
      this.run = run;
      this.report = report;
      this.isRunning = false;
      this.restart();
    }

    /** @param {"run" | "pause" | "step" | "reset"} command */
    do(command) {
      if (command === "run" && !this.isRunning && !this.isDone) {
        this.isRunning = true;
        this.slice();
      } else if (command === "pause") {
        this.isRunning = false;
      } else if (command === "step") {
        this.isRunning = false;
        this.advance(1, Infinity);
      } else if (command === "reset") {
        this.isRunning = false;
        this.restart();
        this.advance(0, 0);
      }
    }

    restart() {
      const { sizes, recipe, dataset, initial } = this.run;
      this.training = new engine.Training(sizes, recipe, dataset, Float64Array.from(initial));
    }

    get isDone() {
      return this.training.steps >= this.run.recipe.steps;
    }

    slice() {
      if (!this.isRunning) return;
      this.advance(Infinity, SLICE);
      if (this.isDone) this.isRunning = false;
      else setTimeout(() => this.slice());
    }

    /** Take up to `most` steps, for up to `milliseconds`, and report. */
    advance(most, milliseconds) {
      const { training } = this;
      const loss = [], correct = [];
      const stop = performance.now() + milliseconds;
      for (let taken = 0; taken < most && !this.isDone && performance.now() < stop; taken++) {
        const measured = training.step();
        loss.push(measured.loss);
        correct.push(measured.correct);
      }
      const last = training.measure();
      this.report({
        step: training.steps,
        steps: this.run.recipe.steps,
        loss: [...loss, last.loss],
        correct: [...correct, last.correct],
        weights: Float64Array.from(training.weights),
        isDone: this.isDone,
      });
    }
  }

  Object.assign(engine, { Runner });
})((globalThis.Article ??= {}));
