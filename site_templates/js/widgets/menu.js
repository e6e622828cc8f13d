// The menu of chapters closes when the reader turns elsewhere.
(function (Article) {
  "use strict";

  /** @param {HTMLDetailsElement} details */
  function mount(details) {
    document.addEventListener("pointerdown", (event) => {
      if (!details.contains(/** @type {Node} */ (event.target))) details.open = false;
    });
    details.addEventListener("focusout", (event) => {
      const target = /** @type {Node | null} */ (event.relatedTarget);
      if (target && !details.contains(target)) details.open = false;
    });
    details.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !details.open) return;
      details.open = false;
      details.querySelector("summary")?.focus();
    });
  }

  Article.menu = { mount };
})((window.Article ??= {}));
