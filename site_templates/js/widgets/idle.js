// Work that can wait until the page has nothing else to do.
(function (Article) {
  "use strict";

  /** @param {() => void} work */
  Article.whenIdle = function (work) {
    if (globalThis.requestIdleCallback) requestIdleCallback(work);
    else setTimeout(work, 50);
  };
})((window.Article ??= {}));
