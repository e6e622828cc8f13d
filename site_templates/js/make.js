// Elements, made in one expression.
(function (Article) {
  "use strict";

  /**
   * @param {string} tag
   * @param {Record<string, any>} properties
   * @param {...(Node | string)} children
   */
  Article.make = function (tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
})((window.Article ??= {}));
