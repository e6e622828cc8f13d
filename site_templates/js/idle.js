// Work that can wait.
(function (Article) {
  "use strict";

  /** Milliseconds until it is done anyway: some browsers see no idle time after a click. */
  const PATIENCE = 200;

  /** Milliseconds without a change after which the page is taken to be at rest. */
  Article.REST = 150;

  /** @param {() => void} work for when the page has nothing else to do */
  Article.whenIdle = function (work) {
    if (globalThis.requestIdleCallback) requestIdleCallback(work, { timeout: PATIENCE });
    else setTimeout(work, PATIENCE / 4);
  };
})((window.Article ??= {}));
