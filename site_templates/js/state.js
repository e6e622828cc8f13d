// What the reader is looking at: one store, mirrored in the address, so that a link shows the same.
//
// The fragment is `#section?step=120`: a place on the page, then the state. What is not in it has
// its default, and the defaults are what the page shows without scripts. It is written when the page
// has come to rest: that costs the browser a millisecond or two, and some allow it only so often.
(function (Article) {
  "use strict";

  /**
   * @typedef {object} State what is null is what the page shows by itself
   * @property {number | null} seed whose model is looked at, or null for the article's own
   * @property {number | null} step of the training, or null for the trained model
   * @property {string | null} problem such as `7x8`
   * @property {string | null} prefix tokens that the reader has put together, such as `7x8=5`
   * @property {number | null} position of the receiver, or of the target of a gradient
   * @property {number | null} layer from 0
   * @property {number | null} head from 0
   * @property {string | null} cell the open one, as `problem:stage:key[indices]`, and `@position` for
   *   its gradient
   * @property {string | null} source that is looked at: its position, `self` for the receiver's own,
   *   or `next` for the token that comes
   * @property {string | null} change of the trained model whose effects are shown, such as `ablated`
   * @property {string | null} edits what is overwritten, as `key[indices]=value;…`
   */

  /** @type {Readonly<State>} */
  const DEFAULTS = Object.freeze({
    seed: null, step: null, problem: null, prefix: null, position: null, layer: null, head: null, source: null,
    change: null, cell: null, edits: null,
  });

  const whole = (most) => (text) => (RegExp(`^\\d{1,${most}}$`).test(text) ? Number(text) : null);
  const matching = (pattern) => (text) => (pattern.test(text) ? text : null);

  /** How each field is read from the address; null for text that means nothing. */
  const READERS = {
    seed: whole(16),
    step: whole(7),
    problem: matching(/^\w{1,32}$/),
    prefix: matching(/^[\w=.]{1,32}$/),
    position: whole(2),
    layer: whole(2),
    head: whole(2),
    source: matching(/^(\d|self|next)$/),
    change: matching(/^\w{1,32}$/),
    edits: matching(/^[\w.[\],=;-]{1,4000}$/),
    cell: matching(/^\w+:(initial|trained):[A-Za-z_][\w.]*\[\d{1,4}(,\d{1,4}){0,2}\](@\d{1,2})?$/),
  };

  /** Marks that may stand in a fragment as they are. */
  const PLAIN = { "%3B": ";", "%3A": ":", "%2C": ",", "%3D": "=", "%5B": "[", "%5D": "]", "%40": "@" };

  /** @type {State} */
  let state = { ...DEFAULTS };
  /** @type {{address: string, replace: boolean}[]} what the address has still to say, one after the other */
  let unwritten = [];
  let resting = 0;
  /** @type {Set<(state: State, change: Partial<State>) => void>} */
  const listeners = new Set();

  /** @returns {State} */
  function get() {
    return state;
  }

  /**
   * @param {Partial<State>} change
   * @param {{replace?: boolean}} [options] replace the address while a slider moves, else add to history
   */
  function set(change, { replace = false } = {}) {
    state = { ...state, ...change };
    mirror(withState(fragment(), state), replace);
    for (const listener of listeners) listener(state, change);
  }

  /** @returns {string} the fragment of the address, as it is or soon will be */
  function fragment() {
    return unwritten.at(-1)?.address ?? location.hash;
  }

  function mirror(address, replace) {
    if (address === fragment()) return;
    if (replace && unwritten.length) unwritten.at(-1).address = address;
    else unwritten.push({ address, replace });
    clearTimeout(resting);
    resting = setTimeout(write, Article.REST);
  }

  function write() {
    for (const { address, replace } of unwritten.splice(0)) {
      if (address === location.hash) continue; // what was opened is closed again
      history[replace ? "replaceState" : "pushState"](null, "", address || location.pathname + location.search);
    }
  }

  /** @param {(state: State, change: Partial<State>) => void} listener called now and after each change */
  function subscribe(listener) {
    listeners.add(listener);
    listener(state, state);
  }

  function reset() {
    set({ ...DEFAULTS });
  }

  /**
   * @param {string} hash
   * @returns {{state: State, section: string, isUnderstood: boolean}}
   */
  function parse(hash) {
    const [section, query = ""] = hash.replace(/^#/, "").split("?", 2);
    const found = { ...DEFAULTS };
    let isUnderstood = true;
    for (const [name, text] of new URLSearchParams(query)) {
      const value = Object.hasOwn(READERS, name) ? READERS[name](text) : null;
      if (value === null) isUnderstood = false;
      else found[name] = value;
    }
    return { state: found, section, isUnderstood };
  }

  /**
   * @param {string} hash
   * @param {State} shown
   * @returns {string} the same place with this state
   */
  function withState(hash, shown) {
    const { section } = parse(hash);
    const changed = Object.entries(shown).filter(([name, value]) => value !== DEFAULTS[name]);
    const escaped = new URLSearchParams(changed.map(([name, value]) => [name, String(value)])).toString();
    const query = escaped.replace(/%(3A|3B|2C|3D|5B|5D|40)/g, (code) => PLAIN[code]);
    return section || query ? `#${section}${query ? `?${query}` : ""}` : "";
  }

  /** Take the state from the address, when the page opens and when the reader goes back. */
  function read() {
    unwritten = []; // the reader has gone elsewhere from there
    const { state: found, section, isUnderstood } = parse(location.hash);
    state = found;
    if (location.hash.includes("?") && section) document.getElementById(section)?.scrollIntoView();
    for (const listener of listeners) listener(state, state);
    return isUnderstood;
  }

  addEventListener("popstate", read);
  addEventListener("pagehide", write);

  Article.state = { get, set, subscribe, reset, read, parse, withState, fragment };
})((window.Article ??= {}));
