// The bar at the foot of the page: says when figures show something else than the prose speaks of.
//
// One line says what is shown; another is a note, which goes when the reader goes on.
(function (Article) {
  "use strict";

  const FIELDS = "input:not([type=range]), select, textarea, [contenteditable]";

  /** @type {HTMLElement | undefined} */
  let bar;
  /** @type {HTMLButtonElement} */
  let undo, home;

  function mount() {
    Article.state.subscribe(() => note(""));
    Article.state.subscribe(() => bar && offer());
    document.addEventListener("keydown", (event) => {
      const press = bar && !bar.hidden && command(event);
      if (!press || isTyping(event, press)) return;
      event.preventDefault();
      press();
    });
  }

  /** What a key does while the bar is there: Delete restores everything, Backspace undoes one edit. */
  function command({ key, ctrlKey, metaKey, altKey, shiftKey }) {
    const isPlain = !ctrlKey && !metaKey && !altKey && !shiftKey;
    if (key === "Delete" && isPlain) return reset;
    const isUndo = isPlain ? key === "Backspace" : key === "z" && (ctrlKey || metaKey) && !shiftKey;
    return isUndo && Article.state.get().edits !== null ? Article.edits.undo : null;
  }

  /** There is a button to undo while there is something to undo, and one back to the article's own seed. */
  function offer() {
    const { edits, seed } = Article.state.get();
    for (const [made, isOffered] of [[home, Article.seed.isOther(seed)], [undo, edits !== null]]) {
      if (isOffered) bar.lastElementChild.before(made);
      else made.remove();
    }
  }

  /** Whether a key belongs to a field. Ctrl+Z does while something is typed there that is not used yet. */
  function isTyping({ target, key }, press) {
    const field = /** @type {Element} */ (target).closest?.(FIELDS);
    const isUsed = field?.matches(".cell-edit input") && field.value === field.defaultValue;
    return Boolean(field) && !(isUsed && press === Article.edits.undo && key === "z");
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
    if (!bar) {
      bar = make();
      offer();
    }
    const line = /** @type {HTMLElement} */ (bar.querySelector(`[data-line="${name}"]`));
    Article.setText(line, text);
    bar.hidden = ![...bar.querySelectorAll("p")].some((p) => p.textContent !== "");
    document.body.classList.toggle("has-state-bar", !bar.hidden);
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
    undo = button(Article.text("bar_undo"), "Backspace", Article.edits.undo);
    undo.classList.add("state-undo");
    home = Article.make("button", { type: "button", className: "state-seed", onclick: () => Article.state.set({ seed: null }) }, Article.text("seed_home", { name: Article.seed.name() }));
    made.append(...lines, button(Article.text("bar_reset"), "Delete", reset));
    document.body.append(made);
    return made;
  }

  /** @param {string} text @param {string} key that does the same */
  function button(text, key, press) {
    const made = Article.make("button", { type: "button", title: Article.text("bar_key", { key }) }, text);
    made.setAttribute("aria-keyshortcuts", key);
    made.addEventListener("click", press);
    return made;
  }

  Article.bar = { mount, say, note };
})((window.Article ??= {}));
