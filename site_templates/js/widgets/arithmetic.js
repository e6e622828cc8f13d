// The arithmetic of a cell in decimals: every number is computed from the numbers shown before it.
//
// Operands are rounded to some decimals, products and sums are made of these, exactly, and rounded
// to as many. There are as many decimals as it takes to arrive at the cell's own number. Unrounded,
// the operands are the engine's own numbers, to three decimals more than the snapshot keeps.
(function (Article) {
  "use strict";

  const FEWEST = 4;
  const SIGNIFICANT = 3;
  const MOST = 10;
  const STORED_DIGITS = 7;
  const BEYOND = 3;

  /**
   * @typedef {{factors: {operand: any, text: string}[], parts: string[], at: any, isOwn: boolean}} Line a
   *   term: its operands, then what is made of them
   * @typedef {{name: string, text: string, operand?: any}} Step what is done with all terms together
   * @typedef {{lines: Line[], left: number, mean: string, steps: Step[], result: string, agrees: boolean,
   *   decimals: number}} Shown `left` counts terms that are 0 and left out; `mean` is also a maximum
   */

  /**
   * @param {any} made an explanation
   * @param {number} eps of LayerNorm
   * @param {(operand: any) => number} stored a number as the snapshot has it
   * @param {boolean} isUnrounded
   * @returns {Shown}
   */
  function shown(made, eps, stored, isUnrounded) {
    const size = Math.abs(made.result);
    const exponent = size > 0 ? Math.floor(Math.log10(size)) : 0;
    if (isUnrounded) {
      const kept = Math.min(20, Math.max(FEWEST, STORED_DIGITS - 1 - exponent));
      return compute(made, eps, (operand) => operand.value, kept + BEYOND, kept).written();
    }
    const wanted = Math.min(MOST, Math.max(FEWEST, SIGNIFICANT - 1 - exponent));
    const seen = new Map(); // the operands are the same in every attempt
    const value = (operand) => {
      if (!seen.has(operand)) seen.set(operand, stored(operand));
      return seen.get(operand);
    };
    for (let decimals = wanted; decimals < MOST; decimals++) {
      const found = compute(made, eps, value, decimals, wanted);
      if (found.agrees) return found.written();
    }
    return compute(made, eps, value, MOST, wanted).written();
  }

  /**
   * @param {number} decimals of everything on the way
   * @param {number} wanted decimals of the result
   * @returns {{agrees: boolean, written: () => Shown}}
   */
  function compute(made, eps, value, decimals, wanted) {
    const one = 10n ** BigInt(decimals);
    const scale = {
      of: (number) => Article.number.units(number, decimals),
      text: (number) => text(number, decimals),
      times: (a, b) => divide(a * b, one),
      number: (number) => Number(number) / Number(one),
      ends: (a, b) => divide(a * 10n ** BigInt(wanted), b), // a / b, in decimals of the result
      one,
    };
    const terms = made.terms.map(({ operands, at }, i) => {
      const factors = operands.map((operand) => scale.of(value(operand)));
      return { operands, at, isOwn: i === made.own, factors, product: factors.reduce(scale.times, one) };
    });
    const by = made.divisor === null ? one : scale.of(typeof made.divisor === "number" ? made.divisor : value(made.divisor));
    const make = OPERATIONS[made.operation] ?? sum;
    const { parts = () => [], steps, result, mean = 0n, visible = terms, columns = 2 } = make(terms, scale, { by, made, eps });
    const agrees = text(result, wanted) === Article.number.display(value({ ...made.cell, value: made.result }), wanted);
    const written = () => ({
      lines: visible.map((term) => ({
        factors: term.operands.slice(0, columns).map((operand, i) => ({ operand, text: scale.text(term.factors[i]) })),
        parts: parts(term).map(scale.text),
        at: term.at,
        isOwn: term.isOwn,
      })),
      left: make === sum ? terms.length - visible.length : 0,
      mean: scale.text(mean),
      steps,
      result: text(result, wanted),
      agrees,
      decimals,
    });
    return { agrees, written };
  }

  const total = (numbers) => numbers.reduce((all, number) => all + number, 0n);

  // Σ of products, divided
  function sum(terms, scale, { by, made }) {
    const all = total(terms.map(({ product }) => product));
    const isResult = made.divisor === null && scale.ends(all, scale.one) === all;
    const steps = terms.length > 1 && !isResult ? [{ name: "sum", text: scale.text(all) }] : [];
    if (made.divisor !== null) steps.push({ name: "root", text: scale.text(by) });
    const isNonzero = (term) => terms.length === 1 || term.operands.every((operand) => operand.value !== 0);
    return { parts: productOf, steps, result: scale.ends(all, by), visible: terms.filter(isNonzero) };
  }

  const productOf = ({ factors, product }) => (factors.length > 1 ? [product] : []);

  // e^(x - max) / Σ e^(x - max)
  function softmax(terms, scale) {
    const numbers = terms.map(({ product }) => product);
    const top = numbers.reduce((most, number) => (number > most ? number : most));
    const power = ({ product }) => scale.of(Math.exp(scale.number(product - top)));
    const all = total(terms.map(power));
    const own = power(terms.find(({ isOwn }) => isOwn));
    const steps = [{ name: "share", text: scale.text(own) }, { name: "over", text: scale.text(all) }];
    return { parts: (term) => [power(term)], steps, result: scale.ends(own, all), mean: top };
  }

  // √(mean of (x - mean)² + ε)
  function deviation(terms, scale, { eps }) {
    const mean = divide(total(terms.map(({ product }) => product)), BigInt(terms.length));
    const square = ({ product }) => scale.times(product - mean, product - mean);
    const all = total(terms.map(square));
    const variance = divide(all, BigInt(terms.length)) + scale.of(eps);
    const steps = [{ name: "sum", text: scale.text(all) }, { name: "variance", text: scale.text(variance) }];
    const result = scale.ends(scale.of(Math.sqrt(scale.number(variance))), scale.one);
    return { parts: (term) => [term.product - mean, square(term)], steps, result, mean };
  }

  // (x - mean) / scale
  function standardize(terms, scale, { by, made }) {
    const mean = divide(total(terms.map(({ product }) => product)), BigInt(terms.length));
    const centred = terms.find(({ isOwn }) => isOwn).product - mean;
    const steps = [
      { name: "centred", text: scale.text(centred) },
      { name: "scale", text: scale.text(by), operand: made.divisor },
    ];
    return { steps, result: scale.ends(centred, by), mean };
  }

  // max(0, x)
  function relu([{ product }], scale) {
    return { steps: [], result: scale.ends(product > 0n ? product : 0n, scale.one) };
  }

  // P - 1 at the answer, P elsewhere, and 0 in rows that are not asked
  function error([{ product }], scale, { made }) {
    if (made.answer === null) return { steps: [], result: 0n };
    const answer = made.answer === 1 ? scale.one : 0n;
    return { steps: [{ name: "answer", text: scale.text(answer) }], result: scale.ends(product - answer, scale.one) };
  }

  // G where x > 0, else 0
  function reluBackward([{ operands, factors }], scale) {
    const steps = [{ name: "gate", text: scale.text(factors[1]), operand: operands[1] }];
    return { steps, result: operands[1].value > 0 ? scale.ends(factors[0], scale.one) : 0n, columns: 1 };
  }

  // A (G - Σ A G)
  function softmaxBackward(terms, scale) {
    const all = total(terms.map(({ product }) => product));
    const [share, gradient] = terms.find(({ isOwn }) => isOwn).factors;
    const above = gradient - all;
    const steps = [
      { name: "sum", text: scale.text(all) },
      { name: "above", text: scale.text(above) },
      { name: "times", text: scale.text(share) },
    ];
    return { parts: productOf, steps, result: scale.ends(share * above, scale.one * scale.one) };
  }

  // (G - mean of G - n · mean of n G) / scale, plus what goes around the LayerNorm
  function standardizeBackward(terms, scale, { by, made }) {
    const row = terms.filter(({ factors }) => factors.length === 2);
    const around = terms.find(({ factors }) => factors.length === 1);
    const average = divide(total(row.map(({ factors }) => factors[1])), BigInt(row.length));
    const along = divide(total(row.map(({ product }) => product)), BigInt(row.length));
    const [normalized, gradient] = terms.find(({ isOwn }) => isOwn).factors;
    const inner = gradient - average - scale.times(normalized, along);
    const steps = [
      { name: "average", text: scale.text(average) },
      { name: "along", text: scale.text(along) },
      { name: "inner", text: scale.text(inner) },
      { name: "scale", text: scale.text(by), operand: made.divisor },
    ];
    if (around) steps.push({ name: "around", text: scale.text(around.product), operand: around.operands[0] });
    const result = scale.ends(inner * scale.one + (around?.product ?? 0n) * by, by * scale.one);
    return { parts: productOf, steps, result, visible: row };
  }

  const OPERATIONS = {
    softmax, deviation, standardize, relu, error,
    relu_backward: reluBackward, softmax_backward: softmaxBackward, standardize_backward: standardizeBackward,
  };

  /** @returns {bigint} the quotient, halves away from zero */
  function divide(a, b) {
    const size = (2n * (a < 0n ? -a : a) + b) / (2n * b);
    return a < 0n ? -size : size;
  }

  function text(number, decimals) {
    const digits = String(number < 0n ? -number : number).padStart(decimals + 1, "0");
    const point = digits.length - decimals;
    return `${number < 0n ? "\u2212" : ""}${digits.slice(0, point)}${decimals ? "." : ""}${digits.slice(point)}`;
  }

  Article.arithmetic = { shown };
})((window.Article ??= {}));
