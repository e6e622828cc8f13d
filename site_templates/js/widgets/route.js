// The way of one source: pointing at a token shows it, choosing the token keeps it in view.
//
// The choice works without this, and the numbers on the way follow as those of the prose do.
(function (Article) {
  "use strict";

  /** @param {HTMLElement} figure */
  function mount(figure) {
    const inputs = [...figure.querySelectorAll("input")];
    const written = inputs.findIndex(({ defaultChecked }) => defaultChecked);
    const show = (source) => (inputs[source].checked = true);
    const chosen = () => {
      const { source } = Article.state.get();
      show(inputs[source] ? source : written);
    };
    figure.addEventListener("click", ({ target }) => { // keys do so too; pointing has made the change before
      const source = inputs.indexOf(target);
      if (source >= 0) Article.state.set({ source: source === written ? null : String(source) });
    });
    figure.querySelectorAll("label").forEach((label, source) => {
      label.addEventListener("pointerenter", ({ pointerType }) => pointerType === "mouse" && show(source));
      label.addEventListener("pointerleave", chosen);
    });
    Article.state.subscribe(chosen);
  }

  /**
   * What its numbers are of, and what is made of them.
   *
   * @param {HTMLElement} figure
   * @param {import("./follow").View} view
   */
  function write(figure, view) {
    const own = Article.follow.own(figure, ({ decimals }) => ({ decimals: Number(decimals) }));
    figure.querySelector(".route-where").textContent = Article.follow.where(Article.follow.resolve(own, view), view);
    Article.prose.numbers(figure, view); // they come first
    for (const way of figure.querySelectorAll(".route-way")) {
      const numbers = (row) => [...way.querySelectorAll(`.route-${row} [data-value]`)];
      const [share] = numbers("share");
      numbers("content").forEach(({ dataset }, d) => {
        const brought = Number(share.dataset.value) * Number(dataset.value);
        const span = numbers("brought")[d];
        span.dataset.value = String(brought);
        span.textContent = Article.number.display(brought, own.decimals);
      });
    }
  }

  Article.route = { mount, write };
})((window.Article ??= {}));
