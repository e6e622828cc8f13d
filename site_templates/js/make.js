// Elements, made in one expression, and their texts.
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

  /**
   * A text that stays the same node costs less than a new one.
   *
   * @param {Element} element
   * @param {string} text
   */
  Article.setText = function (element, text) {
    const node = element.firstChild;
    if (!(node instanceof Text) || node.nextSibling) element.textContent = text;
    else if (node.data !== text) node.data = text;
  };
})((window.Article ??= {}));
