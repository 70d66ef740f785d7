"""The examples on pages of the documentation."""

import re

from tests.conftest import REPOSITORY


def python_example(page, word):
    """Return the first Python block of a page that has the word."""
    text = (REPOSITORY / "docs" / page).read_text("utf-8")
    examples = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return next(example for example in examples if word in example)
