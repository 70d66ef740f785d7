"""The page in a real browser: it sorts, filters, searches, and runs nothing that a model wrote."""

import re
from itertools import product

from playwright.sync_api import Page, expect

from tests.browser.steps import DESKTOP, PHONE, Opener, choose, count, shown
from tests.support.invented_runs import EVIL_MODEL, HOSTILE


def kind(page: Page, name: str) -> None:
    page.locator("#kinds label", has_text=re.compile(rf"^{re.escape(name)}[\d,]+$")).click()


def titles(page: Page) -> list[str]:
    return page.locator(".row .line:first-child > :first-child").all_inner_texts()


def selected(page: Page) -> str:
    return page.locator(".row:has(:checked) .text").inner_text()


ALL = 18 * 24  # nine arms of two models, and as many samples of each


def test_a_table_sorts_by_numbers_and_by_words_with_empty_cells_last(open_page: Opener) -> None:
    page = open_page()
    table = page.locator("#tables table").first
    header = table.locator("th", has_text="Atom").first
    column = "td:nth-child(4)"

    def values() -> list[float]:
        cells = table.locator(f"tbody:first-of-type {column}")
        found: list[float] = cells.evaluate_all("all => all.map((cell) => +cell.dataset.value)")
        return found

    header.locator("button").click()
    assert header.get_attribute("aria-sort") == "descending"
    assert values() == sorted(values(), reverse=True)
    header.locator("button").press("Enter")
    assert header.get_attribute("aria-sort") == "ascending"
    assert values() == sorted(values())
    assert len(set(values())) > 1
    table.locator("th", has_text="model").locator("button").click()
    assert header.get_attribute("aria-sort") is None
    first = table.locator("tbody th").first.inner_text()
    assert first == "base"


def test_the_list_has_all_samples_a_page_at_a_time(open_page: Opener) -> None:
    page = open_page()
    assert count(page) == ALL
    assert page.locator(".row").count() == 100
    page.locator("#page-on").click()
    expect(page.locator("#page")).to_have_text("101–200")
    shown(page, 100)
    for _ in range(3):
        page.locator("#page-on").click()
    expect(page.locator(".row")).to_have_count(ALL % 100)
    expect(page.locator("#page")).to_have_text(f"401–{ALL}")
    expect(page.locator("#page-on")).to_be_disabled()


def test_a_filter_leaves_its_samples(open_page: Opener) -> None:
    page = open_page()
    for name, label, remaining in (
        ("aspect", "systematicity", 6 * 24),
        ("arm", "as is", 4 * 24),
        ("units", "4", ALL // 3),
    ):
        choose(page, name, label)
        assert count(page) == remaining
        page.locator("#clear").click()
        expect(page.locator("#count")).to_have_text(f"{ALL} samples")


def test_kinds_of_error_filter_and_their_counts_are_what_they_leave(open_page: Opener) -> None:
    page = open_page()
    choose(page, "aspect", "rule learnability")
    buttons = page.locator("#kinds label:not([hidden])").all_inner_texts()
    counts = {text.rstrip("0123456789,").strip(): text.split()[-1] for text in buttons}
    assert {"all", "empty", "leak", "phrase missing", "several lines"} <= set(counts)
    for name, number in counts.items():
        kind(page, name)
        assert number.endswith(str(count(page)))
    kind(page, "empty")
    expect(page.locator("#sample .none").first).to_be_visible()
    assert set(page.locator(".row .text").all_inner_texts()) <= {"", "no output"}


def test_search_finds_words_of_outputs_units_and_references(open_page: Opener) -> None:
    page = open_page()
    page.locator("#query").fill("astral letter")
    expect(page.locator("#count")).not_to_have_text(re.compile(rf"^{ALL}"))
    found = count(page)
    assert 0 < found < ALL / 3
    assert set(page.locator(".row .text").all_inner_texts()) == {selected(page)}
    page.locator("#query").fill("BRUNNVIK wickham")  # an object and a subject of one input
    expect(page.locator("#sample")).to_contain_text("Brunnvik")
    page.locator("#query").fill("no such word anywhere")
    expect(page.locator("#count")).to_have_text(f"0 of {ALL} samples")
    expect(page.locator("#sample")).to_be_empty()
    page.locator("#query").fill("")
    expect(page.locator("#count")).to_have_text(f"{ALL} samples")


def test_two_outputs_stand_side_by_side_with_their_marks(open_page: Opener) -> None:
    page = open_page(address="#arm=atom&model=base&kind=fine")
    cards = page.locator(".outputs")
    expect(cards).to_have_count(2)
    assert cards.locator("h4").all_inner_texts() == [
        "base · atom, seed 0",
        "base · combination, seed 0",
    ]
    left, right = cards.nth(0).bounding_box(), cards.nth(1).bounding_box()
    assert left
    assert right
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] < right["x"]
    marks = cards.first.locator("mark.unit")
    units = page.locator(".units tbody tr").count()
    assert marks.count() == units
    marks.first.hover()
    number = marks.first.get_attribute("data-unit")
    assert page.locator("tr.lit").get_attribute("data-unit") == number
    choose(page, "beside", "nothing")
    expect(cards).to_have_count(1)
    choose(page, "beside", "the model as it is")
    expect(cards).to_have_count(2)
    assert cards.locator("h4").nth(1).inner_text() == "base · as is"


def test_samples_are_ordered_by_score_and_by_gap(open_page: Opener) -> None:
    page = open_page(address="#arm=atom&model=base")
    choose(page, "order", "lowest score")
    scores = [float(text) for text in page.locator(".row .value").all_inner_texts()]
    assert scores == sorted(scores)
    choose(page, "order", "largest gap")
    gaps = []
    for _ in range(24):
        shown(page)
        own, other = page.locator(".outputs .values b").evaluate_all(
            "found => [found[0], found[found.length / 2]].map((each) => Number(each.textContent))"
        )
        gaps.append(abs(own - other))
        page.keyboard.press("j")
        page.wait_for_timeout(50)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > gaps[-1]


def test_an_order_sample_shows_both_outputs_and_a_copy_sample_its_phrases(
    open_page: Opener,
) -> None:
    page = open_page(address="#part=main&beside=none")
    assert page.locator(".outputs .output").count() == 2
    orders = page.locator(".outputs .order").all_inner_texts()
    assert orders == ["Output for input order 0 1", "Output for input order 1 0"]
    page = open_page(address="#aspect=rule+learnability&beside=none")
    assert "Entity 1" in page.locator(".card", has_text="Hidden phrases").inner_text()
    kind(page, "leak")
    expect(page.locator("mark.leak, mark.inner").first).to_be_visible()
    expect(page.locator(".note", has_text="leaked:").first).to_be_visible()


def test_everything_can_be_done_with_the_keyboard(open_page: Opener) -> None:
    page = open_page()
    page.keyboard.press("j")
    page.keyboard.press("j")
    shown(page, 2)
    page.keyboard.press("k")
    shown(page, 1)
    page.keyboard.press("/")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type("j")  # a letter here, no command
    expect(page.locator("#query")).to_have_value("j")
    page.keyboard.press("Escape")  # which also empties the field
    expect(page.locator("#query")).not_to_be_focused()
    expect(page.locator("#count")).to_have_text(f"{ALL} samples")
    page.locator("#list :checked").press("ArrowDown")
    shown(page, 2)
    expect(page.locator("#row-2")).to_be_focused()
    page.keyboard.press("j")
    shown(page, 3)
    expect(page.locator("#row-3")).to_be_focused()
    page.keyboard.press("m")
    expect(page.locator("#sample.plain")).to_be_attached()


def test_what_models_wrote_is_text_and_nothing_else(open_page: Opener) -> None:
    page = open_page()
    for hostile in HOSTILE:
        word = max(hostile.split(), key=len)
        page.locator("#query").fill(word)
        expect(page.locator("#sample .output").first).to_contain_text(word[:8])
    assert page.locator("#sample :is(img, script, b b, i)").count() == 0
    assert page.locator("#samples img, #samples script").count() == 0
    model = page.locator("#filter-model option").all_inner_texts()
    assert any("</script><img" in name for name in model)
    assert page.locator("img:not(#plots img)").count() == 0
    assert EVIL_MODEL[:20] in "".join(page.locator("#tables th").all_inner_texts())


def test_characters_that_are_not_seen_are_shown(open_page: Opener) -> None:
    page = open_page()
    page.locator("#query").fill("by the sea")
    page.locator("#query").fill("Greyport\u202elies")
    expect(page.locator("#sample .output .control").first).to_have_text("U+202E")
    codes = page.locator("#sample .output").first.locator(".control").all_inner_texts()
    assert codes == ["U+202E", "U+2066", "U+200B"]
    page.locator("#query").fill("astral")
    expect(page.locator("#sample .output .control").first).to_have_text("U+D800")
    assert "😀" in page.locator("#sample .output").first.inner_text()
    assert page.locator("#sample .output mark").first.inner_text().startswith("Cold Sound")


def test_no_label_hides_anything(open_page: Opener) -> None:
    page = open_page()
    models = page.locator("#filter-model option").all_inner_texts()
    assert any("U+202E" in name for name in models)
    choose(page, "model", next(name for name in models if "U+202E" in name))
    expect(page.locator("#sample .outputs h4").first).to_contain_text("U+202E")
    assert count(page) > 0
    assert page.evaluate(_UNSEEN) == []


_UNSEEN = r"""() => {
  const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
  const shown = [...document.querySelectorAll('body *:not(script)')].flatMap((element) => [
    ...[...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data),
    ...[...element.attributes].filter(({ name }) => name !== 'value').map(({ value }) => value),
  ]);
  return shown.filter((text) => unseen.test(text));
}"""


def test_the_address_keeps_filters_and_sample(open_page: Opener) -> None:
    page = open_page()
    choose(page, "arm", "match")
    page.locator("#query").fill("basin")
    expect(page.locator("#count")).to_contain_text("of")
    page.locator("#list :checked").press("j")
    expect(page).to_have_url(re.compile("query=basin.*sample="))
    left, sample = count(page), shown(page)
    page.reload()
    page.evaluate("started")
    expect(page.locator("#query")).to_have_value("basin")
    assert (count(page), shown(page)) == (left, sample)
    assert page.locator("#filter-arm").input_value() == "match"


def test_an_address_that_makes_no_sense_does_no_harm(open_page: Opener) -> None:
    for address in ("#sample=99999", "#kind=77&units=x&arm=none", "#order=%00", "#%"):
        page = open_page(address=address)
        expect(page.locator("#samples-app")).to_be_visible()
        assert count(page) > 0
        expect(page.locator("#kinds :checked")).to_have_count(1)


def test_nothing_is_wider_than_the_screen(open_page: Opener) -> None:
    for size, part in product((DESKTOP, PHONE), ("part=main", "aspect=rule+learnability")):
        page = open_page(size, address=f"#{part}")
        expect(page.locator("#sample .output").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_on_a_phone_a_sample_opens_below_the_list(open_page: Opener) -> None:
    page = open_page(PHONE)
    page.locator(".row").nth(1).click()
    expect(page.locator("#sample .head h3")).to_be_in_viewport()
    cards = page.locator(".outputs")
    first, second = cards.nth(0).bounding_box(), cards.nth(1).bounding_box()
    assert first
    assert second
    assert first["y"] + first["height"] <= second["y"]


def test_text_stands_out_from_what_is_behind_it(open_page: Opener) -> None:
    """Contrast of at least 4.5 to 1 (WCAG AA), for text on the page, cards and headers."""
    light, dark = (open_page(scheme=scheme).evaluate(_CONTRASTS) for scheme in ("light", "dark"))
    assert len(light) == 15
    assert light != dark  # the system chooses
    for ratios in (light, dark):
        assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}


_CONTRASTS = """() => {
  const probe = document.body.appendChild(document.createElement('p'));
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const luminance = (name) => {
    probe.style.color = `var(--${name})`;
    canvas.fillStyle = getComputedStyle(probe).color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = {};
  for (const back of ['paper', 'card', 'sunk']) {
    for (const text of ['ink', 'soft', 'accent', 'good', 'bad']) {
      const [high, low] = [luminance(text), luminance(back)].sort((a, b) => b - a);
      found[`${text} on ${back}`] = (high + 0.05) / (low + 0.05);
    }
  }
  probe.remove();
  return found;
}"""


def test_controls_have_names_and_headers_a_scope(open_page: Opener) -> None:
    page = open_page()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, summary, a')]
          .filter((each) => !(each.textContent.trim() || each.labels?.length || each.ariaLabel))
          .map((each) => each.outerHTML)"""
    )
    assert nameless == []
    assert page.locator("th:not([scope])").count() == 0
    assert page.locator("img:not([alt])").count() == 0
