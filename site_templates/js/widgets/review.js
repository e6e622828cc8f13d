// The review: what is due stands first, what was missed before all else, and progress can be taken along.
(function (Article) {
  "use strict";

  const { progress } = Article;

  /** @type {HTMLElement} */
  let review;
  /** @type {[item: HTMLElement, home: HTMLElement][]} every item, and its place among those of its chapter */
  let homes;

  const part = (name) => /** @type {HTMLElement} */ (review.querySelector(`.review-${name}`));

  /** @param {HTMLElement} element */
  function mount(element) {
    review = element;
    homes = [...review.querySelectorAll(".quiz-item")].map((item) => [item, item.parentElement]);
    for (const name of ["due", "controls"]) part(name).hidden = false;
    review.addEventListener("article:graded", count);
    part("controls").addEventListener("click", ({ target }) => COMMANDS[target.dataset.do]?.());
    part("controls").addEventListener("change", take);
    arrange();
  }

  /** Move what is due to the top: the missed first, then what has waited longest. */
  function arrange() {
    const kept = progress.read(), of = (item) => kept[item.dataset.item];
    const rank = ([box, day]) => (box === 0 ? -1 : day);
    for (const again of review.querySelectorAll(".quiz-again")) again.remove();
    for (const [item, home] of homes) home.append(item);
    const due = homes.map(([item]) => item).filter((item) => of(item) && progress.wait(of(item)) === 0);
    part("items").append(...due.sort((a, b) => rank(of(a)) - rank(of(b))));
    count();
  }

  /** Say how many items wait, and of each when it comes again. */
  function count() {
    const kept = progress.read(), found = { missed: 0, due: 0, unseen: 0, later: 0 };
    for (const [item] of homes) {
      const known = kept[item.dataset.item], days = known && progress.wait(known);
      const state = !known ? "unseen" : days ? "later" : known[0] ? "due" : "missed";
      found[state]++;
      item.querySelector(".quiz-when").textContent = known ? Article.text(`review_${state}`, { box: known[0], days }) : "";
    }
    part("status").textContent = Article.text("review_status", found);
  }

  /** @param {string} name @param {Record<string, any>} [values] */
  function say(name, values) {
    part("said").textContent = Article.text(name, values);
  }

  const COMMANDS = {
    export: progress.save,
    erase() {
      if (!confirm(Article.text("review_sure"))) return;
      progress.erase();
      arrange();
      say("review_erased");
    },
  };

  /** A file is chosen: its progress joins what is known here. */
  async function take({ target }) {
    const text = await target.files[0]?.text();
    if (text === undefined) return;
    const number = progress.merge(text);
    target.value = "";
    arrange();
    say(number ? "review_taken" : "review_not_taken", { number });
  }

  Article.review = { mount };
})((window.Article ??= {}));
