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
  const DEFAULTS = {
    seed: null, step: null, problem: null, prefix: null, position: null, layer: null, head: null, source: null,
    change: null, cell: null, edits: null,
  };

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

  /** Marks that may stand in a fragment as they are: `:;,=[]@`. */
  const PLAIN = /%(3A|3B|2C|3D|5B|5D|40)/g;

  /** @type {State} */
  let state = { ...DEFAULTS };
  /** @type {{address: string, replace: boolean}[]} what the address has still to say, one after the other */
  let unwritten = [];
  let resting = 0;
  /** @type {string[]} parts of the address that were left out, such as `layer=5` */
  let refused = [];
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
   * @returns {{state: State, section: string, unread: string[]}}
   */
  function parse(hash) {
    const [section, query = ""] = hash.replace(/^#/, "").split("?", 2);
    const found = { ...DEFAULTS };
    const unread = [];
    for (const [name, text] of new URLSearchParams(query)) {
      const value = Object.hasOwn(READERS, name) ? READERS[name](text) : null;
      if (value === null) unread.push(`${name}=${text}`);
      else found[name] = value;
    }
    return { state: found, section, unread };
  }

  /**
   * @param {string} hash
   * @param {State} shown
   * @returns {string} the same place with this state
   */
  function withState(hash, shown) {
    const { section } = parse(hash);
    const changed = Object.entries(shown).filter(([, value]) => value !== null);
    const escaped = new URLSearchParams(changed.map(([name, value]) => [name, String(value)])).toString();
    const query = escaped.replace(PLAIN, decodeURIComponent);
    return section || query ? `#${section}${query ? `?${query}` : ""}` : "";
  }

  /** Take the state from the address, when the page opens, when the reader goes back and along a link in the page. */
  function read() {
    unwritten = []; // the reader has gone elsewhere from there
    const { state: found, section, unread } = parse(location.hash), isOther = withState("", found) !== withState("", state);
    state = found;
    refused = unread;
    if (location.hash.includes("?")) arrive(document.getElementById(section));
    if (isOther) for (const listener of listeners) listener(state, state);
    const strange = state.prefix === null || document.querySelector(".laboratory") ? [] : ["prefix"];
    if (unread.length + strange.length) refuse(strange);
  }

  /** Go to a place, as browsers do where it is all that an address says. */
  function arrive(place) {
    if (!place) return;
    if (place.tabIndex < 0) place.tabIndex = -1;
    place.focus({ preventScroll: true });
    place.scrollIntoView();
  }

  /**
   * Leave out of the address what means nothing here, and say so.
   *
   * @param {string[]} names of fields
   * @param {(part: string) => boolean} [isUnderstood] an edit that stays
   */
  function refuse(names, isUnderstood = () => false) {
    const change = {};
    for (const name of names) {
      const parts = String(state[name]).split(";"), kept = parts.filter(isUnderstood);
      change[name] = kept.join(";") || null;
      refused.push(...parts.filter((part) => !kept.includes(part)).map((part) => `${name}=${part}`));
    }
    set(change, { replace: true });
    Article.bar.note(Article.text("address_not_understood", { parts: refused.join(Article.text("scene_and")) }));
  }

  addEventListener("popstate", read);
  addEventListener("pagehide", write);

  Article.state = { get, set, subscribe, reset, read, refuse, parse, withState, fragment };
})((window.Article ??= {}));
