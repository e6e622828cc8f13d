// What the reader has answered, kept on this device in Leitner's boxes.
//
// A right answer moves an item one box on, if it was due; a wrong one puts it into box 0. From box n
// it is due again after DAYS[n] days of the calendar: what was missed, at once.
(function (Article) {
  "use strict";

  const { make } = Article;
  const KEY = "attention-quiz", DAMAGED = `${KEY}-damaged`;
  const DAYS = [0, 1, 3, 7, 21];

  /** What is kept where storage is forbidden or full: it lasts as long as the page. */
  const memory = new Map();
  let isBlocked = false;
  /** @type {HTMLElement | undefined} */
  let notice;

  function get(key) {
    try {
      if (!isBlocked) return localStorage.getItem(key);
    } catch {
      isBlocked = true;
    }
    return memory.get(key) ?? null;
  }

  /** @param {string} key @param {string | null} text */
  function set(key, text) {
    memory.set(key, text);
    try {
      if (text === null) localStorage.removeItem(key);
      else localStorage.setItem(key, text);
    } catch {
      isBlocked = true;
    }
  }

  /** @returns {number} the day of the calendar here, counted from 1970 */
  const today = () => Math.floor((Date.now() - new Date().getTimezoneOffset() * 6e4) / 864e5);

  /** @typedef {[box: number, day: number]} Kept an item's box, and the day of its last answer */

  /** @param {Kept} kept @returns {number} days until it is due; a day in the future is a clock put back */
  const wait = ([box, day]) => (day > today() ? 0 : Math.max(0, day + DAYS[box] - today()));

  /** @returns {Record<string, Kept> | null} null if the text is no progress */
  function parse(text) {
    const isKept = (kept) => Array.isArray(kept) && kept.length === 2 && kept.every(Number.isInteger) && kept[0] in DAYS;
    try {
      const { version, items } = JSON.parse(text);
      return version === 1 && Object.values(items).every(isKept) ? { ...items } : null;
    } catch {
      return null;
    }
  }

  /** What is damaged is put aside, for the reader to download. */
  function read() {
    const text = get(KEY), items = text === null ? {} : parse(text);
    if (items) return items;
    set(DAMAGED, text);
    set(KEY, null);
    return {};
  }

  const written = (items) => JSON.stringify({ version: 1, items });

  /** @param {string} id of an item @param {boolean} isRight */
  function grade(id, isRight) {
    const items = read(), kept = items[id];
    if (!isRight) items[id] = [0, today()];
    else if (!kept || wait(kept) === 0) items[id] = [Math.min((kept?.[0] ?? 0) + 1, DAYS.length - 1), today()];
    set(KEY, written(items));
    tell();
  }

  /** Take over progress from a file; of an item that both know, the later answer counts. */
  function merge(text) {
    const items = read(), others = Object.entries(parse(text) ?? {});
    for (const [id, kept] of others) if (!(items[id]?.[1] > kept[1])) items[id] = kept;
    if (others.length) set(KEY, written(items));
    return others.length;
  }

  function erase() {
    set(KEY, null);
  }

  /** Say on the page what is wrong with the storage. */
  function tell() {
    read();
    const damaged = get(DAMAGED);
    if (!isBlocked && damaged === null && !notice) return;
    if (!notice) {
      notice = make("p", { className: "quiz-notice" });
      notice.setAttribute("role", "status");
      document.querySelector(".review, .quiz").prepend(notice);
    }
    const button = (name, press) => make("button", { type: "button", onclick: press }, Article.text(name));
    const drop = () => (set(DAMAGED, null), tell());
    notice.replaceChildren(
      isBlocked ? Article.text("quiz_blocked") : "",
      ...(damaged === null ? [] : [
        Article.text("quiz_damaged"),
        button("quiz_download", () => download(damaged, `${DAMAGED}.txt`)),
        button("quiz_drop", drop),
      ]),
    );
  }

  /** @param {string} text @param {string} name of the file */
  function download(text, name) {
    make("a", { href: URL.createObjectURL(new Blob([text])), download: name }).click();
  }

  const save = () => download(written(read()), `${KEY}.json`);

  Article.progress = { read, wait, grade, merge, erase, tell, save };
})((window.Article ??= {}));
