"""What a block is given, and what it may say when it cannot be drawn."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from html import escape
from typing import Any

from builder.content.site import Chapter, Site, nearest_problem
from builder.content.strings import Texts
from builder.errors import Diagnostics, did_you_mean
from builder.links import Link
from builder.numbers.lookup import Numbers
from model.snapshot import STAGES

Options = Mapping[str, type]
"""Option name -> `str`, `int`, `bool`, `list` (of labels and indices), or `object` for one of these
labels or indices."""

WHERE: Options = {"problem": str, "stage": str}
FIGURE: Options = {"id": str, "caption": str}
NUMBERS: Options = {
    **WHERE,
    **FIGURE,
    "target": object,
    "until": str,
    "decimals": int,
    "follow": list,
}
"""Of a figure that shows numbers of one problem, up to a token if `until` says so."""


TEMPLATE_IDS = frozenset({"chapter-list-title", "content"})
"""What the templates call elements of every page."""

_GIVEN_OUT = re.compile(r"(fig-|fn|fnref)[0-9]+(-.*)?|chart-[0-9a-f]{8}-[0-9]+")


class Body(Enum):
    """What stands between the opening and the closing colons."""

    OPTIONS = "YAML options"
    MARKDOWN = "Markdown"
    TEXT = "text that the block reads itself"


class Argument(Enum):
    """Whether something follows the name on the opening line."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


class BlockError(Exception):
    """A block or role that cannot be drawn.

    `option` is the option at fault, if any; `place` is the line and column where the trouble is
    known more exactly than by block or option.
    """

    def __init__(
        self,
        rule: str,
        message: str,
        hint: str = "",
        option: str = "",
        place: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.hint = hint
        self.option = option
        self.place = place


@dataclass
class Ids:
    """The ids of one page: given ones are checked, the others are counted out."""

    taken: dict[str, int] = field(default_factory=dict)
    n_figures: int = 0
    n_equations: int = 0

    def take(self, wanted: str, line: int) -> str:
        """Return an id that the author chose.

        Raises
        ------
        BlockError
            If it is not plain ASCII, is the builder's or the templates' to give, or is taken.
        """
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", wanted):
            hint = "a letter, then letters, digits, `-` and `_`, all ASCII"
            raise BlockError("bad-id", f"`{wanted}` cannot be an id", hint, "id")
        if wanted in TEMPLATE_IDS or _GIVEN_OUT.fullmatch(wanted):
            message = f"`{wanted}` is given out automatically"
            raise BlockError("bad-id", message, "choose another name", "id")
        return self.reserve(wanted, line)

    def reserve(self, made: str, line: int) -> str:
        """Return an id that a block makes for an element, or raise BlockError if it is taken."""
        if made in self.taken:
            message = f"the id `{made}` is already given on line {self.taken[made]}"
            raise BlockError("duplicate-id", message, "", "id")
        self.taken[made] = line
        return made

    def part(self, whole: str, name: str) -> str:
        """Return the id of a part of an element that has one, such as `fig-1-name`."""
        return self.reserve(f"{whole}-{name}", self.taken[whole])

    def figure(self, wanted: str | None, line: int) -> str:
        """Return the id of the next figure: the one wanted, or `fig-N` in page order."""
        self.n_figures += 1
        return self.take(wanted, line) if wanted else self.reserve(f"fig-{self.n_figures}", line)


@dataclass(frozen=True)
class Context:
    """Everything that the blocks of one page may use.

    Attributes
    ----------
    chapter, site, texts
        The page, the site, and the words of the interface.
    numbers
        Numbers by address, with the snapshot and the claims that they come from.
    diagnostics
        Receives every problem.
    svg
        Renders the chart of a figure, by the figure's id, from a Vega-Lite specification to an
        inline SVG.
    ids, links
        The ids given out on this page, and where it links to.
    can_follow
        Whether numbers and problems in sentences may follow what the reader looks at.
    """

    chapter: Chapter
    site: Site
    texts: Texts
    numbers: Numbers
    diagnostics: Diagnostics
    svg: Callable[[str, dict[str, Any]], str]
    ids: Ids = field(default_factory=Ids)
    links: list[Link] = field(default_factory=list)
    can_follow: bool = True

    def words(self, name: str, /, **values: object) -> str:
        """Return a text of the interface, its `{places}` filled in.

        Raises
        ------
        BuildError
            If there is no such text, or if it has other places.
        """
        return self.texts.filled(name, self.chapter.language.code, values)

    def html(self, name: str, /, **filled: str) -> str:
        """Return a text of the interface as HTML, its `{places}` filled in with HTML."""
        text = escape(self.words(name, **{place: f"\0{place}\0" for place in filled}))
        return re.sub("\0(.*?)\0", lambda marked: filled[marked[1]], text)


@dataclass(frozen=True)
class Directive:
    """One block as it stands in a chapter.

    Attributes
    ----------
    name, argument
        From the opening line.
    options
        Values of the right type; an option that was not given is None.
    body
        Rendered HTML for a Markdown body, the source for a text body, else empty.
    line
        Line of the opening colons in the file.
    inline
        Renders inline Markdown that came from the option of that name, or from the argument
        if the name is empty.
    """

    name: str
    argument: str
    options: Mapping[str, Any]
    body: str
    line: int
    inline: Callable[[str, str], str]

    def required(self, option: str) -> Any:
        """Return the value of an option that must be given."""
        value = self.options.get(option)
        if value is None:
            message = f"`{self.name}` needs the option `{option}`"
            raise BlockError("missing-option", message)
        return value

    @cached_property
    def caption(self) -> str:
        """The author's caption as HTML, or empty; rendered once, so that its links count once."""
        text = self.options.get("caption")
        return self.inline(text, "caption") if text else ""

    @property
    def figcaption(self) -> str:
        """The caption as an element, or empty."""
        return f"<figcaption>{self.caption}</figcaption>" if self.caption else ""


@dataclass(frozen=True, slots=True)
class Role:
    """What one inline role is given, such as ``probs[=,5] decimals=4``."""

    target: str
    options: Mapping[str, str]
    line: int


def no_target(address: str) -> BlockError:
    """Return the error for a target where no gradient asks for one."""
    message = f"`{address}` is no gradient, so it has no target"
    hint = "leave `target` out, or ask for a gradient with `∂`"
    return BlockError("no-target", message, hint, "target")


def where(options: Mapping[str, Any], context: Context) -> tuple[str, str]:
    """Return the stage and the problem that options ask for, or those of the chapter."""
    stage = options.get("stage") or "trained"
    problem = options.get("problem") or context.chapter.problem
    if stage not in STAGES:
        hint = did_you_mean(stage, STAGES)
        raise BlockError("unknown-stage", f"there is no stage `{stage}`", hint, "stage")
    task = context.chapter.task
    if problem not in task.by_name:
        message = f"there is no problem `{problem}`"
        raise BlockError("unknown-problem", message, nearest_problem(problem, task), "problem")
    return stage, problem
