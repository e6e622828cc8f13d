"""What stands on a page in place of the items of a quiz until they are put there."""

from __future__ import annotations

SOURCE = "<!--source-->"
"""Stands for the words that lead to an item's section: its own page has others than a review."""


def items_mark(slug: str) -> str:
    """Return what stands in place of the items of a chapter."""
    return f"<!--items of {slug}-->"


def filled(page: str, slug: str, items: str, source: str) -> str:
    """Put the items of a chapter where a page has their mark, and in them the words of the links.

    Parameters
    ----------
    page, slug
        The page, and the chapter whose items it shows.
    items
        Their HTML.
    source
        The words that lead to a section, as HTML.
    """
    return page.replace(items_mark(slug), items.replace(SOURCE, source))
