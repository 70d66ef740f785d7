"""Whatever a model is called or writes, a report shows it as text."""

import csv
import io
import re
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from spor_tasks.core.visible import visible
from spor_tasks.report.document import csv_field, latex_text, markdown_text

TEXTS = st.text() | st.text("=+-@|\\<>&$%#{}_^~`*[]()\"'\u202e\u2066\u200b\x1b\t\r\n ab1")


@given(TEXTS)
def test_nothing_visible_moves_or_hides_anything(text: str) -> None:
    shown = visible(text)
    assert not {"Cc", "Cf", "Cs", "Zl", "Zp"} & set(map(unicodedata.category, shown))
    assert visible(shown) == shown
    assert len(shown) >= len(text)
    plain = "".join(char for char in text if visible(char) == char)
    assert visible(plain) == plain


@given(TEXTS)
def test_in_markdown_it_is_one_cell_without_markup(text: str) -> None:
    cell = markdown_text(text)
    assert "\n" not in cell
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_\[\]<>#~$]", cell)
    plain = re.sub(r"\\(.)", r"\1", cell.replace("&lt;", "<").replace("&gt;", ">"))
    assert plain == visible(text)


@given(TEXTS)
def test_in_latex_nothing_is_a_command_of_its_own(text: str) -> None:
    bare = latex_text(text)
    for command in re.findall(r"\\([a-zA-Z]+)", bare):
        assert command in {
            *("textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater"),
            *("textbar", "textquotedbl", "dagger", "ddagger"),
        }
    bare = re.sub(r"\\[{}$&#%_]", "", bare)
    assert bare.count("{") == bare.count("}")
    assert not set("#%&_~<>|") & set(bare)
    assert not bare.startswith(("[", "*"))


@given(TEXTS)
@example("@x")
@example(" =x")
@example("+x")
@example("-x")
def test_in_csv_it_is_one_field_and_no_formula(text: str) -> None:
    field = csv_field(text)
    assert not field.lstrip().startswith(("=", "+", "-", "@"))
    file = io.StringIO()
    csv.writer(file).writerow([field, "next"])
    assert list(csv.reader(file.getvalue().splitlines())) == [[field, "next"]]
    assert field.removeprefix("'") == visible(text).removeprefix("'") or field == visible(text)
