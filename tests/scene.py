"""A page that follows the reader, in Chromium: setting its state, reading what it then shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Page

from tests.browser import ask

CHOOSE = """async (change) => {
  const followed = new Promise((resolve, reject) => {
    document.addEventListener("article:rest", resolve, {once: true});
    setTimeout(reject, 60_000, new Error("the page has not followed"));
  });
  Article.state.set(change);
  await followed;
}"""
READ = """() => [...document.querySelectorAll("figure.matrix[data-stage]")].map((figure) => ({
  id: figure.id,
  data: {...figure.dataset},
  where: figure.querySelector(".matrix-where").textContent,
  spoken: figure.querySelector("caption").textContent,
  shape: figure.querySelector(".matrix-shape").textContent,
  columns: [...figure.querySelectorAll("thead th")].map((th) => th.textContent),
  rows: [...figure.querySelectorAll("tbody th")].map((th) => th.textContent),
  stop: figure.querySelector('td[tabindex="0"]')?.ariaLabel ?? "",
  cells: [...figure.querySelectorAll("tbody td")].map((cell) => ({
    ...tests.placed(cell),
    value: cell.dataset.value === undefined ? null : Number(cell.dataset.value),
    text: cell.textContent.trim(),
    name: cell.className,
    share: cell.style.getPropertyValue("--v"),
  })),
}))"""
READ_WORKED = """() => [...document.querySelectorAll("figure.worked")].map((figure) => {
  const cells = (row) => [...row.querySelectorAll("td[data-value]")].map((cell) => (
    {value: Number(cell.dataset.value), text: cell.textContent}
  ));
  const table = figure.querySelector("table");
  return {
    id: figure.id,
    data: {...figure.dataset},
    names: [...table.tBodies[0].rows].map((row) => row.cells[0].textContent),
    lines: [...table.tBodies[0].rows].map(cells),
    totals: [...table.tFoot.rows].flatMap(cells),
  };
})"""
READ_NUMBERS = """() => [
  ...document.querySelectorAll(".value[data-cell]:not(.quiz *)"),
].map((value) => ({
  data: {...value.dataset},
  text: value.textContent,
}))"""
OPEN = """async (selector) => {
  await Article.data.run();
  const found = [];
  for (const number of document.querySelectorAll(selector)) {
    number.click();
    await new Promise(requestAnimationFrame);
    const panel = document.querySelector(".cell-panel:not(.is-closed)");
    const texts = (parts) => [...panel.querySelectorAll(parts)].map((part) => part.textContent);
    found.push({
      text: number.textContent, data: {...number.dataset}, cell: Article.state.get().cell,
      full: texts(".cell-value > *").at(-1), arithmetic: texts(".cell-terms :is(tbody, tfoot) td"),
    });
    Article.state.set({cell: null});
  }
  return found;
}"""


def choose(page: Page, **change: Any) -> None:
    """Change the state, and wait until the whole page has followed."""
    page.evaluate(CHOOSE, change)


def figures(page: Page) -> list[dict[str, Any]]:
    """Every matrix figure of the page: what it shows, and what it says that it shows."""
    found: list[dict[str, Any]] = ask(page, READ)
    return found


def calculations(page: Page) -> list[dict[str, Any]]:
    """Every calculation that is written out."""
    found: list[dict[str, Any]] = ask(page, READ_WORKED)
    return found


def opened(page: Page, selector: str) -> list[dict[str, Any]]:
    """Click one number after the other: each as the page shows it, and what the panel says then."""
    found: list[dict[str, Any]] = page.evaluate(OPEN, selector)
    return found


def numbers(page: Page) -> list[Mapping[str, Any]]:
    """Every number of the model in the prose."""
    found: list[Mapping[str, Any]] = ask(page, READ_NUMBERS)
    return found
