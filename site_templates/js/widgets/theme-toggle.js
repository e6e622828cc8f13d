// The button that goes from the system's theme to light to dark. The choice is remembered.
(function (Article) {
  "use strict";

  const CHOICES = ["auto", "light", "dark"];
  const root = document.documentElement;

  /** @param {HTMLElement} button */
  function mount(button) {
    show(button, root.dataset.theme ?? "auto");
    button.hidden = false;
    button.addEventListener("click", () => {
      const choice = CHOICES[(CHOICES.indexOf(button.dataset.choice) + 1) % CHOICES.length];
      if (choice === "auto") delete root.dataset.theme;
      else root.dataset.theme = choice;
      remember(choice);
      show(button, choice);
      Article.live.repaint();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", Article.live.repaint);
  }

  /**
   * @param {HTMLElement} button
   * @param {string} choice
   */
  function show(button, choice) {
    button.dataset.choice = choice;
    button.ariaLabel = button.title = Article.text(`theme_${choice}`);
  }

  /** @param {string} choice */
  function remember(choice) {
    try {
      localStorage.setItem("theme", choice);
    } catch {
      // Storage is forbidden here: the choice lasts as long as the page.
    }
  }

  Article.theme = { mount };
})((window.Article ??= {}));
