// What the reader is looking at: one store, mirrored in the address, so that a link shows the same.
//
// The fragment is `#section?step=120`: a place on the page, then the state. What is not in it has
// its default, and the defaults are what the page shows without scripts.
(function (Article) {
  "use strict";

  /** @typedef {{step: number | null}} State a step of the training, or null for the trained model */

  const DEFAULTS = Object.freeze({ step: null });

  /** How each field is read from the address; null for text that means nothing. */
  const READERS = {
    step: (text) => (/^\d{1,7}$/.test(text) ? Number(text) : null),
  };

  /** @type {State} */
  let state = { ...DEFAULTS };
  /** @type {Set<(state: State) => void>} */
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
    const address = withState(location.hash, state);
    if (address !== location.hash) {
      history[replace ? "replaceState" : "pushState"](null, "", address || location.pathname + location.search);
    }
    for (const listener of listeners) listener(state);
  }

  /** @param {(state: State) => void} listener called now and after each change */
  function subscribe(listener) {
    listeners.add(listener);
    listener(state);
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
      const value = name in READERS ? READERS[name](text) : null;
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
    const query = new URLSearchParams(changed.map(([name, value]) => [name, String(value)])).toString();
    return section || query ? `#${section}${query ? `?${query}` : ""}` : "";
  }

  /** Take the state from the address, when the page opens and when the reader goes back. */
  function read() {
    const { state: found, section, isUnderstood } = parse(location.hash);
    state = found;
    if (location.hash.includes("?") && section) document.getElementById(section)?.scrollIntoView();
    for (const listener of listeners) listener(state);
    return isUnderstood;
  }

  addEventListener("popstate", read);

  Article.state = { get, set, subscribe, reset, read, parse, withState };
})((window.Article ??= {}));
