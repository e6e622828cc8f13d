// The words of the interface, in the page's language.
(function (Article) {
  "use strict";

  /** @type {Record<string, string>} */
  const strings = Article.strings;

  /**
   * @param {string} name
   * @param {Record<string, string | number>} [values] what stands for each {name} in the text
   * @returns {string}
   */
  Article.text = function (name, values = {}) {
    return strings[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
  };
})((window.Article ??= {}));
