"""ToTTo's input and its PARENT written down from their definition, nothing prepared.

They are the oracle of the differential tests and the yardstick of the benchmark: as in the
published code, every table is copied, every n-gram looks into a new set of the table's words, and a
longest common subsequence is a whole table of numbers.
"""

import copy
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Tokens = Sequence[str]

# --- Linearization --------------------------------------------------------------------------------


def with_columns(table: Sequence[Sequence[Mapping[str, Any]]]) -> list[list[dict[str, Any]]]:
    placed = []
    for row in table:
        start, cells = 0, []
        for cell in row:
            placed_cell = {"start": start, "end": start + cell["column_span"]}
            cells.append(copy.deepcopy(dict(cell)) | placed_cell)
            start += cell["column_span"]
        placed.append(cells)
    return placed


def cell_text(placed: Sequence[Sequence[Mapping[str, Any]]], row: int, index: int, tag: str) -> str:
    cell = placed[row][index]
    text = f"<{tag}> {cell['value']} "
    for above in placed[:row]:
        for other in above:
            if other["start"] < cell["end"] and other["end"] > cell["start"] and other["is_header"]:
                text += f"<col_header> {other['value']} </col_header> "
    for other in placed[row][:index]:
        if other["is_header"]:
            text += f"<row_header> {other['value']} </row_header> "
    return text + f"</{tag}> "


def titles(example: Mapping[str, Any]) -> str:
    pairs = (
        ("page_title", example["table_page_title"]),
        ("section_title", example["table_section_title"]),
    )
    return "".join(f"<{tag}> {text} </{tag}> " for tag, text in pairs if text)


def subtable(example: Mapping[str, Any]) -> str:
    placed = with_columns(example["table"])
    places = example["highlighted_cells"]
    cells = (cell_text(placed, row, index, "cell") for row, index in places)
    return f"{titles(example)}<table> {''.join(cells)}</table>"


def full_table(example: Mapping[str, Any]) -> str:
    placed = with_columns(example["table"])
    text = f"{titles(example)}<table> "
    for row, cells in enumerate(placed):
        text += "<row> "
        for index in range(len(cells)):
            is_highlighted = [row, index] in example["highlighted_cells"]
            text += cell_text(placed, row, index, "highlighted_cell" if is_highlighted else "cell")
        text += "</row> "
    return f"{text}</table>"


# --- PARENT ---------------------------------------------------------------------------------------


def ngrams(text: Tokens, order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(text[i : i + order]) for i in range(len(text) - order + 1))


def entailed(ngram: Tokens, table: Sequence[Tokens]) -> float:
    known = {token for value in table for token in value}
    return sum(token in known for token in ngram) / len(ngram)


def mentioned(value: Tokens, text: Tokens) -> float:
    longest: dict[tuple[int, int], int] = {}
    for i in range(len(value) + 1):
        for j in range(len(text) + 1):
            if not i or not j:
                longest[i, j] = 0
            elif value[i - 1] == text[j - 1]:
                longest[i, j] = longest[i - 1, j - 1] + 1
            else:
                longest[i, j] = max(longest[i - 1, j], longest[i, j - 1])
    return longest[len(value), len(text)] / len(value)


def of_order(
    output: Tokens, reference: Tokens, table: Sequence[Tokens], order: int
) -> tuple[float, float]:
    written, expected = ngrams(output, order), ngrams(reference, order)
    weight = {ngram: entailed(ngram, table) for ngram in (*written, *expected)}
    right = 0.0
    for ngram, count in written.items():
        share = min(1.0, expected[ngram] / count)
        right += count * (share + (1 - share) * weight[ngram])
    precision = right / written.total() if written else 0.0
    found = total = 0.0
    for ngram, count in expected.items():
        total += count * weight[ngram]
        found += count * weight[ngram] * min(1.0, written[ngram] / count)
    return precision, found / total if total else 1.0


def geometric_mean(shares: Sequence[float], otherwise: float) -> float:
    smoothed = [shares[0], *(share or 1e-5 for share in shares[1:])]
    if not smoothed[0]:
        return otherwise
    return math.exp(math.fsum(math.log(share) / len(smoothed) for share in smoothed))


def parent(
    output: Tokens,
    references: Sequence[Tokens],
    table: Sequence[Tokens],
    highlighted: Sequence[Tokens],
) -> tuple[float, float, float]:
    """Return precision, recall and F; every value has a token, and something is highlighted."""
    found = []
    for reference in references:
        shares = [of_order(output, reference, table, order) for order in (1, 2, 3, 4)]
        precision = geometric_mean([share for share, _ in shares], 0.0)
        of_reference = geometric_mean([share for _, share in shares], 1e-5)
        told = sum(mentioned(value, output) for value in highlighted) / len(highlighted)
        weight = 1 - sum(mentioned(value, reference) for value in highlighted) / len(highlighted)
        recall = of_reference ** (1 - weight) * (told or 1e-5) ** weight
        found.append((precision, recall, 2 * precision * recall / (precision + recall + 1e-8)))
    return max(found, key=lambda scores: scores[2])
