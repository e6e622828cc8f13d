"""Every broken link, anchor and id of a finished site is found, and nothing that is legal."""

from __future__ import annotations

from pathlib import Path

import pytest

from builder.tree import examine_tree

BASE = "https://example.org/attention/"
OTHER_PAGE = '<h1 id="there">There</h1><h2 id="第一节">Section</h2>'


def problems(folder: Path, html: str, base_url: str = "", name: str = "index.html") -> list[str]:
    files = {
        "other.html": OTHER_PAGE,
        "en/index.html": OTHER_PAGE,
        "en/other.html": OTHER_PAGE,
        "assets/style.css": "",
        "assets/a b.svg": "",
        name: html,
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return [str(diagnostic) for diagnostic in examine_tree(folder, base_url)]


LEGAL = [
    '<a href="other.html">',
    '<a href="./other.html">',
    '<a href="en/../other.html">',
    '<a href="other.html#there">',
    '<a href="other.html#%E7%AC%AC%E4%B8%80%E8%8A%82">',
    '<a href="other.html#第一节">',
    '<a href="other.html?query=1#there">',
    '<a href="en/index.html">',
    '<a href="index.html">',
    '<a href="#here" id="here">',
    '<a href="#">',
    '<a href="">',
    "<a>",
    "<a href>",
    '<a href="https://elsewhere.org/nothing.html#no">',
    '<a href="mailto:a@example.org">',
    '<img src="assets/a%20b.svg">',
    '<link rel="stylesheet" href="assets/style.css">',
    '<script src="assets/style.css"></script>',
    '<script>document.write("<a href=nowhere.html id=x>"); "<b id=x>"</script>',
    '<!-- <a href="nowhere.html"> -->',
    '<label for="field"></label><input id="field">',
    '<b id="a"></b><b id="b"></b><p aria-labelledby="a b"></p>',
    '<svg><linearGradient id="g"/><rect fill="url(#g)"/><use href="#g"/></svg>',
    '<svg><clipPath id="c"/><g clip-path="url(\'#c\')" style="fill:url( #c )"/></svg>',
    '<p style="background: url(data:x)"></p>',
    '<b id="A"></b><b id="a"></b>',
]


@pytest.mark.parametrize("html", LEGAL)
def test_legal_references_are_left_alone(tmp_path: Path, html: str) -> None:
    assert problems(tmp_path, html) == []


BROKEN = {
    '<a href="othr.html">': "`othr.html` leads to no file of the site [dangling-link]",
    '<a href="en">': "`en` leads to no file",
    '<a href="en/">': "`en/` leads to no file",
    '<a href="../other.html">': "`../other.html` leads to no file",
    '<a href="other.html#their">': "`other.html#their`: other.html has no id `their`",
    '<a href="#nowhere">': "`#nowhere`: index.html has no id `nowhere`",
    '<a href="index.html#nowhere">': "index.html has no id `nowhere`",
    '<a href="//elsewhere.org/">': "`//elsewhere.org/` names a server, but not how to reach it",
    '<img src="data:image/png;base64,AA">': "pages do not lead to `data:`",
    '<a href="javascript:alert(1)">': "pages do not lead to `javascript:`",
    '<a href="other.html/">': "`other.html/` leads to no file",
    '<a href="/other.html">': "`/other.html` starts at the root of the server, not of the site",
    '<a href="Other.html">': "`Other.html` leads to no file",
    '<a href="http://[bad">': "`http://[bad` is not an address: Invalid IPv6 URL",
    '<img src="no.png">': "`no.png` leads to no file",
    '<video poster="no.png"></video>': "`no.png` leads to no file",
    '<script src="no.js"></script>': "`no.js` leads to no file",
    '<link href="assets/no.css">': "`assets/no.css` leads to no file",
    '<form action="no.html"></form>': "`no.html` leads to no file",
    '<svg><use xlink:href="#no"/></svg>': "has no id `no`",
    '<svg><rect fill="url(#gradient_0)"/></svg>': "has no id `gradient_0`",
    '<svg><g clip-path="url(&quot;#clip1&quot;)"/></svg>': "has no id `clip1`",
    '<label for="no"></label>': "`#no`: index.html has no id `no`",
    '<b id="a"></b><p aria-labelledby="a b"></p>': "`#b`: index.html has no id `b`",
    '<p aria-describedby="no"></p>': "has no id `no`",
    '<p aria-controls="no"></p>': "has no id `no`",
    '<td headers="no"></td>': "has no id `no`",
    '<b id="x"></b>\n<b id="x"></b>': "the id `x` stands on line 1 already [repeated-id]",
    '<svg id="x"></svg><br id="x"/>': "the id `x` stands on line 1 already [repeated-id]",
}


@pytest.mark.parametrize("html", BROKEN)
def test_each_kind_of_broken_reference_is_found(tmp_path: Path, html: str) -> None:
    (problem,) = problems(tmp_path, html)
    assert problem.startswith(f"index.html:{html.count(chr(10)) + 1}: error: ")
    assert BROKEN[html] in problem


def test_the_nearest_file_and_the_nearest_id_are_named(tmp_path: Path) -> None:
    found = problems(tmp_path, '<a href="othr.html"></a><a href="other.html#ther"></a>')
    assert "hint: did you mean `other.html`?" in found[0] + found[1]
    assert "hint: did you mean `there`?" in found[0] + found[1]


def test_links_are_resolved_from_the_page_that_has_them(tmp_path: Path) -> None:
    html = (
        '<a href="../other.html#there"></a><a href="other.html"></a><a href="../assets/style.css">'
    )
    assert problems(tmp_path, html, name="en/page.html") == []
    assert len(problems(tmp_path, '<a href="assets/style.css">', name="en/page.html")) == 1


def test_every_page_is_examined(tmp_path: Path) -> None:
    assert problems(tmp_path, "", name="en/deep/page.html") == []
    assert problems(tmp_path, '<a href="x">', name="en/deep/page.html")[0].startswith(
        "en/deep/page.html:1: "
    )


@pytest.mark.parametrize(
    "target", ["", "index.html", "en/", "other.html#there", "en/#there", "#here"]
)
def test_absolute_links_to_the_site_itself_resolve(tmp_path: Path, target: str) -> None:
    assert problems(tmp_path, f'<a id="here" href="{BASE}{target}">', BASE) == []


@pytest.mark.parametrize("target", ["no.html", "no/", "en/#no", "#no", "en"])
def test_absolute_links_to_the_site_itself_are_followed(tmp_path: Path, target: str) -> None:
    (problem,) = problems(tmp_path, f'<a href="{BASE}{target}">', BASE)
    assert f"`{BASE}{target}`" in problem


def test_an_absolute_link_stands_for_the_site_from_every_page(tmp_path: Path) -> None:
    html = f'<a href="{BASE}other.html"></a><a href="{BASE}en/">'
    assert problems(tmp_path, html, BASE, name="en/deep/page.html") == []
