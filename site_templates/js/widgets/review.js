// The review: what is due stands first, what was missed before all else, and progress can be taken along.
(function (Article) {
  "use strict";

  const { progress, quiz } = Article;

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
    document.addEventListener("article:progress", arrange);
    part("controls").addEventListener("click", ({ target }) => COMMANDS[target.dataset.do]?.());
    part("controls").addEventListener("change", take);
    arrange();
  }

  /** Move what is due to the top: the missed first, then what has waited longest. What was answered just now stays. */
  function arrange() {
    const kept = progress.read(), due = [];
    const rank = ({ dataset }) => (([box, day]) => (box ? day : -1))(kept[dataset.item]);
    for (const [item, home] of homes) {
      const isDue = !quiz.isAnswered(item) && /missed|due/.test(progress.look(item.dataset.item).state);
      if (isDue) due.push(item);
      else if (!quiz.isAnswered(item) || home.contains(item)) home.append(item);
    }
    part("items").append(...due.sort((a, b) => rank(a) - rank(b)));
    for (const link of part("chapters").querySelectorAll("a")) {
      const { length } = review.querySelectorAll(`${link.hash} .quiz-item`);
      link.parentElement.hidden = !length;
      link.nextElementSibling.textContent = Article.text("review_items", { length });
    }
    count();
  }

  /** Say how many items wait. */
  function count() {
    const found = { missed: 0, due: 0, unseen: 0, later: 0 };
    for (const [item] of homes) found[progress.look(item.dataset.item).state]++;
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
      say("review_erased");
    },
  };

  /** A file is chosen: its progress joins what is known here. */
  async function take({ target }) {
    const text = await target.files[0]?.text();
    if (text === undefined) return;
    const found = progress.merge(text, homes.map(([item]) => item.dataset.item));
    target.value = "";
    say(found ? "review_taken" : "review_not_taken", found);
  }

  Article.review = { mount };
})((window.Article ??= {}));
