// A formula or a calculation wider than the page can be scrolled by keys.
(function (Article) {
  "use strict";

  /** @param {HTMLElement} formula */
  function mount(formula) {
    const mark = () => {
      if (formula.scrollWidth > formula.clientWidth) formula.setAttribute("tabindex", "0");
      else formula.removeAttribute("tabindex");
    };
    new ResizeObserver(mark).observe(formula);
  }

  Article.formula = { mount };
})((window.Article ??= {}));
