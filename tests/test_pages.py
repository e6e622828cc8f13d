from __future__ import annotations

import dataclasses
import itertools
import re
import shutil
from pathlib import Path

import pytest

from builder.blocks.directive import TEMPLATE_IDS
from builder.content.site import Chapter, Language, Site
from builder.content.strings import load_texts
from builder.errors import BuildError, Diagnostics
from builder.markdown import Heading, Rendered
from builder.pages.choices import choices
from builder.pages.templates import POLICY, Pages
from builder.pages.view import sitemap
from model.config import PRESETS

TEMPLATES = Path(__file__).parents[1] / "site_templates"
ZH, EN = Language("zh", "中文", "", True), Language("en", "English", "en/", False)
SLUGS = ["index", "isolated-rows", "about"]


def chapter(slug: str, language: Language, title: str) -> Chapter:
    path = f"content/{language.code}/{slug}.md"
    return Chapter(slug, language, path, title, title, f"Summary of {slug}.", "7x8", "", 1)


def make_site(base_url: str = "") -> Site:
    chapters = {("zh", slug): chapter(slug, ZH, f"题 {slug}") for slug in SLUGS}
    chapters["en", "index"] = chapter("index", EN, "Attention")
    titles = {"zh": "注意力", "en": "Attention"}
    preset = PRESETS["multiplication"]
    return Site(titles, titles, [ZH, EN], SLUGS, base_url, preset, {}, chapters)


def make_pages(templates: Path = TEMPLATES, base_url: str = "") -> Pages:
    diagnostics = Diagnostics()
    strings = load_texts(TEMPLATES / "strings.yml", [ZH, EN], diagnostics).strings
    assert list(diagnostics) == []
    return Pages(templates, make_site(base_url), strings)


def body(html: str = "<p>正文</p>", *headings: Heading) -> Rendered:
    return Rendered(html, headings, ())


def made(slug: str = "isolated-rows", language: Language = ZH, base_url: str = "") -> str:
    written = make_site().chapters[language.code, slug]
    return make_pages(base_url=base_url).chapter(written, body())


def hrefs(html: str) -> list[str]:
    return re.findall(r'(?:href|src)="([^"#][^"]*)"', html)


def test_a_chapter_holds_its_body_title_and_description() -> None:
    html = made()
    assert "<p>正文</p>" in html
    assert "<title>题 isolated-rows · 注意力</title>" in html
    assert '<meta name="description" content="Summary of isolated-rows.">' in html
    assert '<meta property="og:title" content="题 isolated-rows">' in html
    assert '<html lang="zh">' in html


def test_every_page_carries_the_policy() -> None:
    pages = make_pages()
    for html in (made(), made("index", EN), pages.placeholder(EN, "about")):
        escaped = POLICY.replace("'", "&#39;")
        assert f'<meta http-equiv="Content-Security-Policy" content="{escaped}">' in html
        assert html.index("Content-Security-Policy") < html.index("<script")
    assert "unsafe-eval" not in POLICY
    assert "default-src 'none'" in POLICY


def test_all_urls_are_relative_without_a_base_url() -> None:
    for html in (made(), made("index", EN), make_pages().placeholder(EN, "about")):
        assert all(not re.match(r"\w+:|/", url) for url in hrefs(html))
        assert "canonical" not in html


def test_a_page_in_a_folder_reaches_the_assets_and_the_other_language() -> None:
    urls = hrefs(made("index", EN))
    assert "../assets/style.css" in urls
    assert "../index.html" in urls


def test_absolute_addresses_appear_with_a_base_url() -> None:
    html = made("index", base_url="https://example.org/a/")
    assert '<link rel="canonical" href="https://example.org/a/">' in html
    assert 'hreflang="en" href="https://example.org/a/en/"' in html
    deeper = made("isolated-rows", base_url="https://example.org/a/")
    assert '<link rel="canonical" href="https://example.org/a/isolated-rows.html">' in deeper


def test_search_engines_are_sent_to_written_pages_only() -> None:
    def languages(html: str) -> list[str]:
        return re.findall(r'<link rel="alternate" hreflang="(\w+)"', html)

    placeholder = make_pages().placeholder(EN, "isolated-rows")
    assert languages(made("index")) == languages(made("index", EN)) == ["zh", "en"]
    assert languages(made("isolated-rows")) == languages(placeholder) == ["zh"]
    noindex = '<meta name="robots" content="noindex">'
    assert noindex in placeholder
    assert noindex not in made("index") + made("index", EN)


def test_previews_get_a_locale_with_its_territory() -> None:
    assert '<meta property="og:locale" content="zh_CN">' in made("index")
    assert '<meta property="og:locale" content="en_US">' in made("index", EN)


def test_chapters_follow_one_another() -> None:
    html = made()
    assert re.search(r'rel="prev" href="index.html"', html)
    assert re.search(r'rel="next" href="about.html"', html)
    assert 'rel="prev"' not in made("index")
    assert 'rel="next"' not in made("about")


def test_contents_list_sections_only_if_there_are_several() -> None:
    headings = [Heading(2, "first", "一"), Heading(3, "second", "<二>"), Heading(4, "deep", "深")]
    written = make_site().chapters["zh", "about"]
    html = make_pages().chapter(written, body("", *headings))
    assert re.findall(r'class="level-(\d)"><a href="#(\w+)">(.*?)</a>', html) == [
        ("2", "first", "一"),
        ("3", "second", "&lt;二&gt;"),
    ]
    assert 'class="contents"' not in make_pages().chapter(written, body("", headings[0]))


def test_a_title_cannot_inject_markup() -> None:
    written = dataclasses.replace(make_site().chapters["zh", "about"], summary='"><script>x')
    assert "<script>x" not in make_pages().chapter(written, body())


def test_a_placeholder_points_to_the_language_that_has_the_chapter() -> None:
    html = make_pages().placeholder(EN, "isolated-rows")
    assert 'href="../isolated-rows.html" hreflang="zh" lang="zh"' in html
    assert '<h1 lang="zh">题 isolated-rows</h1>' in html
    assert "not been written in English" in html


def test_navigation_marks_chapters_that_are_not_written_yet() -> None:
    menu = made("index", EN).split('class="chapter-menu"')[1].split("</nav>")[0]
    marks = [("not yet" in item) for item in menu.split("<li>")[1:]]
    assert marks == [False, True, True]
    assert '<span lang="zh">题 about</span> <small>not yet in English</small>' in menu


def test_the_page_for_wrong_addresses_depends_on_no_other_file() -> None:
    html = make_pages().not_found()
    assert hrefs(html) == []
    assert "<style>" in html
    assert "没有页面" in html
    assert "There is no page here" in html


def test_the_page_for_wrong_addresses_leads_home_if_it_knows_the_way() -> None:
    html = make_pages(base_url="https://example.org/a/").not_found()
    assert hrefs(html) == ["https://example.org/a/", "https://example.org/a/en/"]


def test_the_sitemap_lists_written_pages_only() -> None:
    text = sitemap(make_site("https://example.org/a&b/"))
    assert re.findall("<loc>(.*?)</loc>", text) == [
        "https://example.org/a&amp;b/",
        "https://example.org/a&amp;b/isolated-rows.html",
        "https://example.org/a&amp;b/about.html",
        "https://example.org/a&amp;b/en/",
    ]


@pytest.mark.parametrize(
    ("template", "source", "line", "message"),
    [
        ("chapter.html", "one\n{% if %}\n", 2, "Expected an expression"),
        ("chapter.html", "one\ntwo\n{{ page.nothing }}\n", 3, "nothing"),
        ("chapter.html", "{{ t['page.no_such_text'] }}", 1, "page.no_such_text"),
        ("chapter.html", "one\n{% include 'no.html' %}", 2, "no.html"),
        ("_partials/footer.html", "\n\n{{ 1 + 'a' }}", 3, "unsupported operand"),
        ("_partials/footer.html", "\n{{ 'a' + 1 }}", 2, "concatenate"),
        ("_partials/footer.html", "\n{{ 1 / 0 }}", 2, "division by zero"),
        ("_partials/footer.html", "\n{% include '_partials/footer.html' %}", 2, "recursion"),
        ("chapter.html", "{% extends 'chapter.html' %}", 1, "recursion"),
        ("chapter.html", "\n{{ page.html.format_map() }}", 2, "format_map"),
        ("chapter.html", "{{ '\\ud800' }}", 0, "surrogates"),
        ("chapter.html", "{{ " + "(" * 3000 + "}}", 0, "recursion"),
    ],
)
def test_a_template_error_names_file_and_line(
    tmp_path: Path, template: str, source: str, line: int, message: str
) -> None:
    templates = tmp_path / "site_templates"
    shutil.copytree(TEMPLATES, templates)
    (templates / template).write_text(source, "utf-8")
    with pytest.raises(BuildError) as caught:
        make_pages(templates).chapter(make_site().chapters["zh", "about"], body())
    (found,) = caught.value.diagnostics
    assert (found.path, found.line) == (f"site_templates/{template}", line)
    assert message in found.message
    assert found.rule == "template"


def test_a_template_that_is_no_text_is_itself_at_fault(tmp_path: Path) -> None:
    templates = tmp_path / "site_templates"
    shutil.copytree(TEMPLATES, templates)
    (templates / "base.html").write_bytes(b"one\n\xff")
    with pytest.raises(BuildError, match=r"base\.html:2: error: byte 0xff is not UTF-8 text"):
        make_pages(templates).not_found() and make_pages(templates).placeholder(ZH, "index")


def test_authors_cannot_take_an_id_of_the_templates() -> None:
    templates = "".join(path.read_text("utf-8") for path in TEMPLATES.rglob("*.html"))
    assert set(re.findall(r'\bid="([^"]*)"', templates)) == TEMPLATE_IDS


def test_every_text_of_the_interface_is_used_and_every_use_has_a_text() -> None:
    diagnostics = Diagnostics()
    defined = set(load_texts(TEMPLATES / "strings.yml", [ZH, EN], diagnostics).strings["zh"])
    root = TEMPLATES.parent
    templates = "".join(path.read_text("utf-8") for path in TEMPLATES.rglob("*.html"))
    scripts = "".join(path.read_text("utf-8") for path in TEMPLATES.rglob("*.js"))
    python = "".join(path.read_text("utf-8") for path in (root / "builder").rglob("*.py"))
    used = set(re.findall(r"""t\[["']([\w.]+)["']\]""", templates))
    used |= {f"script.{name}" for name in re.findall(r'Article\.text\("(\w+)"', scripts)}
    assert used <= defined
    used |= {f"script.{name}" for name in re.findall(r'"([a-z]+_\w+)"', scripts)} & defined
    prefixes = [*re.findall(r"""["'](\w+\.\w*)\{""", python), "script.theme_"]
    prefixes += [
        f"script.{name}"
        for name in re.findall(r"`([a-z]+_(?:\w+_)?)\$\{", scripts)
        if name != "cell_"
    ]
    prefixes += [f"script.cell_{name}" for name in ("back", "forward", "close")]
    unused = {
        name
        for name in defined - used
        if not re.search(rf"""["']{name}["']""", python)
        and not any(name.startswith(p) for p in prefixes)
    }
    assert unused == set()


def test_problems_are_chosen_part_by_part_where_all_combinations_are_there() -> None:
    assert choices(["0x5", "0x6", "1x5", "1x6"]) == [["0", "1"], ["5", "6"]]
    for names in (["0x5", "0x6", "1x5"], ["35_26_1", "14_65_4"], ["0x5", "6"], ["1x6"]):
        listed = choices(names)
        assert ["x".join(parts) for parts in itertools.product(*listed)] == names
    assert choices(["0x5", "0x6", "1x5"]) == [["0x5", "0x6", "1x5"]]
