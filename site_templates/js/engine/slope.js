// The slope of the loss, measured: a cell is moved a little, all that follows is computed again, and
// the losses are compared. It must be what the way back has computed.
(function (Article) {
  "use strict";

  const engine = (Article.engine ??= {});

  /** How far a cell is moved: far enough for the digits of the loss, too little to bend its curve. */
  const STEP = 1e-6;

  // (L(h) - L(-h)) / 2h      (4 L(h) - L(2h) - 3 L(0)) / 2h      and the same with -h
  /** How many steps the cell is moved, and the share of that loss: to both sides, or to one. */
  const WAYS = [
    [[1, 0.5], [-1, -0.5]],
    [[1, 2], [2, -0.5], [0, -1.5]],
    [[-1, -2], [-2, 0.5], [0, 1.5]],
  ];

  /**
   * The first way is taken on which no ReLU opens or closes: there the loss has a corner.
   *
   * @param {Numbers} numbers with a target
   * @param {Cell} cell
   * @returns {{slope: number, isBent: boolean}} bent if every way leads over a corner
   */
  function slope({ model, weights, target }, cell) {
    const after = (steps) => {
      const again = new engine.Transformer(model.sizes, model.rows);
      const moved = move(model, weights, cell, steps * STEP);
      again.forward(moved.weights, moved.edits);
      return again;
    };
    const look = (way) => {
      const found = way.map(([steps, share]) => ({ model: after(steps), share }));
      return {
        slope: found.reduce((sum, { model: again, share }) => sum + share * lossAt(again, target), 0) / STEP,
        isBent: found.some(({ model: again }) => !isOpenAlike(again, model)),
      };
    };
    const [both, ...sides] = WAYS;
    const first = look(both);
    return first.isBent ? sides.map(look).find(({ isBent }) => !isBent) ?? first : first;
  }

  /** Whether the same hidden numbers of two passes are above 0. */
  function isOpenAlike({ values: a }, { values: b }) {
    const isPre = (key) => key.endsWith("mlp.pre");
    return Object.keys(a).filter(isPre).every((key) => a[key].every((x, i) => x > 0 === b[key][i] > 0));
  }

  /** The weights, or what to overwrite on the way, for a cell that is moved by h. */
  function move(model, weights, cell, h) {
    const { key, head, row, column } = cell;
    const place = model.places.get(key);
    if (place) {
      const moved = Float64Array.from(weights);
      moved[place.start + place.shape.at(-1) * row + column] += h;
      return { weights: moved };
    }
    const { d_head } = model.sizes;
    const isUnread = key.endsWith("attn.pattern") && column > row;
    if (!isUnread) return { weights, edits: new Map([[key, [moved(model, cell, h)]]]) };
    // A later source is never read. A share of it would bring that much of its content to H = A V.
    const v = engine.activationMatrix(model, key.replace("pattern", "v"), head), z = key.replace("pattern", "z");
    const brought = Array.from({ length: d_head }, (_, d) => moved(model, { key: z, head, row, column: d }, h * v(column, d)));
    return { weights, edits: new Map([[z, brought]]) };
  }

  function moved(model, cell, h) {
    const { key, head, row, column } = cell;
    return { ...engine.placeInLine(model.sizes, cell), value: engine.activationMatrix(model, key, head)(row, column) + h };
  }

  // -ln P(target) = ln(1 + Σ over the other tokens of exp(logit - the target's)), with all its digits
  function lossAt({ values: { logits }, sizes: { d_vocab } }, { position, token }) {
    const own = logits[position * d_vocab + token];
    let others = 0;
    for (let c = 0; c < d_vocab; c++) if (c !== token) others += Math.exp(logits[position * d_vocab + c] - own);
    return Math.log1p(others);
  }

  engine.slope = slope;
})((globalThis.Article ??= {}));
