"""Tables of comparisons as a task declares them: which number is in which cell."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import TypeAlias

from spor_tasks.core.layouts import Layout
from spor_tasks.core.words import joined
from spor_tasks.report.grid import (
    Content,
    Grid,
    Line,
    Notes,
    Number,
    full_title,
    interval_text,
    repeated,
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

_Section: TypeAlias = Sequence[Comparison]


def fill(layouts: Sequence[Layout], rows: _Section) -> Iterator[Grid]:
    """Yield the tables of a section, each score in the first table that takes it."""
    apart, together, compared = (
        [layout for layout in layouts if layout.by_part == how]
        for how in ("apart", "together", "compared")
    )
    titles: dict[str | None, str] = {}
    for row in rows:
        if row.kind != "published":
            titles.setdefault(row.spec.sets.part, full_title(row))
    for part, title in titles.items():
        yield from _filled(apart, [row for row in rows if row.spec.sets.part == part], rows, title)
    title = section_title(rows[0])
    whole = [] if layouts else [Layout(order="given")]
    yield from _filled(together or whole, rows, rows, title)
    several = {row.name for row in rows if row.kind == "published" and row.spec.sets.part}
    of_several = [row for row in rows if row.kind != "published" or row.name in several]
    for layout in compared if len(titles) > 1 else ():
        yield from _filled([layout], of_several, rows, title)
    taking = [*apart, *together, *whole]
    added = [row for row in rows if row.score.added]
    added = [row for row in added if not any(_takes(layout, row) for layout in taking)]
    yield from _filled([Layout(title="added scores", order="given")], added, rows, title)


def _takes(layout: Layout, row: Comparison) -> bool:
    name, group = row.spec.score(row.metric)
    return (
        (not layout.parts or (row.spec.sets.part or "") in layout.parts)
        and (not layout.scores or name in layout.scores)
        and (not layout.groups or group in layout.groups)
    )


def _filled(
    layouts: Iterable[Layout], rows: _Section, section: _Section, title: str
) -> Iterator[Grid]:
    """Yield a table for each layout that has rows."""
    for layout in layouts:
        own, rest = list[Comparison](), list[Comparison]()
        for row in rows:
            (own if _takes(layout, row) else rest).append(row)
        rows = rest
        own = [row for row in own if layout.published or row.kind != "published"]
        if layout.lines == "score":
            same = repeated(own)
            own = [row for row in own if row.metric not in same]
        if own and layout.lines == "score":
            yield by_arm(own, layout.part)
            if floors := [row for row in own if row.kind == "floor"]:
                yield _floors(f"{section_title(own[0])}, floors", floors, layout.part)
        elif own:
            own_title = joined(", ", title, layout.title)
            about = _captions(layout, own, section)
            yield by_metric(own_title, _ordered(layout, own), partial(_header, layout), about)


def _ordered(layout: Layout, rows: _Section) -> _Section:
    """Return the rows by part and score, the groups of a score after the first of them."""
    first: dict[str, int] = {}
    for row in rows:
        name, at = row.spec.score(row.metric).name, row.spec.displayed.index(row.metric)
        first[name] = min(at, first.get(name, at))

    def place(row: Comparison) -> tuple[int, ...]:
        part = layout.parts.index(row.spec.sets.part or "") if layout.parts else 0
        if layout.order == "given":
            return (part,)
        at = row.spec.displayed.index(row.metric)
        return part, first[row.spec.score(row.metric).name], at

    return sorted(rows, key=place)


def _header(layout: Layout, row: Comparison) -> str:
    name, group = row.spec.score(row.metric)
    label = row.spec.scores.get(name, row.score).label
    score = layout.headers.get(f"{row.spec.sets.part}.{name}") or layout.headers.get(name) or label
    header = score if not group else row.score.label
    if group in layout.columns:
        header = layout.columns[group].format(score=score)
    is_compared = layout.by_part == "compared"
    return f"{header}, {row.spec.sets.part_title or layout.part}" if is_compared else header


def _captions(layout: Layout, rows: _Section, section: _Section) -> Iterator[str]:
    """Yield the remarks that hold for a table, with the captions of its tasks."""
    groups = {row.spec.score(row.metric).group for row in rows}
    number = max(row.size.splits for row in section)
    splits = max(1, int(section[0].spec.about.captions.get("splits") or 1), number)
    together = f"{number} of {splits} splits" if number else ""
    if number in {0, splits}:
        together = "" if splits == 1 else f"all {splits} splits together"
    for remark in layout.remarks:
        told = [
            row
            for row in rows
            for name in [row.spec.score(row.metric).name]
            if any(fnmatchcase(name, each) for each in remark.scores or ("*",))
            and (row.kind != "published" or "{" not in remark.text)
        ]
        if (
            (not remark.groups or groups.intersection(remark.groups))
            and (not remark.published or any(row.kind == "published" for row in rows))
            and (not remark.pooled or number > 1)
        ):
            captions = (defaultdict(str, row.spec.about.captions, splits=together) for row in told)
            yield from sorted({remark.text.format_map(each) for each in captions})


# --- One column for each arm ----------------------------------------------------------------------


def by_arm(
    rows: _Section,
    part: str = "part",
    more: Mapping[str, Callable[[Comparison], Content]] = MappingProxyType({}),
) -> Grid:
    """Return the rows with a column for each arm, without floors.

    ``part`` is the header of the parts, and ``more`` are further columns by their headers. A column
    in which nothing would stand is left out.
    """
    arms = rows[0].spec.arms
    metrics = [*dict.fromkeys(name for row in rows for name in row.spec.reported)]
    ordered = sorted(
        (row for row in rows if row.kind != "floor"),
        key=lambda row: (row.spec.sets.part or "", metrics.index(row.metric)),
    )
    notes = Notes()
    absent, missing = _absent(ordered)

    def of_arm(at: int, row: Comparison) -> Number:
        is_absent = row.kind != "published" and row.spec.arms[at] in absent
        return Number("") if is_absent else _cell(row.arms[at], row.score, notes)

    def as_is(row: Comparison) -> Content:
        return "" if row.kind == "published" else _cell(row.as_is, row.score, notes)

    columns: dict[str, Callable[[Comparison], Content]] = {**_names(ordered)}
    if any(row.spec.sets.part for row in ordered):
        columns[part] = partial(_part, part)
    columns["metric"] = attrgetter("score.label")
    if any(row.as_is.values for row in ordered):
        columns["as is"] = as_is
    for at, arm in enumerate(arms):
        if any(row.arms[at].values for row in ordered if row.arms):
            columns[arm.capitalize()] = partial(of_arm, at)
    if any(row.difference for row in ordered):
        columns[" − ".join(map(str.capitalize, arms))] = partial(_difference, notes)
    columns["n"] = samples_text
    if any(map(_seeds, ordered)):
        columns["seeds"] = _seeds
    columns |= more
    lines: dict[str, list[Line]] = defaultdict(list)
    for row in ordered:
        lines[row.kind].append(tuple(content(row) for content in columns.values()))
    caption, title = detectable_text(rows), section_title(rows[0])
    return Grid(title, caption, tuple(columns), lines, notes.texts, missing=missing)


def _floors(title: str, rows: _Section, part: str) -> Grid:
    """Return floors as a table of their own: a column for each score, a line for each floor."""
    notes, scores = Notes(), {row.metric: row.score for row in rows}
    lines = list[Line]()
    by_floor: dict[tuple[str, str], dict[str, Comparison]] = defaultdict(dict)
    for row in rows:
        by_floor[_part(part, row), row.name][row.metric] = row
    parts = [part] if any(row.spec.sets.part for row in rows) else []
    for (own_part, name), own in sorted(by_floor.items()):
        cells = (
            _cell(own[metric].as_is, score, notes) if metric in own else Number("")
            for metric, score in scores.items()
        )
        size = samples_text(next(iter(own.values())))
        lines.append((name, *([own_part] if parts else []), *cells, size))
    header = ("floor", *parts, *(score.label for score in scores.values()), "n")
    return Grid(title, "", header, {"run": lines}, notes.texts, legend=_ABOUT_FLOORS)


def _part(part: str, row: Comparison) -> str:
    return row.spec.sets.facets.get(part, row.spec.sets.part_title or "")


def _names(rows: _Section) -> Mapping[str, Callable[[Comparison], str]]:
    """Return the column of models, and that of prompts where models were prompted differently."""
    if len({row.prompt for row in rows if row.prompt}) > 1:
        return {
            "model": lambda row: row.named(row.differs._replace(prompted=None)),
            "prompt": attrgetter("prompt"),
        }
    return {"model": attrgetter("name")}


def _absent(rows: _Section) -> tuple[Collection[str], str]:
    """Return the arms that no model has a result of, and what would give it.

    One arm that nothing is compared with is not asked for.
    """
    cells = [each for row in rows if row.kind == "run" for each in row.by_arm]
    have = {arm for arm, cell in cells if cell.command is None}
    absent = {arm: cell.command for arm, cell in cells if arm not in have}
    by_command: dict[str, list[str]] = defaultdict(list)
    for arm, command in absent.items():
        by_command[command or ""].append(arm)
    texts = [f"{', '.join(arms)} ({command})" for command, arms in by_command.items() if command]
    is_asked = texts and len(rows[0].spec.arms) > 1
    return absent, f"No result of {'; '.join(texts)}." if is_asked else ""


# --- One column for each metric -------------------------------------------------------------------


def by_metric(
    title: str,
    rows: _Section,
    header: Callable[[Comparison], str],
    about: Iterable[str] = (),
) -> Grid:
    """Return the rows with a column for each metric, and a line for each arm.

    ``header`` makes the header of a column from a row that has its score. ``about`` are texts
    that follow the number of samples in the caption.
    """
    columns = {(row.spec.sets.part, row.metric): header(row) for row in rows}
    models: dict[tuple[str, str], dict[tuple[str | None, str], Comparison]] = defaultdict(dict)
    for row in rows:
        models[row.kind, row.name][row.spec.sets.part, row.metric] = row
    notes, names = Notes(), _names(rows)
    lines: dict[str, list[Line]] = defaultdict(list)
    for (kind, _), by_column in models.items():
        own = tuple(by_column.values())
        arms = own[0].spec.arms
        contents: dict[str, Callable[[Comparison], Number]] = {}
        if any(row.as_is.values for row in own):
            name = f"n = {own[0].size.n:,}" if kind == "floor" else "as is"
            contents[name] = lambda row: _cell(row.as_is, row.score, notes)
        for at, arm in enumerate(arms):
            if any(row.arms[at].command is None for row in own):
                contents[arm] = partial(lambda at, row: _cell(row.arms[at], row.score, notes), at)
        if any(row.difference for row in own):
            contents[" − ".join(arms)] = partial(_difference, notes)
        absent = {"floor": None, "published": "not in the paper"}
        reason = absent.get(kind, "no result of this task")
        reasons = {part: "not measured" for part, _ in by_column} if kind == "run" else {}
        for arm, content in contents.items():
            cells = [
                content(by_column[part, metric])
                if (part, metric) in by_column
                else _missing(reasons.get(part, reason), notes)
                for part, metric in columns
            ]
            seeds = _seeds_of(row.arms[arms.index(arm)] for row in own) if arm in arms else ""
            lines[kind].append((*(name(own[0]) for name in names.values()), arm, *cells, seeds))
    has_seeds = any(line[-1] for of_kind in lines.values() for line in of_kind)
    if not has_seeds:
        lines = {kind: [line[:-1] for line in of_kind] for kind, of_kind in lines.items()}
    sizes = {(row.spec.sets.part, samples_text(row)): None for row in rows if row.kind == "run"}
    is_uneven = len({n for _, n in sizes}) > 1
    counts = {f"{n} ({part})" if part and is_uneven else n: None for part, n in sizes}
    return Grid(
        title,
        joined("; ", f"n = {', '.join(counts)}", *about, detectable_text(rows)),
        (*names, "arm", *columns.values(), *(["seeds"] if has_seeds else [])),
        lines,
        notes.texts,
        missing=_absent(rows)[1],
    )


def detectable_text(rows: _Section) -> str:
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
            if len(by_runs) > 1:
                numbers = " and ".join(map(str, dict.fromkeys(runs)))
                text += f" ({numbers} run{'' if numbers == '1' else 's'})"
            shown.append(text)
        texts.append(f"{score.label} {', '.join(shown)}")
    found = f"estimated smallest difference found with 80 % power: {' · '.join(texts)}"
    return found if texts else ""


# --- Cells ----------------------------------------------------------------------------------------


def _missing(reason: str | None, notes: Notes) -> Number:
    return Number("", notes=notes.letters(reason))


def _cell(cell: Cell, score: ScoreFacts, notes: Notes) -> Number:
    """Return a mean with its interval, and the number of samples where they are some only."""
    if cell.mean is None:
        return _missing(joined(": ", cell.reason, cell.command), notes)
    ends = {min(cell.counts), max(cell.counts)} if cell.counts else ()
    counted = " to ".join(f"{n:,}" for n in sorted(ends))
    return Number(
        f"{cell.mean:+.2f}" if score.is_signed else f"{cell.mean:.2f}",
        joined("; ", interval_text(cell.interval, score), counted and f"n = {counted}"),
        notes=notes.letters(cell.reason, source_text(cell.interval), *cell.notes),
    )


def _difference(notes: Notes, row: Comparison) -> Number:
    difference = row.difference
    if difference is None:
        is_due = row.kind != "floor" and any(cell.command is None for cell in row.arms)
        return _missing("no difference without both arms" if is_due else None, notes)
    reasons = difference.reason, source_text(difference.interval), *difference.notes
    return Number(
        f"{difference.value:+.2f}",
        interval_text(difference.interval, row.score),
        difference.mark,
        notes.letters(*(() if row.kind == "published" else reasons)),
    )


def _seeds(row: Comparison) -> str:
    """Return the training seeds, for each arm if they differ."""
    by_arm = {arm: _seeds_of([cell]) for arm, cell in row.by_arm}
    distinct = {*by_arm.values()} - {""}
    if len(distinct) <= 1:  # an arm without a result has an empty cell, and needs no seeds
        return "".join(distinct)
    return "; ".join(f"{arm} {seeds}" for arm, seeds in by_arm.items())


def _seeds_of(cells: Iterable[Cell]) -> str:
    return ", ".join(map(str, sorted({seed for cell in cells for seed in cell.seeds})))
