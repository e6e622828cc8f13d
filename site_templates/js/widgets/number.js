// How a number looks: the same as in the tables and the prose, which `builder/display.py` formats.
(function (Article) {
  "use strict";

  const SIGNIFICANT_DIGITS = 7;
  const SMALLEST = 1e-12;

  /**
   * @param {number} value
   * @param {number} [decimals]
   * @returns {string} rounded, halves away from zero, such as \u22120.43; zero has no sign
   */
  function display(value, decimals = 2) {
    const digits = Math.abs(value).toFixed(decimals);
    return value < 0 && /[1-9]/.test(digits) ? `\u2212${digits}` : digits;
  }

  /**
   * As the snapshot is written, see `model/encoding.py`: 7 significant digits.
   *
   * @param {number} value
   */
  function rounded(value) {
    const size = Math.abs(value);
    if (size < SMALLEST) return 0;
    const places = SIGNIFICANT_DIGITS - 1 - exponent(size);
    const scale = Number(`1e${places}`);
    return Article.engine.halfToEven(value * scale) / scale + 0; // no negative zero
  }

  /** @returns {number} the largest whole number e with 10ᵉ ≤ size */
  function exponent(size) {
    return Number(size.toExponential().split("e")[1]);
  }

  Article.number = { display, rounded };
})((window.Article ??= {}));
