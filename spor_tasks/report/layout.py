"""Tables of comparisons as a task declares them: which number is in which cell."""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from operator import attrgetter
from types import MappingProxyType

from spor_tasks.core.layouts import Layout
from spor_tasks.report.grid import (
    Content,
    Grid,
    Line,
    Notes,
    Number,
    full_title,
    interval_text,
    joined,
    samples_text,
    section_title,
    source_text,
)
from spor_tasks.results.facts import ScoreFacts
from spor_tasks.results.rows import Cell, Comparison

_ABOUT_FLOORS = (
    "Copy-input repeats the units. Held out: on samples with several references, against all but "
    "the first, which reference is. At most 200 samples."
)


def fill(layouts: Sequence[Layout], rows: Sequence[Comparison]) -> Iterator[Grid]:
    """Yield the tables of a section, each score in the first table that takes it."""
    ours = [row for row in rows if row.kind != "published"]
    parts = [*dict.fromkeys(row.spec.name.part for row in ours)]
    apart = [layout for layout in layouts if layout.by_part == "apart"]
    together = [layout for layout in layouts if layout.by_part == "together"]
    for part in parts if apart else ():
        of_part = [row for row in rows if row.spec.name.part == part]
        yield from _filled(
            apart, of_part, rows, full_title(next(r for r in ours if r.spec.name.part == part))
        )
    title = section_title(rows[0])
    if together or not layouts:
        yield from _filled(together or [Layout(order="given")], rows, rows, title)
    several = {row.name for row in rows if row.kind == "published" and row.spec.name.part}
    compared = [row for row in rows if row.kind != "published" or row.name in several]
    for layout in layouts if len(parts) > 1 else ():
        if layout.by_part == "compared":
            yield from _filled([layout], compared, rows, title)


def _filled(
    layouts: Iterable[Layout],
    rows: Sequence[Comparison],
    section: Sequence[Comparison],
    title: str,
) -> Iterator[Grid]:
    """Yield a table for each layout that has rows."""
    for layout in layouts:
        own = []
        for row in rows:
            name, group = row.spec.score(row.metric)
            is_of_part = not layout.parts or (row.spec.name.part or "") in layout.parts
            is_of_score = not layout.scores or name in layout.scores
            if is_of_part and is_of_score and (not layout.groups or group in layout.groups):
                own.append(row)
        taken = {id(row) for row in own}
        rows = [row for row in rows if id(row) not in taken]
        own = [row for row in own if layout.published or row.kind != "published"]
        if not own:
            continue
        if layout.lines == "score":
            yield from by_arm(own, layout.part)
            continue
        yield by_metric(
            f"{title}, {layout.title}" if layout.title else title,
            _ordered(layout, own),
            partial(_header, layout),
            _captions(layout, own, section),
        )


def _ordered(layout: Layout, rows: Sequence[Comparison]) -> Sequence[Comparison]:
    """Return the rows by part and score, the groups of a score after the first of them."""
    first: dict[str, int] = {}
    for row in rows:
        name, at = row.spec.score(row.metric).name, row.spec.displayed.index(row.metric)
        first[name] = min(at, first.get(name, at))

    def place(row: Comparison) -> tuple[int, int, int]:
        part = layout.parts.index(row.spec.name.part or "") if layout.parts else 0
        if layout.order == "given":
            return part, 0, 0
        at = row.spec.displayed.index(row.metric)
        return part, first[row.spec.score(row.metric).name], at

    return sorted(rows, key=place)


def _header(layout: Layout, row: Comparison) -> str:
    name, group = row.spec.score(row.metric)
    label = row.spec.scores[name].label if name in row.spec.scores else row.score.label
    score = layout.headers.get(f"{row.spec.name.part}.{name}") or layout.headers.get(name) or label
    plain = score if not group else row.score.label
    header = layout.columns[group].format(score=score) if group in layout.columns else plain
    if layout.by_part == "compared":
        return f"{header}, {row.spec.sets.part_title or layout.part}"
    return header


def _captions(
    layout: Layout, rows: Sequence[Comparison], section: Sequence[Comparison]
) -> Iterator[str]:
    """Yield the remarks that hold for a table, with the captions of its tasks."""
    splits = max(row.size.splits for row in section)
    for remark in layout.remarks:
        told = [
            row
            for row in rows
            if not remark.scores
            or any(fnmatchcase(row.spec.score(row.metric).name, each) for each in remark.scores)
        ]
        groups = {row.spec.score(row.metric).group for row in rows}
        if (
            not told
            or (remark.groups and not groups.intersection(remark.groups))
            or (remark.published and all(row.kind != "published" for row in rows))
            or (remark.pooled and splits <= 1)
        ):
            continue
        texts = {remark.text}
        if "{" in remark.text:
            together = {"splits": _together(section[0], splits)}
            own = [row.spec.about.captions | together for row in told if row.kind != "published"]
            texts = {remark.text.format_map(defaultdict(str, each)) for each in own}
        yield from sorted(texts)


def _together(row: Comparison, number: int) -> str:
    """Return which splits of the protocol are put together; empty if it has only one."""
    splits = max(1, int(row.spec.about.captions.get("splits") or 1), number)
    if splits == 1:
        return ""
    return (
        f"{number} of {splits} splits" if 0 < number < splits else f"all {splits} splits together"
    )


# --- One column for each arm ----------------------------------------------------------------------


def by_arm(
    rows: Sequence[Comparison],
    part: str = "part",
    more: Mapping[str, Callable[[Comparison], Content]] = MappingProxyType({}),
) -> Iterator[Grid]:
    """Yield the rows with a column for each arm, then floors with a column for each score.

    ``part`` is the header of the parts, and ``more`` are further columns by their headers. A column
    in which nothing would stand is left out.
    """
    metrics = rows[0].spec.reported
    ordered = sorted(
        (row for row in rows if row.kind != "floor"),
        key=lambda row: (row.spec.name.part or "", metrics.index(row.metric)),
    )
    notes = Notes()
    columns = {**dict(_columns(ordered, part, notes)), **more}

    def lines(kind: str) -> tuple[Line, ...]:
        return tuple(
            tuple(content(row) for content in columns.values())
            for row in ordered
            if row.kind == kind
        )

    yield Grid(
        section_title(rows[0]),
        detectable_text(rows),
        tuple(columns),
        lines("run"),
        lines("published"),
        notes.texts,
        missing=_missing_arms(ordered),
    )
    if floors := [row for row in rows if row.kind == "floor"]:
        yield _floors(floors, part)


def _floors(rows: Sequence[Comparison], part: str) -> Grid:
    """Return a line for each floor of each part, with a column for each score."""
    metrics = {row.metric: row.score for row in rows}
    by_floor: dict[tuple[str, str], dict[str, Comparison]] = defaultdict(dict)
    for row in rows:
        by_floor[_part(row, part), row.model][row.metric] = row
    notes, lines = Notes(), list[Line]()
    parts = [part] if any(row.spec.name.part for row in rows) else []
    for (own_part, name), scores in sorted(by_floor.items()):
        cells = (
            _cell(scores[metric].as_is, score, notes) if metric in scores else Number("")
            for metric, score in metrics.items()
        )
        size = samples_text(next(iter(scores.values())))
        lines.append((name, *([own_part] if parts else []), *cells, size))
    header = ("floor", *parts, *(score.label for score in metrics.values()), "n")
    title = f"{section_title(rows[0])}, floors"
    return Grid(title, "", header, tuple(lines), (), notes.texts, legend=_ABOUT_FLOORS)


def _part(row: Comparison, part: str) -> str:
    return row.spec.sets.facets.get(part, row.spec.sets.part_title or "")


def _columns(
    rows: Sequence[Comparison], part: str, notes: Notes
) -> Iterator[tuple[str, Callable[[Comparison], Content]]]:
    """Yield the header of each column, and what stands in it."""
    arms = [arm.capitalize() for arm in rows[0].spec.arms]
    yield from _names(rows)
    if any(row.spec.name.part for row in rows):
        yield part, partial(_part, part=part)
    yield "metric", lambda row: row.score.label
    if any(row.as_is.values for row in rows):
        yield (
            "as is",
            lambda row: "" if row.kind == "published" else _cell(row.as_is, row.score, notes),
        )
    for at, arm in enumerate(arms):
        if any(row.arms[at].values for row in rows if row.arms):
            yield arm, partial(_cell_of_arm, at, notes, _absent(rows))
    if any(row.difference for row in rows):
        yield " − ".join(arms), lambda row: _difference(row, notes)
    yield "n", samples_text
    if any(map(_seeds, rows)):
        yield "seeds", _seeds


def _names(rows: Iterable[Comparison]) -> Iterator[tuple[str, Callable[[Comparison], str]]]:
    """Yield the column of models, and that of prompts where models were prompted differently."""
    prompts = {row.prompt for row in rows if row.prompt}
    if len(prompts) > 1:
        yield "model", lambda row: row.named(row.differs._replace(prompted=None))
        yield "prompt", attrgetter("prompt")
    else:
        yield "model", attrgetter("name")


def _absent(rows: Iterable[Comparison]) -> dict[str, str]:
    """Return the arms that no model has a result of, with what would give it."""
    cells = [each for row in rows if row.kind == "run" for each in row.by_arm]
    have = {arm for arm, cell in cells if cell.command is None}
    return {arm: cell.command or "" for arm, cell in cells if arm not in have}


def _missing_arms(rows: Sequence[Comparison]) -> str:
    """Return the arms without a result, where there are two to be compared."""
    absent = _absent(rows) if len(rows[0].spec.arms) > 1 else {}
    texts = [f"{arm} ({command})" for arm, command in absent.items() if command]
    return f"No result of {', '.join(texts)}." if texts else ""


def _cell_of_arm(at: int, notes: Notes, absent: Container[str], row: Comparison) -> Number:
    if row.kind != "published" and row.spec.arms[at] in absent:
        return Number("")
    return _cell(row.arms[at], row.score, notes)


# --- One column for each metric -------------------------------------------------------------------


Column = tuple[str | None, str]
"""A column: the part of the sets, and the metric."""


def by_metric(
    title: str,
    rows: Sequence[Comparison],
    header: Callable[[Comparison], str] = lambda row: row.score.label,
    about: Iterable[str] = (),
) -> Grid:
    """Return the rows with a column for each metric, and a line for each arm.

    ``header`` makes the header of a column from a row that has its score. ``about`` are texts
    that follow the number of samples in the caption.
    """
    columns = {(row.spec.name.part, row.metric): header(row) for row in rows}
    models: dict[tuple[str, str], dict[Column, Comparison]] = defaultdict(dict)
    for row in rows:
        models[row.kind, row.name][row.spec.name.part, row.metric] = row
    notes, names = Notes(), dict(_names(rows))
    lines: dict[str, list[Line]] = defaultdict(list)
    for (kind, _), by_column in models.items():
        lines[kind] += _model_lines(by_column, columns, tuple(names.values()), notes)
    has_seeds = any(line[-1] for of_kind in lines.values() for line in of_kind)
    runs, paper, floors = (
        tuple(line if has_seeds else line[:-1] for line in lines[kind])
        for kind in ("run", "published", "floor")
    )
    caption = joined("; ", _counts(rows), *about, detectable_text(rows))
    return Grid(
        title,
        caption,
        (*names, "arm", *columns.values(), *(["seeds"] if has_seeds else [])),
        runs,
        paper,
        notes.texts,
        floors,
        missing=_missing_arms(rows),
    )


def _model_lines(
    by_column: Mapping[Column, Comparison],
    columns: Iterable[Column],
    names: Iterable[Callable[[Comparison], str]],
    notes: Notes,
) -> Iterator[Line]:
    """Yield the lines of one model: as it is, each of its arms, and their difference."""
    rows = tuple(by_column.values())
    arms = rows[0].spec.arms
    measured = {part for part, _ in by_column}

    def line(arm: str, number: Callable[[Comparison], Number], seeds: str = "") -> Line:
        return (
            *(name(rows[0]) for name in names),
            arm,
            *(
                number(by_column[key]) if key in by_column else _missing(absent(key[0]), notes)
                for key in columns
            ),
            seeds,
        )

    def cell_of_arm(at: int, row: Comparison) -> Number:
        return _cell(row.arms[at], row.score, notes)

    def absent(part: str | None) -> str | None:
        if rows[0].kind == "floor":
            return None
        if rows[0].kind == "published":
            return "not in the paper"
        return "not measured" if part in measured else "no result of this task"

    if any(row.as_is.values for row in rows):
        arm = f"n = {rows[0].size.n:,}" if rows[0].kind == "floor" else "as is"
        yield line(arm, lambda row: _cell(row.as_is, row.score, notes))
    for at, arm in enumerate(arms):
        if all(row.arms[at].command is not None for row in rows):
            continue
        seeds = _seeds_of(row.arms[at] for row in rows)
        yield line(arm, partial(cell_of_arm, at), seeds)
    if any(row.difference for row in rows):
        yield line(" − ".join(arms), lambda row: _difference(row, notes))


def detectable_text(rows: Sequence[Comparison]) -> str:
    """Return the smallest differences between arms that so many samples and runs would show."""
    smallest: dict[str, dict[tuple[int, ...], float]] = defaultdict(dict)
    scores = {row.metric: row.score for row in rows}
    for row in rows:
        if row.difference and row.difference.detectable is not None:
            runs = tuple(len(cell.runs) for cell in row.arms)
            smallest[row.metric][runs] = row.difference.detectable
    texts = []
    for metric, by_runs in smallest.items():
        score, shown = scores[metric], []
        for runs, difference in sorted(by_runs.items()):
            text = f"{difference:.2f}" if score.is_signed else f"{difference:.1f}"
            if difference > (largest := score.high - score.low):  # that the score can have
                text = f"over {largest:g}"
            numbers = " and ".join(map(str, dict.fromkeys(runs)))
            of_runs = f" ({numbers} run{'' if numbers == '1' else 's'})"
            shown.append(text + of_runs if len(by_runs) > 1 else text)
        texts.append(f"{score.label} {', '.join(shown)}")
    found = f"estimated smallest difference found with 80 % power: {' · '.join(texts)}"
    return found if texts else ""


def _counts(rows: Iterable[Comparison]) -> str:
    """Return the numbers of samples of our rows, for each part if they differ."""
    runs = (row for row in rows if row.kind == "run")
    sizes = tuple(dict.fromkeys((row.spec.name.part, samples_text(row)) for row in runs))
    if len({n for _, n in sizes}) == 1:
        return f"n = {sizes[0][1]}"
    return f"n = {', '.join(f'{n} ({part})' if part else n for part, n in sizes)}"


# --- Cells ----------------------------------------------------------------------------------------


def _missing(reason: str | None, notes: Notes) -> Number:
    return Number("", notes=notes.letters(reason))


def _cell(cell: Cell, score: ScoreFacts, notes: Notes) -> Number:
    """Return a mean with its interval, and the number of samples where they are some only."""
    if cell.mean is None:
        return _missing(joined(": ", cell.reason, cell.command), notes)
    ends = {min(cell.counts), max(cell.counts)} if cell.counts else set()
    counted = " to ".join(f"{n:,}" for n in sorted(ends))
    return Number(
        f"{cell.mean:+.2f}" if score.is_signed else f"{cell.mean:.2f}",
        joined("; ", interval_text(cell.interval, score), counted and f"n = {counted}"),
        notes=notes.letters(cell.reason, source_text(cell.interval), *cell.notes),
    )


def _difference(row: Comparison, notes: Notes) -> Number:
    difference = row.difference
    if difference is None and (
        row.kind == "floor" or all(cell.command is not None for cell in row.arms)
    ):
        return Number("")
    if difference is None:
        return _missing("no difference without both arms", notes)
    notes_of_difference = (difference.reason, source_text(difference.interval), *difference.notes)
    reasons = () if row.kind == "published" else notes_of_difference
    return Number(
        f"{difference.value:+.2f}",
        interval_text(difference.interval, row.score),
        difference.mark,
        notes.letters(*reasons),
    )


def _seeds(row: Comparison) -> str:
    """Return the training seeds, for each arm if they differ."""
    by_arm = {arm: _seeds_of([cell]) for arm, cell in row.by_arm}
    distinct = set(filter(None, by_arm.values()))
    if len(distinct) <= 1:  # an arm without a result has an empty cell, and needs no seeds
        return next(iter(distinct), "")
    return "; ".join(f"{arm} {seeds}" for arm, seeds in by_arm.items())


def _seeds_of(cells: Iterable[Cell]) -> str:
    seeds = {seed for cell in cells for seed in cell.seeds}
    return ", ".join(map(str, sorted(seeds)))
