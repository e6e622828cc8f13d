// The layer and the head that figures show, chosen beside the contents; the text speaks of its own.
(function (Article) {
  "use strict";

  const { make } = Article;

  /** @param {HTMLElement} contents */
  function mount(contents) {
    const { layers, heads } = contents.dataset;
    const fields = [["layer", layers], ["head", heads]].filter(([name]) => document.querySelector(`[data-follows~="${name}"]`));
    if (fields.length === 0) return;
    const label = Article.text("place_label");
    const selects = fields.map(([name, count]) => field(name, Number(count)));
    contents.firstElementChild.append(make("div", { className: "place-chooser", role: "group", ariaLabel: label }, label, ...selects));
  }

  /**
   * @param {string} name of a field of the state
   * @param {number} count
   */
  function field(name, count) {
    const choices = Array.from({ length: count }, (_, index) => new Option(String(index + 1), String(index)));
    const select = make("select", {}, new Option(Article.text("place_written"), ""), ...choices);
    select.addEventListener("change", () => Article.state.set({ [name]: select.value === "" ? null : Number(select.value) }));
    Article.state.subscribe((state) => (select.value = String(state[name] ?? "")));
    return make("label", {}, Article.text(`place_${name}`), " ", select);
  }

  Article.placeChooser = { mount };
})((window.Article ??= {}));
