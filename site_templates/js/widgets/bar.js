// The bar at the foot of the page: says when figures show something else than the prose speaks of.
(function (Article) {
  "use strict";

  /** @type {HTMLElement | undefined} */
  let bar;

  /** @param {string} text empty takes the bar away */
  function say(text) {
    bar ??= make();
    bar.hidden = text === "";
    /** @type {HTMLElement} */ (bar.querySelector("p")).textContent = text;
  }

  function make() {
    const made = document.createElement("aside");
    made.className = "state-bar";
    made.setAttribute("aria-label", Article.text("bar_label"));
    const line = document.createElement("p");
    line.setAttribute("role", "status");
    const back = document.createElement("button");
    back.type = "button";
    back.textContent = Article.text("bar_reset");
    back.addEventListener("click", () => Article.state.reset());
    made.append(line, back);
    document.body.append(made);
    return made;
  }

  Article.bar = { say };
})((window.Article ??= {}));
