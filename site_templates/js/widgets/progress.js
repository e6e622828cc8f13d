// What the reader has answered, kept on this device in Leitner's boxes.
//
// A right answer moves an item one box on, if it was due; a wrong one puts it into box 0. From box n
// it is due again after DAYS[n] days of the calendar: what was missed, at once. `article:progress` says
// that progress is no longer what this page has made of it: erased, read in, changed in another tab, or
// that it is another day.
(function (Article) {
  "use strict";

  const { make } = Article;
  /** The name of what is put aside is no longer than the other: so it fits where that stood, in a full store too. */
  const KEY = "attention-quiz", DAMAGED = "damaged-quiz";
  const DAYS = [0, 1, 3, 7, 21];

  /** What could not be stored: it lasts as long as the page. */
  const memory = new Map();
  /** Why not: storage is `blocked` or `full`. */
  let trouble = "";
  let latest = "";
  /** @type {HTMLElement | undefined} */
  let notice;

  function get(key) {
    if (memory.has(key)) return memory.get(key);
    try {
      return localStorage.getItem(key);
    } catch {
      trouble = "blocked";
      return null;
    }
  }

  /** @param {string} key @param {string | null} text */
  function set(key, text) {
    try {
      if (text === null) localStorage.removeItem(key);
      else localStorage.setItem(key, text);
      memory.delete(key);
      if (text) trouble = "";
    } catch ({ name }) {
      memory.set(key, text);
      trouble = name === "QuotaExceededError" ? "full" : "blocked";
    }
  }

  /** @returns {number} the day of the calendar here, counted from 1970 */
  const today = () => Math.floor((Date.now() - new Date().getTimezoneOffset() * 6e4) / 864e5);

  /** @typedef {[box: number, day: number]} Kept an item's box, and the day of its last answer */

  /** @param {Kept} kept @returns {number} days until it is due; a day in the future is a clock put back */
  const wait = ([box, day]) => (day > today() ? 0 : Math.max(0, day + DAYS[box] - today()));

  const isKept = (kept) => Array.isArray(kept) && kept.length === 2 && kept.every(Number.isInteger) && kept[0] in DAYS;

  /** @returns {Record<string, any> | null} null if the text is no progress */
  function parse(text) {
    try {
      const { version, items } = JSON.parse(text);
      return version === 1 && items instanceof Object && !Array.isArray(items) ? items : null;
    } catch {
      return null;
    }
  }

  /** What is damaged is put aside, behind what has been before, for the reader to download. */
  function read() {
    const text = get(KEY), items = text === null ? {} : parse(text);
    if (items && Object.values(items).every(isKept)) return items;
    const before = get(DAMAGED);
    set(KEY, null);
    set(DAMAGED, before === null ? text : `${before}\n${text}`);
    return {};
  }

  const written = (items) => JSON.stringify({ version: 1, items });

  /** @returns {string} what is known today of an item, or of all */
  const stamp = (id) => `${today()} ${id ? read()[id] : get(KEY)}`;

  /** @returns {{state: "unseen" | "missed" | "due" | "later", box?: number, days?: number}} */
  function look(id) {
    const kept = read()[id];
    if (!kept) return { state: "unseen" };
    const box = kept[0], days = wait(kept);
    return { state: days ? "later" : box ? "due" : "missed", box, days };
  }

  /** @param {string} id of an item @param {boolean} isRight */
  function grade(id, isRight) {
    const items = read(), kept = items[id];
    if (!isRight) items[id] = [0, today()];
    else if (!kept || wait(kept) === 0) items[id] = [Math.min((kept?.[0] ?? 0) + 1, DAYS.length - 1), today()];
    set(KEY, written(items));
    latest = stamp(); // this page knows
    tell();
  }

  /**
   * Take over progress from a file; of an item that both know, the later answer counts,
   * and of the same day the lower box.
   *
   * @param {string} text @param {string[]} ids of the items that there are
   * @returns {{taken: number, left: number} | null} of how many items; null if it is no progress
   */
  function merge(text, ids) {
    const items = read(), others = parse(text);
    if (!others) return null;
    const isLater = ([box, day], own) => !own || day > own[1] || (day === own[1] && box < own[0]);
    const isNew = ([id, kept]) => ids.includes(id) && isKept(kept) && kept[1] <= today() + 1 // it may be tomorrow elsewhere
      && isLater(kept, items[id]);
    const all = Object.entries(others), taken = all.filter(isNew);
    if (taken.length) set(KEY, written({ ...items, ...Object.fromEntries(taken) }));
    tell();
    watch();
    return { taken: taken.length, left: all.length - taken.length };
  }

  function erase() {
    for (const key of [KEY, DAMAGED]) set(key, null);
    tell();
    watch();
  }

  function watch() {
    if (latest === (latest = stamp())) return;
    document.dispatchEvent(new Event("article:progress"));
  }

  /** Say on the page what is wrong with the storage, before anything is lost. */
  function mount() {
    read();
    set("quiz-room", KEY.repeat(9)); // for some answers more
    set("quiz-room", null);
    latest = stamp();
    for (const type of ["focus", "storage", "visibilitychange"]) addEventListener(type, watch);
    tell();
  }

  function tell() {
    const damaged = get(DAMAGED);
    if (!trouble && damaged === null && !notice) return;
    if (!notice) {
      notice = make("p", { className: "quiz-notice", role: "status" });
      document.querySelector(".review, .quiz").prepend(notice);
    }
    const button = (name, onclick) => make("button", { type: "button", onclick }, Article.text(name));
    const drop = () => {
      set(DAMAGED, null);
      tell();
      notice.parentElement.querySelector("input").focus();
    };
    notice.replaceChildren(
      ...(trouble ? [Article.text(`quiz_${trouble}`), button("quiz_export", save)] : []),
      ...(damaged === null ? [] : [
        Article.text("quiz_damaged"),
        button("quiz_download", () => download(damaged, `${KEY}-damaged.txt`)),
        button("quiz_drop", drop),
      ]),
    );
  }

  /** @param {string} text @param {string} name of the file */
  function download(text, name) {
    make("a", { href: URL.createObjectURL(new Blob([text])), download: name }).click();
  }

  const save = () => download(written(read()), `${KEY}.json`);

  Article.progress = { mount, read, look, stamp, grade, merge, erase, save };
})((window.Article ??= {}));
