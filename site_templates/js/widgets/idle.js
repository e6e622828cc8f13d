// Work that can wait until the page has nothing else to do.
(function (Article) {
  "use strict";

  /** Milliseconds until it is done anyway: some browsers see no idle time after a click. */
  const PATIENCE = 200;

  /** @param {() => void} work */
  Article.whenIdle = function (work) {
    if (globalThis.requestIdleCallback) requestIdleCallback(work, { timeout: PATIENCE });
    else setTimeout(work, PATIENCE / 4);
  };
})((window.Article ??= {}));
