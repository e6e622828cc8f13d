"""A link means one thing: it leads somewhere in the site, or out of it, or says why not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from builder.errors import Diagnostic, Location
from builder.links import STATE, Link, dangling, ids_in

ROOT = Path(__file__).parents[1]
BASE = "https://example.org/attention/"
SITE = {
    "index.html": {"rows"},
    "about.html": {"claims", "claim-all-correct"},
    "404.html": set[str](),
    "en/index.html": {"rows", "第一节"},
    "en/about.html": set[str](),
    "assets/style.css": set[str](),
    "assets/favicon.svg": {"mark"},
    "snapshots/manifest.json": set[str](),
}


def followed(href: str, page: str = "index.html", base_url: str = BASE) -> Diagnostic | None:
    return dangling(Link(href, Location("zh/index.md", 7, 3, "text")), page, SITE, base_url)


VALID = [
    "",
    "#",
    "#top",
    "#rows",
    "?x",
    "?x#rows",
    "#rows?problem=7x0&head=1",
    "#rows?problem=7x0&",
    "#?step=120",
    "about.html",
    "./about.html",
    "about.html?x=1#claims",
    "en/../about.html",
    "en/%2E%2E/about.html",
    "about%2Ehtml",
    "404.html",
    "en/index.html",
    "en/index.html#第一节",
    "en/index.html#%E7%AC%AC%E4%B8%80%E8%8A%82",
    "assets/style.css",
    "assets/favicon.svg#mark",
    "snapshots/manifest.json",
    BASE,
    f"{BASE}en/",
    f"{BASE}about.html#claims",
    f"{BASE}#rows",
    "https://example.org/",
    "http://example.org:8080/a%20b?c#d",
    "HTTPS://EXAMPLE.ORG/",
    "https://中文.example/",
    "https://xn--fiq228c.example/",
    "https://user@example.org/",
    "http://localhost",
    "http://127.0.0.1/",
    "http://[::1]:80/",
    "mailto:somebody@example.org",
    "mailto:a@example.org?subject=b",
]


@pytest.mark.parametrize("href", VALID)
def test_a_link_that_leads_somewhere_passes(href: str) -> None:
    assert followed(href) is None


NO_FILE = "leads to no file of the site"
DANGLING = {
    "#nope": ("`#nope`: index.html has no id `nope`", "one of `rows`"),
    "?x#nope": ("`?x#nope`: index.html has no id `nope`", "one of `rows`"),
    "#row": ("`#row`: index.html has no id `row`", "did you mean `rows`?"),
    "#第一": ("`#第一`: index.html has no id `第一`", "one of `rows`"),
    "#%E7%AC%AC": ("`#第`: index.html has no id `第`", "one of `rows`"),
    "#%FF": ("`#%FF`: index.html has no id `\ufffd`", "one of `rows`"),
    "#claims": ("`#claims`: index.html has no id `claims`", "one of `rows`"),
    "#rows?hed=1": ("`#rows?hed=1`: a page has no state `hed`", "did you mean `head`?"),
    "#rows?problem=77x8": ("there is no problem `77x8`", "did you mean `7x8`?"),
    "#rows?problem=7x8&&layer=x": ("`layer` = `x` is not a number", "such as `layer=1`"),
    "#rows?problem": ("there is no problem ``", "the nearest is"),
    "#rows?head=1&layer=one": ("`layer` = `one` is not a number", "such as `layer=1`"),
    "about.html#clams": ("`about.html#clams`: about.html has no id `clams`", "`claims`"),
    "en/about.html#claims": ("has no id `claims`", "did you mean `about.html#claims`?"),
    "assets/style.css#x": ("has no id `x`", "did you mean `assets/style.css`?"),
    "snapshots/manifest.json#x": ("has no id `x`", "did you mean `snapshots/manifest.json`?"),
    "abot.html": (f"`abot.html` {NO_FILE}", "did you mean `about.html`?"),
    "About.html": (f"`About.html` {NO_FILE}", "did you mean `about.html`?"),
    "about": (f"`about` {NO_FILE}", "did you mean `about.html`?"),
    "about.md": (f"`about.md` {NO_FILE}", "did you mean `about.html`?"),
    "about.html/": (f"`about.html/` {NO_FILE}", "did you mean `about.html`?"),
    "关于.html": (f"`关于.html` {NO_FILE}", "did you mean `404.html`?"),
    "%E5%85%B3": (f"`关` {NO_FILE}", "one of"),
    "en": (f"`en` {NO_FILE}", "did you mean `en/index.html`?"),
    "en/": (f"`en/` {NO_FILE}", "did you mean `en/index.html`?"),
    "en//index.html": (f"`en//index.html` {NO_FILE}", "did you mean `en/index.html`?"),
    "en%2Findex.html": (f"`en/index.html` {NO_FILE}", "did you mean `en/index.html`?"),
    "./": (f"`./` {NO_FILE}", ""),
    "../about.html": (f"`../about.html` {NO_FILE}", "did you mean `about.html`?"),
    "/about.html": ("`/about.html` starts at the root of the server", "mean `about.html`?"),
    "//about.html": ("`//about.html` names a server, but not how", "did you mean `about.html`?"),
    "//example.org/x": ("names a server, but not how", "did you mean `https://example.org/x`?"),
    "//": ("`//` names a server, but not how to reach it", ""),
    "http://": ("`http://` names no server", "such as `https://example.org/`"),
    "http:///about.html": ("names no server", "did you mean `about.html`?"),
    "https:about.html": ("`https:about.html` names no server", "did you mean `about.html`?"),
    "https://?x": ("names no server", "such as `https://example.org/`"),
    "https://a..b/": ("names no server", "such as `https://example.org/`"),
    "https://a b/": ("names no server", "such as `https://example.org/`"),
    "http://[bad": ("`http://[bad` is not an address: Invalid IPv6 URL", "such as"),
    "http://a:x/": ("`http://a:x/` is not an address: Port could not be cast", "such as"),
    "http://a:0/": ("names no server", "such as"),
    "mailto:": ("`mailto:` names nobody", "such as `mailto:name@example.org`"),
    "mailto:somebody": ("names nobody", "such as `mailto:name@example.org`"),
    "htps://example.org/": ("do not lead to `htps:`", "did you mean `https`?"),
    "javascript:alert(1)": ("do not lead to `javascript:`", "one of `http`, `https`, `mailto`"),
    "JavaScript:alert(1)": ("do not lead to `javascript:`", "one of `http`, `https`, `mailto`"),
    "java\nscript:alert(1)": ("do not lead to `javascript:`", "one of `http`, `https`"),
    "vbscript:x": ("do not lead to `vbscript:`", "one of `http`"),
    "data:text/html,x": ("do not lead to `data:`", "one of `http`, `https`, `mailto`"),
    "file:///etc/passwd": ("do not lead to `file:`", "one of `http`, `https`, `mailto`"),
    "ftp://example.org/": ("do not lead to `ftp:`", "one of `http`, `https`, `mailto`"),
    "about.html:claims": ("do not lead to `about.html:`", "one of `http`"),
    f"{BASE}abot.html": (f"`{BASE}abot.html` {NO_FILE}", "did you mean `about.html`?"),
    f"{BASE}about.html#no": ("about.html has no id `no`", "one of"),
}


@pytest.mark.parametrize("href", DANGLING)
def test_a_link_that_leads_nowhere_is_one_message_with_the_nearest_that_does(href: str) -> None:
    found = followed(href)
    assert found is not None
    message, hint = DANGLING[href]
    assert message in found.message
    assert hint in found.hint
    assert (found.path, found.line, found.column, found.excerpt) == ("zh/index.md", 7, 3, "text")
    assert found.rule == "dangling-link"


@pytest.mark.parametrize(
    ("href", "nearest"),
    [
        ("abot.html", "about.html"),
        ("abot.html#x", "about.html"),
        ("en/about.html", "about.html"),
        ("snapshots/manifest.json", "../snapshots/manifest.json"),
        ("/en/about.html", "about.html"),
        ("../assets/stile.css", "../assets/style.css"),
        ("about.html#claims", "../about.html#claims"),
    ],
)
def test_the_nearest_file_is_named_as_the_page_would_have_to_write_it(
    href: str, nearest: str
) -> None:
    found = followed(href, "en/index.html")
    assert found is not None
    assert found.hint == f"did you mean `{nearest}`?"
    assert followed(nearest, "en/index.html") is None


def test_a_site_without_an_address_has_no_absolute_links_to_itself() -> None:
    assert followed(f"{BASE}nothing.html", base_url="") is None
    assert followed("about.html", base_url="") is None


def test_ids_are_those_of_elements_in_pages_and_drawings_only() -> None:
    page = b'<p id="a"><b class="x" id="b" data-id="c">id="d" &lt;b id=&quot;e&quot;></b>'
    assert ids_in("en/index.html", page) == {"a", "b"}
    assert ids_in("assets/favicon.svg", page) == {"a", "b"}
    assert ids_in("assets/main.js", page) == frozenset()


def test_the_state_in_a_link_is_what_the_script_reads() -> None:
    script = (ROOT / "site_templates/js/state.js").read_text("utf-8")
    readers = re.search(r"const READERS = \{\n(.*?)\n  \};", script, re.DOTALL)
    assert readers is not None
    assert tuple(re.findall(r"^    (\w+):", readers[1], re.MULTILINE)) == STATE
