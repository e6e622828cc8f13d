// Which position reads: the row that figures show, chosen among the tokens of the question.
(function (Article) {
  "use strict";

  /** @param {HTMLElement} root */
  function mount(root) {
    const written = Number(root.dataset.written);
    root.hidden = false;
    root.addEventListener("change", ({ target }) => {
      const position = Number(/** @type {HTMLInputElement} */ (target).value);
      Article.state.set({ position: position === written ? null : position });
    });
    Article.state.subscribe(({ position }) => {
      for (const input of root.querySelectorAll("input")) input.checked = Number(input.value) === (position ?? written);
    });
  }

  Article.receiver = { mount };
})((window.Article ??= {}));
