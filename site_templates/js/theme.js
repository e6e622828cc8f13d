// Runs before the page is painted, so that a remembered theme does not flash in.
(function () {
  "use strict";
  const root = document.documentElement;
  try {
    const choice = localStorage.getItem("theme");
    if (choice === "light" || choice === "dark") root.dataset.theme = choice;
  } catch {
    // Storage is forbidden here: the system's theme it is.
  }
})();
