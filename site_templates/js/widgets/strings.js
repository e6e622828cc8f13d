// The words of the interface, in the page's language.
(function (Article) {
  "use strict";

  /** @type {Record<string, string>} */
  const strings = JSON.parse(document.getElementById("strings")?.textContent ?? "{}");

  /**
   * @param {string} name
   * @param {Record<string, string>} [values] what stands for each {name} in the text
   * @returns {string}
   */
  Article.text = function (name, values = {}) {
    return strings[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
  };

  /**
   * @param {string} number as in the snapshot, such as -0.4312345
   * @returns {string} with a real minus sign
   */
  Article.minus = (number) => number.replace("-", "\u2212");
})((window.Article ??= {}));
