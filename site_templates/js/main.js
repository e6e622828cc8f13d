// Mounts every widget on what it finds in the page. A part that fails leaves the rest alone.
(function (Article) {
  "use strict";

  const PAGES = ':is(.pager, .chapter-menu, .chapter-list, .prose, .network) a[href*=".html"]:not([href*="//"])';
  const PLACES = 'a[href^="#"]:not([href^="#?cell="])';

  /**
   * @param {string} selector
   * @param {(element: HTMLElement) => void} mount
   */
  function mountEach(selector, mount) {
    for (const element of document.querySelectorAll(selector)) {
      try {
        mount(/** @type {HTMLElement} */ (element));
      } catch (error) {
        Article.failure.tell(element, error);
      }
    }
  }

  mountEach(".theme-toggle", Article.theme.mount);
  mountEach(".contents", Article.contents.mount);
  mountEach(".contents", Article.placeChooser.mount);
  mountEach(".prose :is(h2, h3)[id]", Article.contents.mountHeading);
  mountEach(".language-switch a", Article.links.mountLanguage);
  mountEach(`${PAGES}, ${PLACES}`, Article.links.mount);
  mountEach(".chapter-menu details", Article.menu.mount);
  mountEach('math[display="block"], .one-step .worked-scroll', Article.formula.mount);
  mountEach(".worked-table, .votes-table", Article.grid.mount);
  mountEach("figure.matrix", Article.matrix.mount);
  mountEach("figure.product", Article.product.mount);
  mountEach("figure.atlas", Article.atlas.mount);
  mountEach("figure.route", Article.route.mount);
  mountEach("figure.one-step", Article.oneStep.mount);
  mountEach("figure.interventions", Article.interventions.mount);
  mountEach("figure.plane", Article.plane.mount);
  mountEach(".receiver", Article.receiver.mount);
  mountEach(".value[data-cell]:not(label *, legend *)", Article.prose.mount);
  mountEach("[data-opens]", Article.prose.mount);
  mountEach("body:has(.quiz)", Article.progress.mount);
  mountEach(".quiz-item", Article.quiz.mount);
  mountEach(".review", Article.review.mount);
  mountEach("figure.matrix", Article.live.mount);
  mountEach(".training", Article.training.mount);
  mountEach(".timeline", Article.timeline.mount);
  mountEach(".laboratory", Article.laboratory.mount);
  mountEach(".site-header", Article.chooser.mount);
  mountEach("[data-seeds]", Article.seed.mount);
  mountEach("body", Article.bar.mount);
  mountEach("body", Article.scene.mount);
  mountEach("body", Article.cell.mount);
  Article.state.read();
})((window.Article ??= {}));
