// The layer and the head that figures show, chosen beside the contents; the text speaks of its own.
(function (Article) {
  "use strict";

  /** @param {HTMLElement} contents */
  function mount(contents) {
    const { layers, heads } = contents.dataset;
    const fields = [["layer", layers], ["head", heads]].filter(([name]) => document.querySelector(`[data-follows~="${name}"]`));
    if (fields.length === 0) return;
    const group = document.createElement("div");
    group.className = "place-chooser";
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", Article.text("place_label"));
    group.append(Article.text("place_label"), ...fields.map(([name, count]) => field(name, Number(count))));
    contents.firstElementChild.append(group);
  }

  /**
   * @param {string} name of a field of the state
   * @param {number} count
   */
  function field(name, count) {
    const label = document.createElement("label"), select = document.createElement("select");
    select.append(new Option(Article.text("place_written"), ""));
    for (let index = 0; index < count; index++) select.append(new Option(String(index + 1), String(index)));
    select.addEventListener("change", () => Article.state.set({ [name]: select.value === "" ? null : Number(select.value) }));
    Article.state.subscribe((state) => (select.value = String(state[name] ?? "")));
    label.append(Article.text(`place_${name}`), " ", select);
    return label;
  }

  Article.placeChooser = { mount };
})((window.Article ??= {}));
