// The numbers that scripts work with, loaded when first asked for: weights, recipe, checkpoints, seeds.
(function (Article) {
  "use strict";

  /**
   * Load a script of the site. Scripts work from a double click, where fetching does not.
   *
   * @param {string} name file in the assets folder
   * @returns {Promise<void>}
   */
  function load(name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${document.body.dataset.root}assets/${name}`;
      script.onload = () => resolve();
      script.onerror = () => reject(new Error(`${name} could not be loaded`));
      document.head.append(script);
    });
  }

  /**
   * What a run starts from and must end in.
   *
   * @type {() => Promise<{sizes: any, recipe: any, dataset: any, tensors: any, initial: Float32Array,
   *   trained: Float32Array}>}
   */
  const run = once(async () => {
    await load("run.js");
    return read(Article.run);
  });

  /**
   * The weights that the build kept on the way.
   *
   * @type {() => Promise<{steps: number[], weights: Float32Array[]}>}
   */
  const checkpoints = once(async () => {
    await load("checkpoints.js");
    const { steps, weights } = Article.checkpoints;
    return { steps, weights: weights.map(floats) };
  });

  /**
   * Models of other seeds, by their seed.
   *
   * @typedef {{seed: number, initial: Float32Array, trained: Float32Array, figures: Record<string, number>,
   *   claims: Record<string, {holds: boolean, numbers: Record<string, number>}>}} Other
   * @type {() => Promise<Record<string, Other>>}
   */
  const seeds = once(async () => {
    await load("seeds.js");
    return Object.fromEntries(Object.entries(Article.seeds).map(([seed, of]) => [seed, { seed: Number(seed), ...read(of) }]));
  });

  /**
   * What interventions do to the trained model, by `layer.head.change`.
   *
   * @type {() => Promise<Record<string, any>>}
   */
  const effects = once(async () => {
    await load("effects.js");
    return Article.effects;
  });

  /**
   * @template T
   * @param {() => Promise<T>} make
   * @returns {() => Promise<T>} the same promise whenever it is asked for; one that fails is tried again
   */
  function once(make) {
    /** @type {Promise<T> | undefined} */
    let made;
    return () => (made ??= make().catch((error) => {
      made = undefined;
      throw error;
    }));
  }

  /** What is known of a run, with its weights as numbers. */
  function read({ initial, trained, ...rest }) {
    return { ...rest, initial: floats(initial), trained: floats(trained) };
  }

  /** @param {string} base64 little-endian float32 numbers */
  function floats(base64) {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
  }

  Article.data = { load, run, checkpoints, seeds, effects };
})((window.Article ??= {}));
