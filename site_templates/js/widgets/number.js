// How a number looks: the same as in the tables and the prose, which `builder/numbers/display.py` formats.
(function (Article) {
  "use strict";

  const SMALLEST_PLAIN = 1e-3;
  const STORED_DIGITS = 7;
  const DECIMALS = { number: "2", percent: "0", scientific: "1" };
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
   * A number as the snapshot has it: 7 digits, a weight as the shortest decimal that reads back.
   *
   * @param {number} value
   * @param {boolean} isWeight
   */
  function stored(value, isWeight) {
    if (!isWeight || Math.fround(value) !== value) return rounded(value);
    let digits = 1;
    while (Math.fround(Number(value.toPrecision(digits))) !== value) digits++;
    return Number(halfToEven(value.toPrecision(digits), value.toPrecision(digits + 1), value));
  }

  /** Of two decimals that are equally near, the one that ends even. */
  function halfToEven(decimal, longer, value) {
    const isHalf = /^[^e]*5$/.test(longer) && Number(longer) === value;
    const last = Number(decimal.at(-1));
    return isHalf && last % 2 === 1 ? `${decimal.slice(0, -1)}${last - 1}` : decimal;
  }

  /**
   * A number of the prose, in the form that its author asked for.
   *
   * @param {number} value
   * @param {string} [format]
   * @param {string} [decimals]
   */
  function formatted(value, format = "number", decimals = DECIMALS[format]) {
    if (format === "whole") return signed(value, Math.round(Math.abs(value)).toLocaleString("en-US"));
    if (format === "percent") return `${display(value * 100, Number(decimals))}%`;
    if (format !== "scientific") return display(value, Number(decimals));
    const size = Math.abs(value);
    if (size >= 0.01) return display(value, Number(decimals) + 1); // a sentence needs no power of ten for it
    return signed(value, scientific(size, Number(decimals)));
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

  /**
   * @param {number} size
   * @param {number} decimals
   */
  function scientific(size, decimals = STORED_DIGITS - 1) {
    const [mantissa, exponent] = size.toExponential(decimals).split("e");
    const raised = (mark) => (mark === "-" ? "\u207b" : mark === "+" ? "" : SUPERSCRIPTS[Number(mark)]);
    return `${mantissa}\u00d710${[...exponent].map(raised).join("")}`;
  }

  /** @returns {bigint} a number in units of its last decimal, halves away from zero */
  function units(value, decimals) {
    return BigInt(value.toFixed(decimals).replace(".", ""));
  }

  /**
   * @param {number} value
   * @param {string} digits of its absolute value
   */
  function signed(value, digits) {
    return value < 0 && /[1-9]/.test(digits) ? `\u2212${digits}` : digits;
  }

  Article.number = { display, exact, rounded, stored, formatted, units };
})((window.Article ??= {}));
