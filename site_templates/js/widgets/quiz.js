// Items of a quiz: choose, check, read why. What was missed comes back below.
//
// What there is to say of each answer stands folded in the item; only the first check of an item counts.
(function (Article) {
  "use strict";

  const { make } = Article;
  let copies = 0;

  /** @param {HTMLElement} quiz */
  function mount(quiz) {
    quiz.querySelectorAll(".quiz-item").forEach(enable);
    Article.progress.tell();
  }

  /** @param {HTMLElement} item */
  function enable(item) {
    const fresh = item.cloneNode(true), fieldset = item.querySelector("fieldset");
    const said = make("div", { className: "quiz-said" });
    said.setAttribute("role", "status");
    let isFirst = true;
    const check = () => {
      const inputs = [...fieldset.elements], at = inputs.findIndex(({ checked }) => checked);
      if (at < 0) return said.replaceChildren(Article.text("quiz_choose"));
      const answer = item.querySelectorAll(".quiz-answers li")[at], { className } = answer;
      const isRight = className === "is-right";
      said.replaceChildren(...answer.cloneNode(true).childNodes);
      said.className = `quiz-said ${className}`;
      inputs[at].parentElement.className = className;
      if (!isFirst) return;
      isFirst = false;
      Article.progress.grade(item.dataset.item, isRight);
      if (!isRight) {
        said.append(Article.text("quiz_below"));
        again(item, fresh);
      }
      item.dispatchEvent(new CustomEvent("article:graded", { bubbles: true }));
    };
    fieldset.after(make("button", { type: "button", onclick: check }, Article.text("quiz_check")), said);
    fieldset.addEventListener("keydown", ({ key }) => key === "Enter" && check());
    fieldset.addEventListener("change", () => said.replaceChildren());
  }

  /** Put an item below the others, as it was before it was answered. */
  function again(item, fresh) {
    const quiz = item.closest(".quiz");
    const below = quiz.querySelector(".quiz-again") ?? make("div", { className: "quiz-again" }, make("p", {}, Article.text("quiz_again")));
    copies++;
    fresh.removeAttribute("id");
    for (const input of fresh.querySelectorAll("input")) Object.assign(input, { name: `copy-${copies}`, checked: false });
    enable(fresh);
    below.append(fresh);
    quiz.append(below);
  }

  Article.quiz = { mount };
})((window.Article ??= {}));
