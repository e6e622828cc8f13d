// Another seed: the same recipe from other random numbers, and what then becomes of the text.
//
// The weights come with the site. Numbers of the text are rewritten, claims say whether they hold for
// the seed, and what there is only for the article's own says so.
(function (Article) {
  "use strict";

  const { make } = Article;
  const { seeds = "" } = document.body.dataset;
  /** The article's own comes first. */
  const [article, ...others] = seeds.split(" ").filter(Boolean).map(Number);
  /** What the build has stored about interventions. */
  const EFFECTS = ".effects, .effect-table, .share-effect";
  const OWN = `.timeline, .training, figure.curve, .quiz:not(.review *), .review, .digest-list, ${EFFECTS}`;

  const isOther = (seed) => others.includes(seed);
  const isListed = (seed) => isOther(seed) || seed === article;
  const name = (seed = article) => Article.text("seed_name", { seed });

  function mount() {
    const label = Article.text("seed_label");
    const options = [article, ...others].map((seed) => new Option(name(seed), String(seed)));
    const select = make("select", { className: "seed-chooser", title: label, ariaLabel: label }, ...options);
    document.querySelector(".site-header").children[document.querySelector(".problem-chooser") ? 1 : 0].after(select);
    select.addEventListener("change", () => {
      const seed = Number(select.value);
      Article.state.set({ seed: isOther(seed) ? seed : null, step: null }); // the way there is kept of one seed only
    });
    for (const type of ["pointerenter", "focus"]) select.addEventListener(type, () => Article.data.seeds().catch(() => {}));
    Article.state.subscribe(({ seed }) => {
      select.value = String(isOther(seed) ? seed : article);
      select.classList.toggle("is-other", isOther(seed));
    });
    const notes = [...document.querySelectorAll(OWN)].map((part) => {
      const note = make("p", { className: "own-seed", hidden: true }, Article.text("seed_own", { name: name() }));
      part.before(note);
      return note;
    });
    document.addEventListener("article:scene", ({ detail: { run } }) => {
      for (const note of notes) note.hidden = run.seed === null;
      for (const control of document.querySelectorAll(":is(.timeline, .training) :is(input, button)")) control.disabled = run.seed !== null;
    });
  }

  /** @returns {string} the seed that is looked at, and how many claims it denies */
  function told({ seed, claims }) {
    const all = Object.values(claims), failed = all.filter(({ holds }) => !holds).length;
    return all.length ? Article.text("seed_told", { name: name(seed), count: all.length, failed }) : name(seed);
  }

  /** What the builder wrote, where the seed is another than when it was last asked for; else null. */
  function changed(element, { seed }) {
    const own = Article.follow.own(element, ({ value }) => ({
      seed: null, nodes: [...element.childNodes], text: element.textContent, title: element.title,
      label: element.ariaLabel, value: Number(value),
    }));
    if (own.seed === seed) return null;
    own.seed = seed;
    return own;
  }

  /** Whether a claim is about tables of evidence, and so the same for every seed: then the census has none of it. */
  const isOfTables = (id, { claims }) => !(id in claims) && Object.keys(claims).length > 0;

  /** The tick behind a sentence. */
  function claim(link, { run }) {
    const id = Article.state.parse(link.hash).section.replace("claim-", "");
    if (run.seed !== null && isOfTables(id, run)) return;
    const own = changed(link, run);
    if (own) show(link, own, run, id, own.nodes, Article.text("seed_holds", { name: name(run.seed), id }));
  }

  /** Whether a claim holds for the seed, seen and heard. */
  function show(element, own, { seed, claims }, id, holding, title) {
    const verdict = claims[id], isFalse = verdict?.holds === false;
    const text = isFalse ? Article.text("seed_fails", { name: name(seed) }) : verdict ? holding : Article.text("seed_unknown", { name: name() });
    element.replaceChildren(...(seed === null ? own.nodes : [text].flat()));
    element.classList.toggle("is-false", isFalse);
    element.title = seed === null ? own.title : verdict && !isFalse ? title : `${text} \u00b7 ${id}`;
    if (element.href) element.ariaLabel = seed === null ? own.label : isFalse || !verdict ? element.title : `${own.text} \u00b7 ${title}`;
  }

  /** A claim in the list of all. */
  function item(element, { run }) {
    const id = element.id.replace("claim-", ""), dt = element.querySelector("dt");
    if (run.seed !== null && isOfTables(id, run)) return;
    const own = changed(element, run);
    if (!own) return;
    const mark = dt.querySelector(".claim") ?? dt.appendChild(make("b", { className: "claim" }));
    show(mark, { nodes: [], title: "" }, run, id, Article.text("seed_holds_short", { name: name(run.seed) }), "");
  }

  /** A number of the training, or of a claim. */
  function number(element, { run }) {
    const own = changed(element, run);
    if (!own) return;
    const { address, format, decimals } = element.dataset;
    const [, source, id, key] = /^(\w+)\.(.+)\.(.+)$/.exec(address) ?? [];
    const value = source === "claims" ? run.claims[id]?.numbers[key] : source === "manifest" ? run.figures[key] : undefined;
    const isSame = value === undefined || value === own.value, isEvery = source === "claims" && isOfTables(id, run);
    const isPlain = format === "exact" && (value === 0 || Math.abs(value) >= 1e-3);
    const form = format === "exact" ? "scientific" : format, { exact, formatted } = Article.number;
    element.textContent = isSame ? own.text : isPlain ? exact(value) : formatted(value, form, decimals);
    element.title = isSame ? own.title : `${address} \u00b7 ${name(run.seed)} \u00b7 ${exact(value)}`;
    element.dataset.value = String(isSame ? own.value : value);
    if (run.seed !== null && value === undefined && !isEvery) element.dataset.only = name();
    else delete element.dataset.only;
  }

  /** How the addresses of numbers begin that another seed has others of, where nothing else says whose they are. */
  const TURNING = ["claims.", "manifest.training.", "training.", "evidence.interventions."];
  const NUMBERS = `:is(${TURNING.map((start) => `[data-address^="${start}"]`)}):not(:is(.quiz, ${EFFECTS}) *, [data-seed])`;
  const WRITERS = { "a.claim": claim, ".claim-item": item, [NUMBERS]: number };

  Article.seed = { mount, name, told, isOther, isListed, WRITERS };
})((window.Article ??= {}));
