"""Quizzes and the review in Chromium: by mouse, touch and keyboard, and what is kept of them."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from builder.numbers.display import display
from tests import independent, scene
from tests.browser import DESKTOP, PHONE, Chromium, in_every_look
from tests.site_build import BuiltSite
from tests.test_quiz_numbers import ITEMS, Shown, shown

KEY = "attention-quiz"
SCALE = "scores/scale"
DAY = datetime.datetime(2031, 3, 4, 9, 30)

NO_STORAGE = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("denied", "SecurityError"); },
});"""
FULL_STORAGE = """Storage.prototype.setItem = () => {
  throw new DOMException("full", "QuotaExceededError");
};"""


@pytest.fixture(scope="module")
def items(site: BuiltSite) -> dict[str, Shown]:
    return shown(site.folder / "review.html")


def item(page: Page, name: str) -> Locator:
    """The one that was there first; others are its copies."""
    return page.locator(f'.quiz-item[data-item="{name}"]:not(.quiz-again *)')


def copies(page: Page, name: str) -> Locator:
    return page.locator(f'.quiz-again .quiz-item[data-item="{name}"]')


def wrong(known: Shown) -> int:
    return (known.right + 1) % len(known.options)


def answer(place: Locator, index: int) -> None:
    place.locator("label").nth(index).click()
    place.get_by_role("button", name="核对").click()


def kept(page: Page) -> Any:
    """What is stored, by item."""
    text = page.evaluate(f"localStorage.getItem('{KEY}')")
    return None if text is None else json.loads(text)["items"]


def told(place: Locator) -> Locator:
    return place.locator(".quiz-said")


def test_by_mouse_a_wrong_answer_is_explained_and_comes_back_below(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown]
) -> None:
    known = items[SCALE]
    with chromium.visit(site.folder / "scores.html", viewport=DESKTOP) as visit:
        page = visit.page
        first = item(page, SCALE)
        answer(first, wrong(known))
        option = known.options[wrong(known)]
        expect(told(first)).to_contain_text(f"{option} 不对。")
        mistake = ITEMS[SCALE]["mistakes"]
        assert any(each["because"][:6] in told(first).inner_text() for each in mistake)
        assert "归到“错过的，再来一次”" in told(first).inner_text()
        assert [box for box, _ in kept(page).values()] == [0]

        copy = copies(page, SCALE)
        expect(copy).to_have_count(1)
        assert copy.locator("input:checked").count() == 0
        expect(told(copy)).to_be_empty()
        last = page.locator("#quiz > .quiz-item").last
        assert first.locator("input:checked").count() == 1  # the groups are apart
        assert copy.bounding_box()["y"] > last.bounding_box()["y"]  # type: ignore[index]

        answer(copy, known.right)
        expect(told(copy)).to_contain_text(f"{known.options[known.right]} 对。")
        assert [box for box, _ in kept(page).values()] == [1]
        expect(copies(page, SCALE)).to_have_count(1)
        assert visit.complaints == []


def test_the_right_number_is_what_the_stored_weights_make(
    site: BuiltSite, chromium: Chromium
) -> None:
    values = independent.forward(site.folder, "trained", "7x0")
    claims = site.snapshot.document("claims.json")["claims"]
    (head,) = (c["numbers"]["head"] - 1 for c in claims if c["id"] == "head-follows-zero")
    q, k = (values[f"blocks.0.attn.{name}"][head] for name in "qk")
    score = float(sum(q[3] * k[2])) / 2
    with chromium.visit(site.folder / "scores.html") as visit:
        place = item(visit.page, SCALE)
        place.get_by_text(display(score), exact=True).first.click()
        place.get_by_role("button", name="核对").click()
        expect(told(place)).to_contain_text("对。")
        expect(told(place)).to_have_class("quiz-said is-right")
        stated = place.locator("legend .value[data-cell]").all_inner_texts()
        assert stated == [display(float(x)) for x in [*q[3], *k[2]]]


def test_by_touch_on_a_phone(site: BuiltSite, chromium: Chromium, items: dict[str, Shown]) -> None:
    known = items[SCALE]
    with chromium.visit(site.folder / "scores.html", viewport=PHONE, has_touch=True) as visit:
        place = item(visit.page, SCALE)
        for label in place.locator("label").all():
            box = label.bounding_box()
            assert box is not None
            assert box["height"] >= 36
        place.locator("label").nth(known.right).tap()
        place.get_by_role("button", name="核对").tap()
        expect(told(place)).to_contain_text("对。")
        place.locator("summary").tap()
        expect(place.locator(".quiz-answers")).to_be_visible()
        assert kept(visit.page)[SCALE][0] == 1
        assert visit.fits()


def test_by_keyboard_alone(site: BuiltSite, chromium: Chromium, items: dict[str, Shown]) -> None:
    known = items[SCALE]
    with chromium.visit(site.folder / "scores.html", viewport=DESKTOP) as visit:
        page, place = visit.page, item(visit.page, SCALE)
        place.locator("input").first.focus()
        for _ in range(wrong(known)):
            page.keyboard.press("ArrowDown")
        if wrong(known) == 0:
            page.keyboard.press("Space")
        expect(told(place)).to_be_empty()  # walking through the options answers nothing
        page.keyboard.press("Enter")
        expect(told(place)).to_contain_text("不对。")
        expect(place.locator("input:checked")).to_be_focused()
        page.keyboard.press("Tab")
        expect(place.get_by_role("button", name="核对")).to_be_focused()
        page.keyboard.press("Space")
        expect(told(place)).to_contain_text("不对。")
        page.keyboard.press("Tab")
        expect(place.locator("summary")).to_be_focused()
        page.keyboard.press("Enter")
        expect(place.locator(".quiz-number")).to_be_visible()
        assert "核对" in place.get_by_role("button").first.inner_text()


def test_what_a_screen_reader_is_told(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        place = item(visit.page, "index/what-100-shows")
        group = place.get_by_role("group", name="训练好的模型全部答对")
        expect(group).to_be_visible()
        expect(group.get_by_role("radio")).to_have_count(4)
        expect(place.get_by_role("status")).to_have_count(1)
        expect(place.get_by_role("radio", name="它的损失降到了 0")).not_to_be_checked()
        expect(visit.page.get_by_role("region", name="小测")).to_be_visible()


def test_without_a_choice_it_asks_for_one_and_keeps_nothing(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "scores.html") as visit:
        place = item(visit.page, SCALE)
        place.get_by_role("button", name="核对").click()
        expect(told(place)).to_have_text("先选一个。")
        assert kept(visit.page) is None


def test_only_the_first_check_counts(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown]
) -> None:
    known = items[SCALE]
    with chromium.visit(site.folder / "scores.html") as visit:
        place = item(visit.page, SCALE)
        for index in range(len(known.options)):  # every mistake can be read about
            answer(place, (wrong(known) + index) % len(known.options))
        expect(told(place)).to_contain_text(f"{known.options[known.right]} 对。")
        assert kept(visit.page)[SCALE][0] == 0
        expect(copies(visit.page, SCALE)).to_have_count(1)


def test_an_item_speaks_of_its_own_numbers_whatever_the_page_shows(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "scores.html") as visit:
        page, place = visit.page, item(visit.page, SCALE)
        before = place.inner_text()
        scene.choose(page, problem="3x4", step=60)
        expect(page.locator(".state-bar")).to_be_visible()
        assert place.inner_text() == before


def test_the_number_of_an_item_opens_to_its_arithmetic(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown]
) -> None:
    known = items[SCALE]
    for name in ("scores.html", "review.html"):
        with chromium.visit(site.folder / name, viewport=DESKTOP) as visit:
            place = item(visit.page, SCALE)
            place.locator("summary").click()
            place.locator(".quiz-number .value").click()
            panel = visit.page.locator(".cell-panel")
            expect(panel).to_contain_text("7×0")
            expect(panel).to_contain_text(known.options[known.right])
            assert visit.complaints == []


def test_progress_survives_a_reload_and_orders_the_review(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown]
) -> None:
    missed, known = "limit/proved", "index/n-targets"
    with chromium.visit(site.folder / "review.html") as visit:
        page = visit.page
        status = page.locator(".review-status")
        n = len(ITEMS)
        expect(status).to_have_text(f"错过的 0 道，到期的 0 道，没答过的 {n} 道，还没到期的 0 道。")
        answer(item(page, missed), wrong(items[missed]))
        answer(item(page, known), items[known].right)
        count = f"错过的 1 道，到期的 0 道，没答过的 {n - 2} 道，还没到期的 1 道。"
        expect(status).to_have_text(count)
        expect(item(page, known).locator(".quiz-when")).to_have_text("第 1 格，1 天后到期")
        page.reload()
        expect(status).to_have_text(count)
        due = page.locator(".review-due .quiz-item")
        expect(due).to_have_count(1)
        assert due.get_attribute("data-item") == missed
        assert page.locator(".quiz-item").count() == n
        expect(page.locator("#quiz-limit .quiz-item")).to_have_count(3)


def test_boxes_and_their_days(site: BuiltSite, chromium: Chromium, items: dict[str, Shown]) -> None:
    """As the page of the review says: 0, 1, 3, 7 and 21 days."""
    known = items[SCALE]
    with chromium.visit(site.folder / "review.html") as visit:
        page, now = visit.page, DAY
        for box, days in ((1, 1), (2, 3), (3, 7), (4, 21), (4, 21)):
            page.clock.set_fixed_time(now)
            page.reload()
            answer(item(page, SCALE), known.right)
            assert kept(page)[SCALE][0] == box
            page.clock.set_fixed_time(now + datetime.timedelta(days=days - 1, hours=1))
            page.reload()
            expect(page.locator(".review-due .quiz-item")).to_have_count(0)
            answer(item(page, SCALE), known.right)  # too soon: it stays in its box
            assert kept(page)[SCALE][0] == box
            now += datetime.timedelta(days=days, hours=-2)  # a day of the calendar is enough
            now = now.replace(hour=12)
            page.clock.set_fixed_time(now)
            page.reload()
            expect(page.locator(".review-due .quiz-item")).to_have_count(1)
        answer(item(page, SCALE), wrong(known))
        assert kept(page)[SCALE][0] == 0
        table = page.locator("#rule ~ table").first.inner_text().split()
        assert [int(w) for w in table if w.isdigit()] == [0, 1, 2, 3, 4, 1, 3, 7, 21]


def day(moment: datetime.datetime) -> int:
    return (moment.date() - datetime.date(1970, 1, 1)).days


def store(page: Page, text: str) -> None:
    page.evaluate("([key, text]) => localStorage.setItem(key, text)", [KEY, text])


def progress(**boxes: list[int]) -> str:
    names = {name.replace("__", "/").replace("_", "-"): box for name, box in boxes.items()}
    return json.dumps({"version": 1, "items": names})


def test_the_missed_come_before_the_due_and_the_longest_due_before_the_others(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "review.html") as visit:
        page, today = visit.page, day(DAY)
        store(
            page,
            progress(
                scores__scale=[1, today - 5],
                values__carried=[0, today],
                limit__proved=[2, today - 9],
                votes__cancel=[2, today - 1],
            ),
        )
        page.clock.set_fixed_time(DAY)
        page.reload()
        due = page.locator(".review-due .quiz-item").evaluate_all(
            "(items) => items.map(({dataset}) => dataset.item)"
        )
        assert due == ["values/carried", "limit/proved", "scores/scale"]


@pytest.mark.parametrize("page_name", ["scores.html", "review.html"])
@pytest.mark.parametrize(
    "damaged",
    [
        "{",
        "null",
        '"text"',
        '{"version": 2, "items": {}}',
        '{"version": 1}',
        '{"version": 1, "items": {"a/b": [9, 1]}}',
        '{"version": 1, "items": {"a/b": [0]}}',
        '{"version": 1, "items": {"a/b": "x"}}',
        '{"version": 1, "items": {"a/b": [0.5, 1]}}',
    ],
)
def test_a_damaged_store_is_reset_with_a_notice_and_can_be_downloaded(
    site: BuiltSite,
    chromium: Chromium,
    items: dict[str, Shown],
    page_name: str,
    damaged: str,
) -> None:
    with chromium.visit(site.folder / page_name) as visit:
        page = visit.page
        store(page, damaged)
        page.reload()
        notice = page.locator(".quiz-notice")
        expect(notice).to_contain_text("存着的进度读不出来")
        assert kept(page) is None
        page.reload()  # it is still told
        answer(item(page, SCALE), items[SCALE].right)
        assert kept(page)[SCALE][0] == 1
        with page.expect_download() as download:
            notice.get_by_role("button", name="下载原文").click()
        assert Path(download.value.path()).read_text("utf-8") == damaged
        assert download.value.suggested_filename == f"{KEY}-damaged.txt"
        notice.get_by_role("button", name="不要了").click()
        expect(notice).to_be_empty()
        assert page.evaluate("document.activeElement.closest('.quiz, .review') !== null")
        page.reload()
        expect(page.locator(".quiz-notice")).to_have_count(0)
        assert kept(page)[SCALE][0] == 1
        assert visit.complaints == []


@pytest.mark.parametrize("script", [NO_STORAGE, FULL_STORAGE], ids=["forbidden", "full"])
@pytest.mark.parametrize("page_name", ["scores.html", "review.html"])
def test_storage_that_cannot_be_used_is_said_and_the_quiz_goes_on(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown], page_name: str, script: str
) -> None:
    with chromium.visit(site.folder / page_name) as visit:
        page = visit.page
        page.add_init_script(script)
        page.reload()
        answer(item(page, SCALE), wrong(items[SCALE]))
        expect(told(item(page, SCALE))).to_contain_text("不对。")
        notice = page.locator(".quiz-notice")
        expect(notice).to_contain_text("进度只留到关上这一页为止")
        cause = "不让网页存东西" if script == NO_STORAGE else "满了"
        expect(notice).to_contain_text(cause)
        with page.expect_download() as download:
            notice.get_by_role("button", name="导出进度").click()
        exported = json.loads(Path(download.value.path()).read_text("utf-8"))
        assert exported["items"][SCALE][0] == 0
        expect(copies(page, SCALE)).to_have_count(1)
        if page_name == "review.html":
            expect(page.locator(".review-status")).to_contain_text("错过的 1 道")
        assert visit.complaints == []


FILL = """() => {
  let size = 1 << 22;
  for (let n = 0; size >= 1; n++) {
    try { localStorage.setItem(`filler-${n}`, "x".repeat(size)); } catch { size >>= 1; }
  }
}"""


def test_a_store_that_is_full_says_so_before_anything_is_lost(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown], tmp_path: Path
) -> None:
    with chromium.visit(site.folder / "review.html") as visit:
        page, notice = visit.page, visit.page.locator(".quiz-notice")
        page.evaluate(FILL)
        page.reload()
        expect(notice).to_contain_text("满了")
        take(page, tmp_path, progress(scores__scale=[0, 9]))
        expect(page.locator(".review-said")).to_contain_text("读入了 1 道题的进度")
        expect(page.locator(".review-status")).to_contain_text("错过的 1 道")
        expect(notice).to_contain_text("满了")
        assert kept(page) is None
        page.evaluate("localStorage.removeItem('filler-0')")
        answer(item(page, SCALE), items[SCALE].right)  # there is room again
        assert kept(page)[SCALE][0] == 1
        expect(notice).to_be_empty()
        assert visit.complaints == []


def test_damaged_progress_is_not_lost_in_a_full_store(site: BuiltSite, chromium: Chromium) -> None:
    damaged = '{"version":1,"items":{"scores/scale":[1,'
    with chromium.visit(site.folder / "scores.html") as visit:
        page, notice = visit.page, visit.page.locator(".quiz-notice")
        store(page, damaged)
        page.evaluate(FILL)
        for _ in range(3):
            page.reload()
            expect(notice).to_contain_text("存着的进度读不出来")
            with page.expect_download() as download:
                notice.get_by_role("button", name="下载原文").click()
            assert Path(download.value.path()).read_text("utf-8") == damaged
        assert visit.complaints == []


def test_what_is_damaged_later_is_kept_beside_what_was_before(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "scores.html") as visit:
        page = visit.page
        for damaged in ("first {", "second {"):
            store(page, damaged)
            page.reload()
        with page.expect_download() as download:
            page.get_by_role("button", name="下载原文").click()
        assert Path(download.value.path()).read_text("utf-8") == "first {\nsecond {"


def test_progress_can_be_taken_to_another_device(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown], tmp_path: Path
) -> None:
    other, own = "limit/proved", "votes/cancel"
    with chromium.visit(site.folder / "review.html") as visit:
        page = visit.page
        answer(item(page, SCALE), wrong(items[SCALE]))
        answer(item(page, other), items[other].right)
        with page.expect_download() as download:
            page.get_by_role("button", name="导出进度").click()
        assert download.value.suggested_filename == f"{KEY}.json"
        file = tmp_path / "progress.json"
        download.value.save_as(file)
        exported = kept(page)
    assert json.loads(file.read_text("utf-8")) == {"version": 1, "items": exported}
    with chromium.visit(site.folder / "review.html") as visit:
        page = visit.page
        later = [3, exported[other][1] + 1]
        mine = {other: later, own: [2, later[1]], SCALE: [4, exported[SCALE][1] - 1]}
        store(page, json.dumps({"version": 1, "items": mine}))
        page.reload()
        page.locator('.review-controls input[type="file"]').set_input_files(file)
        expect(page.locator(".review-said")).to_contain_text("读入了 1 道题的进度。没有动的 1 道")
        assert kept(page) == {other: later, own: mine[own], SCALE: exported[SCALE]}
        due = page.locator(".review-due .quiz-item").first
        assert due.get_attribute("data-item") == SCALE
        assert visit.complaints == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "no progress",
        '{"version": 2, "items": {}}',
        '{"version": 1, "items": "abc"}',
        '{"version": 1, "items": []}',
    ],
)
def test_a_file_without_progress_changes_nothing(
    site: BuiltSite, chromium: Chromium, tmp_path: Path, text: str
) -> None:
    with chromium.visit(site.folder / "review.html") as visit:
        page = visit.page
        store(page, progress(scores__scale=[2, 9]))
        page.reload()
        take(page, tmp_path, text)
        expect(page.locator(".review-said")).to_have_text("这里读不懂这个文件，什么也没有改。")
        assert kept(page) == {SCALE: [2, 9]}


def take(page: Page, folder: Path, text: str) -> None:
    """Import a file."""
    file = folder / "progress.json"
    file.write_text(text, encoding="utf-8")
    page.locator('.review-controls input[type="file"]').set_input_files(file)


@pytest.mark.parametrize(
    ("box", "said"),
    [
        ({}, "读入了 1 道题的进度。没有动的 0 道"),
        ({"nope/nope": [1, 5], "constructor": [1, 5]}, "读入了 1 道题的进度。没有动的 2 道"),
        ({"votes/cancel": [7, 5]}, "读入了 1 道题的进度。没有动的 1 道"),
        ({"votes/cancel": 1}, "读入了 1 道题的进度。没有动的 1 道"),
        ({"votes/cancel": [1, 99_999_999]}, "读入了 1 道题的进度。没有动的 1 道"),
        ({"votes/cancel": [1, 1e300]}, "读入了 1 道题的进度。没有动的 1 道"),
        ({SCALE: [3, 4]}, "读入了 1 道题的进度。没有动的 1 道"),
        ({SCALE: [2, 9]}, "读入了 1 道题的进度。没有动的 1 道"),
    ],
    ids=["all", "unknown", "no-box", "no-entry", "far", "farther", "older", "same"],
)
def test_of_a_file_only_what_is_known_and_newer_is_taken(
    site: BuiltSite, chromium: Chromium, tmp_path: Path, box: dict[str, Any], said: str
) -> None:
    with chromium.visit(site.folder / "review.html") as visit:
        page = visit.page
        store(page, progress(scores__scale=[2, 9]))
        page.reload()
        take(page, tmp_path, json.dumps({"version": 1, "items": {"limit/proved": [0, 8], **box}}))
        expect(page.locator(".review-said")).to_contain_text(said)
        assert kept(page) == {SCALE: [2, 9], "limit/proved": [0, 8]}
        expect(page.locator(".review-status")).to_contain_text("错过的 1 道，到期的 1 道")


def test_an_export_of_nothing_is_understood(
    site: BuiltSite, chromium: Chromium, tmp_path: Path
) -> None:
    with chromium.visit(site.folder / "review.html") as visit:
        take(visit.page, tmp_path, '{"version":1,"items":{}}')
        expect(visit.page.locator(".review-said")).to_contain_text("读入了 0 道题的进度")


def test_progress_is_erased_when_the_reader_is_sure(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "review.html") as visit:
        page = visit.page
        store(page, progress(scores__scale=[0, 9]))
        page.reload()
        expect(page.locator(".review-due .quiz-item")).to_have_count(1)
        page.once("dialog", lambda dialog: dialog.dismiss())
        page.get_by_role("button", name="抹掉进度").click()
        assert kept(page) == {SCALE: [0, 9]}
        erase(page)
        expect(page.locator(".review-said")).to_have_text("进度抹掉了。")
        assert kept(page) is None
        expect(page.locator(".review-due .quiz-item")).to_have_count(0)
        home = page.locator("#quiz-scores .quiz-item").evaluate_all(
            "(items) => items.map(({dataset}) => dataset.item)"
        )
        assert home == [name for name in ITEMS if name.startswith("scores/")]


def erase(page: Page) -> None:
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="抹掉进度").click()


def check_fresh(page: Page, name: str) -> None:
    """As if it had never been answered."""
    place = item(page, name)
    expect(told(place)).to_be_empty()
    expect(place.locator("input:checked")).to_have_count(0)
    expect(place.locator("label.is-right, label.is-wrong")).to_have_count(0)
    expect(copies(page, name)).to_have_count(0)


def test_after_an_erase_every_item_counts_anew(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown]
) -> None:
    known = items[SCALE]
    with chromium.visit(site.folder / "review.html") as visit:
        page, place = visit.page, item(visit.page, SCALE)
        for _ in range(2):
            answer(place, wrong(known))
            expect(copies(page, SCALE)).to_have_count(1)
            answer(copies(page, SCALE), known.right)
            assert kept(page)[SCALE][0] == 1
            erase(page)
            check_fresh(page, SCALE)
            expect(page.locator(".review-status")).to_contain_text("错过的 0 道，到期的 0 道")
        answer(place, known.right)
        assert kept(page)[SCALE][0] == 1
        expect(place.locator(".quiz-when")).to_have_text("第 1 格，1 天后到期")
        assert visit.complaints == []


def test_an_item_that_a_file_has_missed_counts_anew(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown], tmp_path: Path
) -> None:
    other = "limit/proved"
    with chromium.visit(site.folder / "review.html") as visit:
        page = visit.page
        for name in (SCALE, other):
            answer(item(page, name), items[name].right)
        today = kept(page)[SCALE][1]
        take(page, tmp_path, progress(scores__scale=[0, today]))
        expect(page.locator(".review-due .quiz-item")).to_have_count(1)
        check_fresh(page, SCALE)
        expect(told(item(page, other))).not_to_be_empty()  # nothing has changed for it
        answer(item(page, SCALE), items[SCALE].right)
        assert kept(page)[SCALE] == [1, today]


@pytest.mark.parametrize("page_name", ["scores.html", "review.html"])
@pytest.mark.parametrize("event", ["focus", "visibilitychange"])
def test_on_another_day_an_open_page_asks_again(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown], page_name: str, event: str
) -> None:
    known = items[SCALE]
    with chromium.visit(site.folder / page_name) as visit:
        page, place = visit.page, item(visit.page, SCALE)
        page.clock.set_fixed_time(DAY)
        page.reload()
        answer(place, known.right)
        page.clock.set_fixed_time(DAY + datetime.timedelta(hours=2))
        page.evaluate(f"dispatchEvent(new Event('{event}'))")
        expect(told(place)).not_to_be_empty()  # the same day
        page.clock.set_fixed_time(DAY + datetime.timedelta(days=2))
        page.evaluate(f"dispatchEvent(new Event('{event}'))")
        check_fresh(page, SCALE)
        expect(place.locator(".quiz-when")).to_have_text("第 1 格，到期了")
        if page_name == "review.html":
            expect(page.locator(".review-status")).to_contain_text("到期的 1 道")
            expect(page.locator(".review-due .quiz-item")).to_have_count(1)
        answer(place, known.right)
        assert kept(page)[SCALE] == [2, day(DAY) + 2]


def test_a_second_tab_follows(site: BuiltSite, chromium: Chromium, items: dict[str, Shown]) -> None:
    with chromium.visit(site.folder / "review.html") as visit:
        page = visit.page
        answer(item(page, SCALE), wrong(items[SCALE]))
        second = page.context.new_page()
        second.goto(page.url)
        status = second.locator(".review-status")
        expect(status).to_contain_text("错过的 1 道")
        erase(page)
        expect(status).to_contain_text("错过的 0 道")
        expect(second.locator(".review-due .quiz-item")).to_have_count(0)


def test_a_chapter_says_after_a_reload_what_was_missed_and_what_is_due(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown]
) -> None:
    known = items[SCALE]
    with chromium.visit(site.folder / "scores.html") as visit:
        page = visit.page
        when = item(page, SCALE).locator(".quiz-when")
        expect(when).to_be_empty()
        answer(item(page, SCALE), wrong(known))
        page.reload()
        expect(when).to_have_text("错过，现在再答")
        expect(when).to_be_visible()
        check_fresh(page, SCALE)
        answer(item(page, SCALE), known.right)
        expect(when).to_have_text("第 1 格，1 天后到期")


def test_who_comes_back_finds_nothing_chosen(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown]
) -> None:
    with chromium.visit(site.folder / "scores.html") as visit:
        page = visit.page
        answer(item(page, SCALE), wrong(items[SCALE]))
        page.goto((site.folder / "values.html").as_uri())
        page.go_back()
        page.wait_for_load_state()
        check_fresh(page, SCALE)


def test_a_right_answer_after_a_look_at_the_answers_does_not_count(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown]
) -> None:
    known = items[SCALE]
    with chromium.visit(site.folder / "scores.html") as visit:
        page, place = visit.page, item(visit.page, SCALE)
        place.locator("summary").click()
        expect(place.locator(".quiz-answers")).to_be_visible()
        place.locator("summary").click()
        answer(place, known.right)
        expect(told(place)).to_contain_text("先看了答案，这次不算")
        assert kept(page) is None
        page.reload()
        place.locator("summary").click()
        answer(place, wrong(known))  # a wrong one counts nevertheless
        assert kept(page)[SCALE][0] == 0
        copy = copies(page, SCALE)
        answer(copy, known.right)
        expect(told(copy)).not_to_contain_text("不算")
        assert kept(page)[SCALE][0] == 1


def test_a_wrong_mark_goes_when_another_is_chosen(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown]
) -> None:
    known = items[SCALE]
    with chromium.visit(site.folder / "scores.html") as visit:
        place = item(visit.page, SCALE)
        answer(place, wrong(known))
        expect(place.locator("label.is-wrong")).to_have_count(1)
        place.locator("label").nth(known.right).click()
        expect(place.locator("label.is-wrong")).to_have_count(0)
        place.get_by_role("button", name="核对").click()
        expect(place.locator("label.is-right")).to_have_count(1)
        expect(place.locator("label.is-wrong")).to_have_count(0)


def test_numbers_of_a_question_do_not_look_as_if_they_opened(
    site: BuiltSite, chromium: Chromium
) -> None:
    line = "(span) => getComputedStyle(span).borderBottomStyle"
    with chromium.visit(site.folder / "scores.html") as visit:
        place = item(visit.page, SCALE)
        stated = place.locator("legend .value")
        assert {span.evaluate(line) for span in stated.all()} == {"none"}
        stated.first.click()
        expect(visit.page.locator(".cell-panel")).not_to_be_visible()
        assert place.locator(".quiz-number .value").evaluate(line) == "dotted"


def test_in_the_review_a_missed_item_joins_those_that_are_due(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown]
) -> None:
    with chromium.visit(site.folder / "review.html") as visit:
        page = visit.page
        answer(item(page, SCALE), wrong(items[SCALE]))
        due = page.locator(".review-due .quiz-item")
        expect(due).to_have_count(1)
        assert due.get_attribute("data-item") == SCALE
        answer(due, items[SCALE].right)
        assert kept(page)[SCALE][0] == 1
        expect(item(page, SCALE).locator(".quiz-when")).to_have_text("第 1 格，1 天后到期")


def test_a_chapter_whose_items_are_all_due_is_not_listed_as_empty(
    site: BuiltSite, chromium: Chromium
) -> None:
    names = [name for name in ITEMS if name.startswith("index/")]
    with chromium.visit(site.folder / "review.html") as visit:
        page = visit.page
        store(page, json.dumps({"version": 1, "items": {name: [0, 9] for name in names[1:]}}))
        page.reload()
        entry = page.locator('.review-chapters li:has([href="#quiz-index"])')
        expect(entry.locator("span")).to_have_text("1 道")
        expect(page.locator("#quiz-index h3")).to_be_visible()
        store(page, json.dumps({"version": 1, "items": {name: [0, 9] for name in names}}))
        page.reload()
        expect(page.locator(".review-due .quiz-item")).to_have_count(len(names))
        expect(entry).to_be_hidden()
        expect(page.locator("#quiz-index h3")).to_be_hidden()
        erase(page)
        expect(entry.locator("span")).to_have_text(f"{len(names)} 道")
        expect(page.locator("#quiz-index h3")).to_be_visible()


def test_every_control_of_the_review_is_reached_by_keyboard(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "review.html", viewport=DESKTOP) as visit:
        page = visit.page
        page.get_by_role("button", name="导出进度").focus()
        with page.expect_download():
            page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.locator('.review-controls input[type="file"]')).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="抹掉进度")).to_be_focused()
        page.once("dialog", lambda dialog: dialog.accept())
        page.keyboard.press("Space")
        expect(page.locator(".review-said")).to_have_text("进度抹掉了。")


def test_without_scripts_items_read_as_question_and_hidden_answer(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown]
) -> None:
    for name in ("scores.html", "review.html"):
        with chromium.visit(site.folder / name, java_script_enabled=False) as visit:
            page, place = visit.page, item(visit.page, SCALE)
            expect(place.locator("legend")).to_be_visible()
            expect(place.locator("label")).to_have_count(len(items[SCALE].options))
            expect(place.locator(".quiz-answers")).not_to_be_visible()
            place.locator("summary").click()
            expect(place.locator(".quiz-answers li.is-right")).to_be_visible()
            expect(place.locator(".quiz-source a")).to_be_visible()
            assert page.get_by_role("button", name="核对").count() == 0
            for part in page.locator(".review-due, .review-controls").all():
                assert not part.is_visible()


def test_a_link_leads_from_an_item_to_the_section_it_comes_from(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "review.html") as visit:
        item(visit.page, "scores/share").locator(".quiz-source a").click()
        visit.page.wait_for_url("**/scores.html#softmax")
        expect(visit.page.locator("#softmax")).to_be_in_viewport()


@in_every_look
def test_an_answered_quiz_fits_and_has_no_barriers(
    site: BuiltSite,
    chromium: Chromium,
    items: dict[str, Shown],
    viewport: dict[str, int],
    scheme: str,
) -> None:
    for name in ("gradients.html", "review.html"):
        with chromium.visit(site.folder / name, viewport=viewport, color_scheme=scheme) as visit:
            page = visit.page
            store(page, "{")
            page.reload()
            for asked in ("gradients/usefulness", "gradients/one-way"):
                place = item(page, asked)
                answer(place, wrong(items[asked]))
                place.locator("summary").click()
            answer(item(page, "gradients/right-column"), items["gradients/right-column"].right)
            within = "#quiz" if name == "gradients.html" else ".review"
            assert visit.barriers(within) == []
            assert visit.fits()


def test_a_printed_quiz_has_nothing_to_press_and_only_the_answers_that_are_open(
    site: BuiltSite, chromium: Chromium, items: dict[str, Shown]
) -> None:
    missed, other = "limit/proved", "scores/share"
    with chromium.visit(site.folder / "review.html", viewport=DESKTOP) as visit:
        page = visit.page
        store(page, progress(limit__proved=[0, 9]))
        page.reload()
        answer(item(page, SCALE), wrong(items[SCALE]))
        item(page, other).locator("summary").click()
        page.emulate_media(media="print")
        assert not page.get_by_text("核对", exact=True).first.is_visible()
        assert not page.locator(".review-controls").is_visible()
        for name in (SCALE, missed, other):
            expect(item(page, name).locator("legend")).to_be_visible()
        assert not item(page, SCALE).locator(".quiz-said, .quiz-answers").first.is_visible()
        assert not copies(page, SCALE).is_visible()
        expect(item(page, other).locator(".quiz-answers")).to_be_visible()
        hidden = page.locator(".quiz-item details:not([open])")
        assert not any(details.is_visible() for details in hidden.all())
