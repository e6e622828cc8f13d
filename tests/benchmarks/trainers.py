"""The same training in the browser's engine, in C and in TensorFlow.js."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Route

from model.snapshot import Snapshot

HERE = Path(__file__).parent
BLOCK = 10
"""Steps that are timed together: a page's clock ticks in tenths of a millisecond."""

TENSORFLOW = ("@tensorflow/tfjs@4.22.0", "@tensorflow/tfjs-backend-wasm@4.22.0")
BACKENDS = ("wasm", "webgl", "cpu")
HOST = "https://tensorflow.invalid/"
"""Nothing is fetched: the answers come from the folder of npm."""

TRAIN = """async ([steps, block]) => {
  const run = await Article.data.run();
  const training = new Article.engine.Training(
    run.sizes, run.recipe, run.dataset, Float64Array.from(run.initial));
  const ms = [], loss = [];
  while (training.steps < steps) {
    const started = performance.now();
    for (let i = 0; i < block; i++) loss.push(training.step().loss);
    ms.push((performance.now() - started) / block);
  }
  return {ms, loss, weights: [...training.weights]};
}"""

PREPARE = """async ([backend, run, host]) => {
  tf.wasm.setWasmPaths(`${host}tfjs-backend-wasm/dist/`);
  if (!await tf.setBackend(backend)) throw new Error(`no backend ${backend}`);
  await tf.ready();
  window.begin = () => prepareTensorFlow(run);
}"""

TRAIN_TENSORFLOW = """([steps, block]) => {
  const step = begin(), ms = [], loss = [];
  while (loss.length < steps) {
    const started = performance.now();
    for (let i = 0; i < block; i++) loss.push(step());
    ms.push((performance.now() - started) / block);
  }
  return {ms, loss, weights: []};
}"""


@dataclass(frozen=True, slots=True)
class Run:
    """Some steps from the initial weights.

    Attributes
    ----------
    ms
        Milliseconds of a step, several times.
    loss
        Loss before each step.
    weights
        All weights after the last step, in order, or nothing.
    """

    ms: list[float]
    loss: list[float]
    weights: list[float]

    @property
    def median(self) -> float:
        """Milliseconds of a step."""
        return statistics.median(self.ms)


Train = Callable[[int], Run]


def engine(browser: Browser, site: Path) -> Train:
    """Train in a page of the site, with its own scripts."""
    page = browser.new_page()
    page.goto((site / "about.html").as_uri())
    return lambda steps: Run(**page.evaluate(TRAIN, [steps, BLOCK]))


@contextmanager
def plain_c(snapshot: Snapshot) -> Iterator[Train]:
    """Train in C."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        program, given = Path(folder, "step"), Path(folder, "input.txt")
        compile_c = ["gcc", "-O3", "-ffp-contract=off", str(HERE / "step.c"), "-lm"]
        subprocess.run([*compile_c, "-o", str(program)], check=True)
        given.write_text("\n".join(map(repr, input_of(snapshot))), encoding="ascii")

        def train(steps: int) -> Run:
            command = [str(program), str(given), str(steps)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            lines = done.stdout.split("\n")[:-1]
            timed = [tuple(map(float, line.split())) for line in lines[:steps]]
            return Run([ms for ms, _ in timed], [x for _, x in timed], [*map(float, lines[steps:])])

        yield train


def input_of(snapshot: Snapshot) -> Iterator[float]:
    """Everything that a step needs, as the numbers that step.c reads."""
    sizes, recipe = snapshot.manifest["model"], snapshot.manifest["training"]
    dataset = snapshot.document("dataset.json")
    names = ("n_layers", "n_heads", "d_model", "d_head", "d_mlp", "d_vocab", "n_ctx", "ln_eps")
    yield from (sizes[name] for name in names)
    names = ("steps", "learning_rate", "beta1", "beta2", "eps", "gradient_grid")
    yield from (recipe[name] for name in names)
    yield len(dataset["problems"])
    for problem in dataset["problems"]:
        yield len(problem["tokens"])
        yield from map(dataset["vocab"].index, problem["tokens"])
    for weights in snapshot.weights("initial").values():
        yield from weights.ravel().tolist()


@contextmanager
def tensorflow(browser: Browser, snapshot: Snapshot) -> Iterator[dict[str, Train]]:
    """Train in TensorFlow.js, on each backend that works here; without npm on none."""
    if not shutil.which("npm"):
        print("npm is not installed: TensorFlow.js is left out")
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        command = ["npm", "install", "--prefix", folder, *quiet, *TENSORFLOW]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"TensorFlow.js cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
            yield {}
            return
        packages = Path(folder, "node_modules", "@tensorflow")
        found = {}
        for backend in BACKENDS:
            try:
                found[backend] = tensorflow_on(backend, browser, snapshot, packages)
                found[backend](BLOCK)
            except Exception as error:
                found.pop(backend, None)
                print(f"TensorFlow.js on {backend} is left out: {str(error).splitlines()[0]}")
        yield found


def tensorflow_on(backend: str, browser: Browser, snapshot: Snapshot, packages: Path) -> Train:
    """Open a page that holds nothing but TensorFlow.js and the step."""

    def answer(route: Route) -> None:
        path = packages / route.request.url.removeprefix(HOST)
        if path.is_file():
            route.fulfill(path=path)
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    page = browser.new_context().new_page()
    page.route(f"{HOST}**", answer)
    page.goto(HOST)
    for script in ("tfjs/dist/tf.min.js", "tfjs-backend-wasm/dist/tf-backend-wasm.min.js"):
        page.add_script_tag(url=HOST + script)
    page.add_script_tag(path=HERE / "step_tensorflow.js")
    run = {
        "sizes": snapshot.manifest["model"],
        "recipe": snapshot.manifest["training"],
        "dataset": snapshot.document("dataset.json"),
        "tensors": snapshot.document("weights/initial.json")["tensors"],
    }
    page.evaluate(PREPARE, [backend, run, HOST])
    return lambda steps: Run(**page.evaluate(TRAIN_TENSORFLOW, [steps, BLOCK]))
