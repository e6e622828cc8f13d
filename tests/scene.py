"""A page that follows the reader, in Chromium: setting its state, reading what it then shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from playwright.sync_api import Locator, Page

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
READ_FACES = """(figure) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const face = (elements, texts, fill) => ({
    digits: texts.map((text) => text.textContent.trim()),
    fills: elements.map((element) => rgb(fill(element))),
    edges: elements.map((element) => {
      const { left, top, right, bottom } = element.getBoundingClientRect();
      return [left, top, right, bottom];
    }),
  });
  const cells = [...figure.querySelectorAll("tbody td")];
  const marks = [...figure.querySelectorAll(".matrix-live .cells_marks path")];
  const texts = [...figure.querySelectorAll(".matrix-live .digits_marks text")];
  return [
    face(cells, cells, (cell) => getComputedStyle(cell).backgroundColor),
    face(marks, texts, (mark) => mark.getAttribute("fill")),
  ];
}"""
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


def check_faces(figure: Locator) -> list[str]:
    """Both faces of a matrix show the same, in the same place; return the digits."""
    table, chart = ask(figure, READ_FACES)
    assert chart["digits"] == table["digits"]
    np.testing.assert_allclose(chart["edges"], table["edges"], atol=0.5)
    np.testing.assert_allclose(chart["fills"], table["fills"], atol=1)  # of 255
    digits: list[str] = table["digits"]
    return digits


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
