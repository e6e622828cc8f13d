// Switching language keeps the place: section ids are the same in every language.
(function (Article) {
  "use strict";

  /** @param {HTMLAnchorElement} link */
  function mount(link) {
    const page = link.href;
    const keepPlace = () => {
      const id = Article.contents.current();
      link.href = id ? `${page}#${id}` : page;
    };
    for (const type of ["pointerdown", "focus", "click"]) link.addEventListener(type, keepPlace);
  }

  Article.language = { mount };
})((window.Article ??= {}));
