// How a number looks: the same as in the tables and the prose, which `builder/numbers/display.py` formats.
(function (Article) {
  "use strict";

  const SMALLEST_PLAIN = 1e-3;
  const STORED_DIGITS = 7;
  const SMALLEST_STORED = 1e-12;
  const SUPERSCRIPTS = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";

  /**
   * @param {number} value
   * @param {number} decimals
   * @returns {string} rounded, such as \u22120.43; zero has no sign
   */
  function display(value, decimals = 2) {
    return signed(value, Math.abs(value).toFixed(decimals));
  }

  /**
   * Round as the snapshot does, by exact powers of ten: `model/encoding.py`.
   *
   * @param {number} value
   * @returns {number} with 7 significant digits; under 1e-12 it is 0
   */
  function rounded(value) {
    const size = Math.abs(value);
    if (size < SMALLEST_STORED) return 0;
    const exponent = Number(size.toExponential().split("e")[1]);
    const scale = Number(`1e${STORED_DIGITS - 1 - exponent}`);
    return Article.engine.halfToEven(value * scale) / scale + 0; // no negative zero
  }

  /**
   * @param {number} value
   * @returns {string} with all its digits, such as \u22120.4312345; below 0.001 with a power of ten
   */
  function exact(value) {
    const size = Math.abs(value);
    if (size > 0 && size < SMALLEST_PLAIN) return signed(value, scientific(size));
    const [whole, fraction] = String(size).split(".");
    const digits = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    return signed(value, fraction ? `${digits}.${fraction}` : digits);
  }

  /** @param {number} size */
  function scientific(size) {
    const [mantissa, exponent] = size.toExponential(STORED_DIGITS - 1).split("e-");
    return `${mantissa}\u00d710\u207b${exponent.replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)])}`;
  }

  /**
   * @param {number} value
   * @param {string} digits of its absolute value
   */
  function signed(value, digits) {
    return value < 0 && /[1-9]/.test(digits) ? `\u2212${digits}` : digits;
  }

  Article.number = { display, exact, rounded };
})((window.Article ??= {}));
