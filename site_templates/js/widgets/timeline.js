// The timeline: a slider over the weights that the build kept, from step 0 to the last.
(function (Article) {
  "use strict";

  /** @param {HTMLElement} root */
  function mount(root) {
    const slider = /** @type {HTMLInputElement} */ (root.querySelector("input[type=range]"));
    const output = /** @type {HTMLOutputElement} */ (root.querySelector("output"));
    const steps = root.dataset.steps.split(" ").map(Number);
    root.hidden = false;

    const choose = (replace) => {
      const step = steps[Number(slider.value)];
      Article.state.set({ step: step === steps.at(-1) ? null : step }, { replace });
    };
    slider.addEventListener("input", () => choose(true));
    slider.addEventListener("change", () => choose(false));

    Article.state.subscribe(({ step }) => {
      const kept = steps.indexOf(step), index = kept < 0 ? steps.length - 1 : kept;
      slider.value = String(index);
      output.textContent = Article.text("timeline_step", { step: steps[index] });
      slider.ariaValueText = output.textContent;
    });
  }

  Article.timeline = { mount };
})((window.Article ??= {}));
