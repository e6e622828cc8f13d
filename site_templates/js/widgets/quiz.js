// Items of a quiz: choose, check, read why. What was missed comes back below.
//
// What there is to say of each answer stands folded in the item. Only the first check of an item counts,
// and a right answer only if that was folded until then. An item is fresh again when progress changes
// elsewhere.
(function (Article) {
  "use strict";

  const { make, progress } = Article;
  /** @type {Map<string, string>} what this page knows of the items that it has answered */
  const stamps = new Map();
  let copies = 0;

  const all = (id) => document.querySelectorAll(`[data-item="${id}"]`);

  /** Say when an item comes again. */
  function mark(item) {
    const { state, ...when } = progress.look(item.dataset.item), line = item.querySelector(".quiz-when");
    line.dataset.state = state;
    line.textContent = state === "unseen" ? "" : Article.text(`quiz_${state}`, when);
  }

  /** @param {HTMLElement} item */
  function mount(item) {
    const fresh = item.cloneNode(true), fieldset = item.querySelector("fieldset"), answers = item.querySelector("details");
    const { item: id } = item.dataset, inputs = [...fieldset.elements];
    const said = make("div", { className: "quiz-said", role: "status" });
    let isFirst = true, isSeen = false;

    const say = (className, ...words) => {
      said.className = `quiz-said ${className}`;
      said.replaceChildren(...words);
      for (const { parentElement: label } of inputs) label.className = "";
    };
    const remember = () => stamps.set(id, progress.stamp(id));
    const check = () => {
      const at = inputs.findIndex(({ checked }) => checked);
      if (at < 0) return say("", Article.text("quiz_choose"));
      const answer = answers.querySelectorAll("li")[at], { className } = answer, isRight = className === "is-right";
      say(className, ...answer.cloneNode(true).childNodes);
      inputs[at].parentElement.className = className;
      if (isRight && isSeen) said.append(Article.text("quiz_seen"));
      if (!isFirst) return;
      isFirst = false;
      if (!isRight || !isSeen) progress.grade(id, isRight);
      remember();
      if (!isRight) {
        said.append(Article.text("quiz_below"));
        again(item, fresh.cloneNode(true));
      }
      all(id).forEach(mark);
      item.dispatchEvent(new CustomEvent("article:graded", { bubbles: true }));
    };

    const follow = () => {
      if (stamps.has(id) && stamps.get(id) !== progress.stamp(id)) {
        stamps.delete(id);
        say("");
        isFirst = true;
        isSeen = answers.open = false;
        for (const input of inputs) input.checked = false;
        for (const copy of all(id)) copy === item || copy.remove();
      }
      mark(item);
    };

    for (const input of inputs) input.autocomplete = "off"; // who comes back finds nothing chosen
    fieldset.after(make("button", { type: "button", onclick: check }, Article.text("quiz_check")), said);
    fieldset.addEventListener("keydown", ({ key }) => key === "Enter" && check());
    fieldset.addEventListener("change", () => say(""));
    answers.addEventListener("toggle", () => {
      if (!answers.open || !isFirst) return;
      isSeen = true;
      remember();
    });
    document.addEventListener("article:progress", follow);
    mark(item);
  }

  /** Put an item below the others, in the review on top, as it was before it was answered. */
  function again(item, fresh) {
    const quiz = item.closest(".review")?.querySelector(".review-due") ?? item.closest(".quiz");
    const below = quiz.querySelector(".quiz-again") ?? make("div", { className: "quiz-again" }, make("p", {}, Article.text("quiz_again")));
    copies++;
    fresh.removeAttribute("id");
    for (const input of fresh.querySelectorAll("input")) Object.assign(input, { name: `copy-${copies}`, checked: false });
    mount(fresh);
    below.append(fresh);
    quiz.append(below);
  }

  /** @returns {boolean} whether the reader has answered an item here, and it says how */
  const isAnswered = ({ dataset }) => stamps.has(dataset.item);

  Article.quiz = { mount, isAnswered };
})((window.Article ??= {}));
