// The bar at the foot of the page: says when figures show something else than the prose speaks of.
//
// One line says what is shown; another is a note, which goes when the reader goes on.
(function (Article) {
  "use strict";

  const FIELDS = "input, select, textarea, [contenteditable]";

  /** @type {HTMLElement | undefined} */
  let bar;

  function mount() {
    Article.state.subscribe(() => note(""));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Delete" || !bar || bar.hidden || isTyping(event)) return;
      event.preventDefault();
      reset();
    });
  }

  /** @param {Event} event whether its key belongs to a field */
  function isTyping(event) {
    return /** @type {Element} */ (event.target).closest?.(FIELDS) !== null;
  }

  /** @param {string} text what the figures show; empty if it is what the prose speaks of */
  function say(text) {
    write("state", text);
  }

  /** @param {string} text */
  function note(text) {
    write("note", text);
  }

  function write(name, text) {
    if (!bar && text === "") return;
    bar ??= make();
    const line = /** @type {HTMLElement} */ (bar.querySelector(`[data-line="${name}"]`));
    if (line.textContent !== text) line.textContent = text;
    bar.hidden = ![...bar.querySelectorAll("p")].some((p) => p.textContent !== "");
  }

  function reset() {
    note("");
    Article.scene.show(null);
    Article.state.reset();
  }

  function make() {
    const made = document.createElement("aside");
    made.className = "state-bar";
    made.setAttribute("aria-label", Article.text("bar_label"));
    const lines = ["state", "note"].map((name) => {
      const line = document.createElement("p");
      line.setAttribute("role", "status");
      line.dataset.line = name;
      return line;
    });
    made.append(...lines, button(Article.text("bar_reset"), "Delete", reset));
    document.body.append(made);
    return made;
  }

  /** @param {string} text @param {string} key that does the same */
  function button(text, key, press) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.title = Article.text("bar_key", { key });
    made.setAttribute("aria-keyshortcuts", key);
    made.addEventListener("click", press);
    return made;
  }

  Article.bar = { mount, say, note, isTyping };
})((window.Article ??= {}));
