"""ToTTo's input and its PARENT written down from their definition, nothing prepared."""

import copy

from tests.oracles.parent import mentioned, sides

# --- Linearization --------------------------------------------------------------------------------


def with_columns(table):
    placed = []
    for row in table:
        start, cells = 0, []
        for cell in row:
            placed_cell = {"start": start, "end": start + cell["column_span"]}
            cells.append(copy.deepcopy(dict(cell)) | placed_cell)
            start += cell["column_span"]
        placed.append(cells)
    return placed


def cell_text(placed, row, index, tag):
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


def titles(example):
    pairs = (
        ("page_title", example["table_page_title"]),
        ("section_title", example["table_section_title"]),
    )
    return "".join(f"<{tag}> {text} </{tag}> " for tag, text in pairs if text)


def subtable(example):
    placed = with_columns(example["table"])
    places = example["highlighted_cells"]
    cells = (cell_text(placed, row, index, "cell") for row, index in places)
    return f"{titles(example)}<table> {''.join(cells)}</table>"


def full_table(example):
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


def parent(output, references, table, highlighted):
    """Return precision, recall and F; every value has a token, and something is highlighted."""
    known = {token for value in table for token in value}
    scores = []
    for reference in references:
        precision, of_reference = sides(output, reference, known, 4)
        weight = 1 - mentioned(reference, highlighted)
        recall = of_reference ** (1 - weight) * (mentioned(output, highlighted) or 1e-5) ** weight
        scores.append((precision, recall, 2 * precision * recall / (precision + recall + 1e-8)))
    return max(scores, key=lambda each: each[2])
