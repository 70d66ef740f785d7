"""`spor tasks`: list the tasks, and make them known to lm-eval."""

import argparse
import sys
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from spor_tasks.aspects.arms import ARMS
from spor_tasks.cli.arguments import add_building, add_include_path
from spor_tasks.cli.following import then
from spor_tasks.core.errors import ConfigError, MissingError
from spor_tasks.core.manual import page
from spor_tasks.core.terminal import columns, facts
from spor_tasks.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spor_tasks.core.contracts import TaskSpec


_MODEL = ("--model", "hf", "--model_args", "pretrained=MODEL")

HELP = "list the tasks, and make them known to lm-eval"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of the command, with their arguments."""
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")
    path = verbs.add_parser("path", help="print the folder to give as lm-eval's --include_path")
    path.set_defaults(run=print_path)
    listing = verbs.add_parser("list", help="list the tasks of each corpus, and their tags")
    listing.add_argument("--all", action="store_true", help="every task, with what it is")
    listing.set_defaults(run=print_list)
    show = verbs.add_parser(
        "show", help="print what a task asks, its scores, arms and data, and its first prompt"
    )
    show.add_argument("task", metavar="TASK", help="the name of a task; of a tag, its tasks follow")
    add_include_path(show)
    show.set_defaults(run=print_task)
    register = verbs.add_parser(
        "register", help="register the tasks in the installed lm-eval; safe to repeat"
    )
    register.add_argument("--remove", action="store_true", help="remove the registered tasks")
    register.set_defaults(run=run_register)
    make = verbs.add_parser(
        "make", help="write task files for a corpus of your own, or of another package"
    )
    make.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="your corpus, in one of the forms that "
        f"{page('own-corpus').replace('%', '%%')} describes: JSON Lines, a JSON list, "
        "WebNLG's XML, DART's JSON, CSV as E2E's or ViGGO's; a folder of such files; the name of "
        "a corpus that an installed package has; or aspects and their values, a YAML file",
    )
    make.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    make.add_argument(
        "--aspect",
        action="append",
        choices=ARMS,
        default=[],
        help="only this aspect; may be repeated (default: every aspect that the corpus allows)",
    )
    add_building(make)
    make.add_argument(
        "--sets",
        action="append",
        type=Path,
        default=[],
        metavar="DIR",
        help="take these sets, which `spor data build` wrote from FILE; may be repeated",
    )
    make.add_argument(
        "--instruction",
        metavar="TEXT",
        help="what prompt_style=instruction asks for, such as a text in another language than "
        "English",
    )
    make.add_argument(
        "--overwrite", action="store_true", help="replace an existing folder of tasks"
    )
    make.set_defaults(run=run_make)


def run_make(options: argparse.Namespace) -> None:
    """Write task files for the user's own corpus."""
    from spor_tasks.aspects.request import Request
    from spor_tasks.harness import own

    is_space = options.file.suffix in {".yaml", ".yml"}
    request = Request(
        corpus=str(options.file),
        aspect="compmctg" if is_space else "",
        seed=options.seed,
        restarts=options.restarts,
        hide=tuple(options.hide),
        lang=options.lang,
    )
    for setting in ("aspect", "sets", "instruction", "lang") if is_space else ():
        if getattr(options, setting):
            why = "has no effect on combinations of aspects"
            raise ConfigError(why, where=setting, remedy="Leave it out.")
    task_set = own.write(
        options.out,
        request,
        options.aspect,
        options.sets,
        instruction=options.instruction,
        overwrite=options.overwrite,
    )
    sizes = ((name, f"{samples:,}", " test samples") for name, samples in task_set.tasks.items())
    print(columns(sizes, "<56", ">7"))
    if task_set.refused:
        whys = ((name, f"not possible: {why}") for name, why in task_set.refused.items())
        print(columns(whys, "<56"))
    for note in task_set.notes:
        print(f"{visible(options.file)}: {note}")
    for name, warning in task_set.warnings:
        print(f"warning: {visible(name)}: {warning}", file=sys.stderr)
    print(f"{visible(options.out)}: the task files")
    model = ("--model", "spor-hf", "--model_args", "pretrained=MODEL")
    then("spor", "eval", *model, "--include_path", options.out, "--tasks", task_set.tag)


def print_path(_: argparse.Namespace) -> None:
    """Print the folder of the task files."""
    from spor_tasks.harness import stubs, task_files

    print(visible(task_files.FOLDER))
    # lm-eval warns of each task that it knows twice.
    known = stubs.registered(stubs.folder())
    included = () if known else ("--include_path", task_files.FOLDER)
    then("lm_eval", "run", *included, *_MODEL, "--tasks", "spor_mini_icl")


def print_list(options: argparse.Namespace) -> None:
    """Print which tasks each corpus has, or every task with what it is."""
    from spor_tasks.core import named
    from spor_tasks.harness import task_files

    files = task_files.files()
    if options.all:
        lines = []
        for file in files:
            sets = file.sets
            words = [sets.aspect, sets.corpus, sets.part, sets.protocol]
            if sets.icl_arm:
                words.append(f"shown {sets.icl_arm}")
            if sets.decoding:
                spec = sets.spec
                words.append(f"{spec.sets.decodings[sets.decoding]} beams")
            lines.append((file.name, ", ".join(dict.fromkeys(word for word in words if word))))
        print(columns(lines, gap="  "))
        return
    print("Names of tasks, in which `…` stands for the corpus, as in spor_systematicity_webnlg.\n")
    for benchmark in named.benchmarks():
        print(columns(_names(benchmark.sets()), gap="  "), end="\n\n")
    shown: dict[str, set[str | None]] = defaultdict(set)
    for file in files:
        for tag in file.tags:
            shown[tag].add(file.sets.icl_arm)
    # without those for the demonstrations of one arm
    tags = sorted(tag for tag, arms in shown.items() if None in arms or len(arms) > 1)
    print(textwrap.fill(f"Tags, each for several tasks: {', '.join(tags)}.", 100))
    print("`spor tasks list --all` names every task.")
    then("spor", "tasks", "show", "spor_systematicity_mini")


def _names(specs: "Sequence[TaskSpec]") -> "Iterator[list[str]]":
    """Yield a header of corpora, then a line for each name of a task, with `…` for the corpus.

    Where the parts of an aspect differ in their names, the cells have them.
    """
    corpora = list(dict.fromkeys(spec.sets.corpus for spec in specs))
    lines: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for spec in specs:
        sets = spec.sets
        has_parts = sets.part is not None and sets.aspect != spec.benchmark
        lines[spec.release.family.format(corpus="…")][sets.corpus].append(
            str(sets.part) if has_parts else "yes"
        )
    for spec in specs:
        for variant in (*spec.sets.decodings, *(["icl_ARM"] if spec.sets.in_context else [])):
            lines[f"…_{variant}"][spec.sets.corpus] = ["yes"]
    yield [specs[0].benchmark, *corpora]
    for task, cells in lines.items():
        yield [task, *(" ".join(cells[corpus]) for corpus in corpora)]


def print_task(options: argparse.Namespace) -> None:
    """Print what a task asks and needs, and its first prompt; of a tag, the names of its tasks."""
    from spor_tasks.corpora.sources import SOURCES
    from spor_tasks.harness import documents, plan, task_files

    file, *more = task_files.find([options.task], options.include_path)
    included = ("--include_path", options.include_path) if options.include_path else ()
    if more:
        print(*(each.name for each in (file, *more)), sep="\n")
        then("spor", "tasks", "show", file.name, *included)
        return
    sets, shots = file.sets, file.shots
    spec, shown = sets.spec, sets.icl_arm
    untuned = (
        " or ".join(spec.task_name(arm) for arm in spec.arms) if spec.sets.in_context else None
    )
    beams = spec.sets.decodings.get(sets.decoding or "")
    decoding = f"with {beams} beams" if beams else "greedily"
    about = {
        "sets": f"{spec.title}, {spec.sets.part_title}" if spec.sets.part_title else spec.title,
        "asks": spec.asking.question,
        "arms": " and ".join(spec.arms),
        "shows": shown and f"at most {shots} demonstrations of {shown}",
        "model": "any" if shown or not spec.arms else "tuned on the training set of an arm",
        "untuned": f"evaluate {untuned} instead" if untuned and not shown else None,
        "decodes": "nothing: texts are given" if file.asks_likelihoods else decoding,
        "prompts": f"{spec.judging.outputs} for each sample" if spec.judging.outputs > 1 else None,
        "tags": ", ".join(file.tags),
    }
    print(file.name, facts(about), "", _scores(spec, file.name), "", sep="\n")
    try:
        pair = plan.load(sets)
        count = sum(1 for _ in pair.test)  # each is read, so that damage shows
    except MissingError as error:
        print(f"The data is not here, so there is no prompt to show.\n{error}")
        return
    own = sets.own_corpus
    place = own.file if own else "part of this package"
    if source := next((each for each in SOURCES if sets.corpus in each.corpora), None):
        folder = source.data_dir()
        place = str(folder) if folder.is_dir() else f"only training needs it. {source.remedy}"
    covered = ", of which the task has those that each arm covers" if shown else ""
    print(facts({"data": place, "test": f"{count:,} samples{covered}"}))
    text = documents.first_prompt(pair, shown, shots)
    print(f"\nThe first prompt, as a causal model reads it:\n\n{_short(text)}")
    for reference in pair.test[0].references[:1] if shown is None else ():
        print(f"\nA reference:\n\n{_short(reference)}")
    model = "pretrained=MODEL" if shown else "pretrained=MODEL,peft=ADAPTER"
    run = ("spor", "eval", "--model", "spor-hf", "--model_args", model, "--tasks", file.name)
    then(*run, *included, "--output_path", "runs", "--log_samples")


def _scores(spec: "TaskSpec", task: str) -> str:
    """Return the scores of a task with their titles, and the metrics that give them."""
    from spor_tasks.core.registry import registry
    from spor_tasks.metrics.scores import info_of, metric

    directions = {True: "higher is better", False: "lower is better", None: "no direction"}
    lines = []
    for score in spec.judging.reported:
        info = info_of(score)
        needs = "" if score in spec.judging.scores else "; --metadata switches it on"
        lines.append((f"  {score}", f"{info.title}, {directions[info.higher_is_better]}{needs}"))
    also = dict.fromkeys((*spec.judging.scores, *spec.judging.breakdown))
    asked = spec.judging.scores, (*also, *spec.judging.reported)
    own, wanted = ({score.name for score in each} for each in asked)
    metrics, further = list[str](), list[str]()
    for name in registry().names("metric"):
        given = {info.name for info in metric(name).scores if metric(name).answers == "texts"}
        if given & wanted:
            (metrics if given & own else further).append(name)
    others = f"; and with --metric {', '.join(further)}" if further else ""
    more = {
        "also": ", ".join(str(score) for score in also if score not in spec.judging.reported),
        "metrics": f"{', '.join(metrics)}: what `spor score FILE --task {task}` measures{others}"
        if metrics
        else None,
    }
    return "\n".join(filter(str.strip, [columns(lines, gap="  "), facts(more)]))


_LONGEST = 3_000  # characters of a prompt that are shown


def _short(text: str) -> str:
    """Return a text with an indent, without the middle of a long one."""
    half = _LONGEST // 2
    if len(text) > _LONGEST:
        text = f"{text[:half]}\n[… {len(text) - 2 * half:,} characters …]\n{text[-half:]}"
    return textwrap.indent(visible(text, keep="\n\t"), "    ")


def run_register(options: argparse.Namespace) -> None:
    """Register the tasks in the installed lm-eval, or remove them from it."""
    from spor_tasks.harness import stubs

    if options.remove:
        for folder in stubs.remove():
            print(f"{visible(folder)}: removed")
        return
    if stubs.are_needed():
        folder = stubs.folder()
        count = stubs.register(folder)
        print(f"{visible(folder)}: {count:,} files, one for each task, in the installed lm-eval")
        print("`spor tasks register --remove` removes them.")
    else:
        print("The installed lm-eval finds the tasks by itself.")
        for old in stubs.remove():
            print(f"{visible(old)}: removed, which an older lm-eval needed")
    then("lm_eval", "run", *_MODEL, "--tasks", "spor_mini_icl")
