// Links to other pages and to places of this one take along what the reader has chosen.
(function (Article) {
  "use strict";

  /** What goes along to another page, unless the link itself asks for something else. */
  const TAKEN = ["seed", "step", "problem", "layer", "head", "edits"];

  /** The same page in another language, at the same place: ids and state are the same in every one. */
  function mountLanguage(link) {
    keep(link, () => Article.state.withState(`#${Article.contents.current()}`, Article.state.get()));
  }

  /** Another page shows the problem and the model that are looked at, this one all that it shows. */
  function mount(link) {
    keep(link, (hash, page) => {
      const { state } = Article.state.parse(hash), own = Article.state.get();
      for (const name of page ? TAKEN : Object.keys(own)) state[name] ??= own[name];
      return Article.state.withState(hash, state);
    });
  }

  /**
   * Settle where a link leads when it is about to be followed.
   *
   * @param {Element} link an HTML or SVG one
   * @param {(hash: string, page: string) => string} settle
   */
  function keep(link, settle) {
    const [page, hash = ""] = link.getAttribute("href").split("#");
    const update = () => link.setAttribute("href", page + settle(`#${hash}`, page));
    for (const type of ["pointerdown", "focus", "click"]) link.addEventListener(type, update);
  }

  Article.links = { mountLanguage, mount };
})((window.Article ??= {}));
