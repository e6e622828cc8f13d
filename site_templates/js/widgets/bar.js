// The bar at the foot of the page: says when figures show something else than the prose speaks of.
//
// One line says what is shown; another is a note, which goes when the reader goes on.
(function (Article) {
  "use strict";

  const { make } = Article;
  const FIELDS = "input:not([type=range], [type=radio], [type=checkbox]), textarea, [contenteditable]";

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
      bar = build();
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

  function build() {
    const lines = ["state", "note"].map((name) => {
      const line = make("p", { role: "status" });
      line.dataset.line = name;
      return line;
    });
    const goHome = () => Article.state.set({ seed: null });
    home = make("button", { type: "button", onclick: goHome }, Article.text("seed_home", { name: Article.seed.name() }));
    undo = button("bar_undo", "Backspace", Article.edits.undo);
    const made = make("aside", { className: "state-bar", ariaLabel: Article.text("bar_label") }, ...lines);
    made.append(button("bar_reset", "Delete", reset));
    document.body.append(made);
    return made;
  }

  /** @param {string} text its name @param {string} key that does the same @param {() => void} press */
  function button(text, key, press) {
    const title = Article.text("bar_key", { key });
    return make("button", { type: "button", title, ariaKeyShortcuts: key, onclick: press }, Article.text(text));
  }

  Article.bar = { mount, say, note };
})((window.Article ??= {}));
