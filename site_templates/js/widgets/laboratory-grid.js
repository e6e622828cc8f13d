// The hundred problems: each cell chooses one, and holds what the model answers to it.
//
// The answers are computed when the page has nothing else to do, one token of all of them at a time.
(function (Article) {
  "use strict";

  const DIGITS = [..."0123456789"];
  /** Two digits and the end: what is longer is wrong, however it goes on. */
  const LONGEST_ANSWER = 3;
  const NOTHING = "\u2205";

  const { make } = Article;

  /** @type {HTMLTableCellElement[][]} [first digit, second digit] */
  let cells;
  /** @type {HTMLTableCellElement | undefined} the problem in view */
  let selected;
  /** @type {HTMLElement} */
  let note;
  /** @type {{labels: string[], choose: (problem: string) => void, shownModel: () => Promise<any>}} */
  let given;
  let isCounting = false, isOutdated = false;

  /**
   * @param {HTMLElement} element
   * @param {typeof given} options tokens as readers see them, what a choice does, and the model that is shown
   */
  function mount(element, options) {
    given = options;
    cells = DIGITS.map((a) => DIGITS.map((b) => {
      const cell = make("td", { tabIndex: -1, role: "gridcell" });
      Object.assign(cell.dataset, { first: a, second: b });
      return cell;
    }));
    const head = (scope, text) => make("th", { scope }, text);
    const table = make("table", { ariaLabel: Article.text("laboratory_grid") },
      make("thead", {}, make("tr", {}, make("td", {}, "\u00d7"), ...DIGITS.map((b) => head("col", b)))),
      make("tbody", {}, ...cells.map((row, a) => make("tr", {}, head("row", DIGITS[a]), ...row))));
    note = make("p", {}, Article.text("laboratory_counting"));
    element.replaceChildren(table, note);
    Article.grid.mount(table, ({ dataset: { first, second } }) => given.choose(`${first}x${second}`));
    refresh();
  }

  /** @param {string} problem the one in view */
  function select(problem) {
    const [first, second] = problem.split("x").map(Number);
    if (selected) selected.ariaSelected = "false";
    selected = cells[first][second];
    Article.grid.stop(selected);
    selected.ariaSelected = "true";
  }

  /** Answer all problems anew with the weights that are shown, soon. */
  function refresh() {
    isOutdated = true;
    if (isCounting) return;
    isCounting = true;
    Article.whenIdle(count);
  }

  async function count() {
    isOutdated = false;
    try {
      const { run, weights, edits } = await given.shownModel();
      const end = run.dataset.vocab.indexOf("<end>");
      const answers = await decoded(run, { weights, edits }, end);
      mark(answers.map((tokens) => ({ tokens, isEnded: tokens.at(-1) === end })), run);
    } catch (error) {
      reportError(error);
      note.textContent = Article.text("laboratory_failed");
    }
    isCounting = false;
    if (isOutdated) refresh();
  }

  /** @returns {Promise<number[][]>} what follows each question, to the end token or the longest answer */
  async function decoded({ sizes, dataset }, { weights, edits }, end) {
    const sequences = dataset.problems.map(({ tokens, prompt }) => tokens.slice(0, prompt).map((token) => dataset.vocab.indexOf(token)));
    const asked = sequences.map(({ length }) => length);
    for (let written = 0; written < LONGEST_ANSWER; written++) {
      Article.engine.writeNext(sizes, weights, sequences.filter((tokens) => tokens.at(-1) !== end), edits);
      await new Promise((resolve) => Article.whenIdle(resolve));
    }
    return sequences.map((tokens, i) => tokens.slice(asked[i]));
  }

  /** Write the answers into the cells, and count those that are right. */
  function mark(answers, { dataset }) {
    let correct = 0;
    dataset.problems.forEach(({ problem, tokens, prompt }, i) => {
      const [first, second] = problem.split("x").map(Number);
      const cell = cells[first][second];
      const { tokens: written, isEnded } = answers[i];
      const words = (isEnded ? written.slice(0, -1) : written).map((id) => given.labels[id]);
      const short = words.slice(0, LONGEST_ANSWER - 1).map((word) => (word.length > 1 ? "\u00b7" : word)).join("");
      const isRight = written.map((id) => dataset.vocab[id]).join("") === tokens.slice(prompt).join("");
      if (isRight) correct++;
      cell.textContent = isEnded ? short || NOTHING : `${short}\u2026`;
      cell.classList.toggle("is-wrong", !isRight);
      cell.ariaLabel = isRight ? null : Article.text("laboratory_wrong_answer", { answer: words.join("") || NOTHING });
    });
    note.textContent = Article.text("laboratory_correct", { correct, total: dataset.problems.length });
    note.dataset.correct = String(correct);
  }

  Article.laboratoryGrid = { mount, select, refresh };
})((window.Article ??= {}));
