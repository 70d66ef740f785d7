"""Rule learnability (section 3.4, Appendix D): are hidden phrases copied, does the hidden leak?"""

import re
from collections.abc import Callable, Sequence
from string import punctuation
from typing import NamedTuple

from spor_tasks import __version__
from spor_tasks.aspects.rule_learnability import hides_values, possible_values
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Hidden, Sample, challenge_of
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.text.normalize import find_whole

_ORDINALS = {
    f"entity {number}": f"{ordinal} entity"
    for number, ordinal in enumerate(
        ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th"), start=1
    )
}
_SPACES = re.compile("  +")
_NO_PUNCTUATION = str.maketrans("", "", punctuation)


class Leak(NamedTuple):
    """A hidden value that an output tells, and the index of the character at which it begins."""

    value: str
    start: int


class CopyVerdict(NamedTuple):
    """The result of one way of matching phrases in an output.

    ``missing`` are the phrases that were not copied, ``leaks`` the hidden values that appear.
    """

    missing: tuple[str, ...]
    leaks: tuple[Leak, ...]

    @property
    def case(self) -> tuple[bool, bool]:
        """The paper's (a, b): whether every phrase is copied, and whether something leaks."""
        return not self.missing, bool(self.leaks)


_CASES = {
    "copy_rule_00": (False, False),
    "copy_rule_01": (False, True),
    "copy_rule": (True, False),
    "copy_rule_11": (True, True),
}


class CopyRule(Metric):
    """Share of outputs in each case (a, b); the score ``copy_rule`` is that of (1, 0).

    The published test is for raw substrings, so that "yellow" leaks "low" and "Entity 12" copies
    "Entity 1"; ``copy_rule_whole_word`` is (1, 0) with whole words and numbers.
    """

    scores = (
        ScoreInfo(
            "copy_rule_00",
            "(0, 0)",
            higher_is_better=False,
            own_title="Copy rule (0, 0)",
            is_share=True,
        ),
        ScoreInfo(
            "copy_rule_01",
            "(0, 1)",
            higher_is_better=False,
            own_title="Copy rule (0, 1)",
            is_share=True,
        ),
        ScoreInfo("copy_rule", "(1, 0)", own_title="Copy rule (1, 0)", is_share=True),
        ScoreInfo(
            "copy_rule_11",
            "(1, 1)",
            higher_is_better=False,
            own_title="Copy rule (1, 1)",
            is_share=True,
        ),
        ScoreInfo(
            "copy_rule_whole_word",
            "(1, 0), whole words",
            corrects="copy_rule",
            own_title="Copy rule (1, 0), whole words",
            is_share=True,
        ),
    )
    signature = f"copy_rule|v:{__version__}"
    challenge = Hidden

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        """Return the case of an output, what is missing and what leaks, by both ways of matching.

        Raises:
            CorpusError: the sample hides nothing, or an attribute without known values.
        """
        published, whole_word = verdicts(sample, output)
        values = {name: 100.0 * (case == published.case) for name, case in _CASES.items()}
        values["copy_rule_whole_word"] = 100.0 * (whole_word.case == _CASES["copy_rule"])
        details: dict[str, object] = {}
        for verdict, suffix in ((published, ""), (whole_word, "_whole_word")):
            a, b = map(int, verdict.case)
            leaks = [leak._asdict() for leak in verdict.leaks]
            of_verdict = {"a": a, "b": b, "missing": verdict.missing, "leaks": leaks}
            details |= {f"{key}{suffix}": value for key, value in of_verdict.items()}
        return Judgement(values, details)


COPY_RULE = CopyRule()


def verdicts(sample: Sample, output: str) -> tuple[CopyVerdict, CopyVerdict]:
    """Return the verdict by raw substrings, as published, and that by whole words and numbers.

    Raises:
        CorpusError: the sample hides nothing, or an attribute without known values.
    """
    text, phrases = normalized(output), challenge_of(sample, Hidden).phrases
    of_values = hides_values(sample)
    words = set() if of_values else set(text.translate(_NO_PUNCTUATION).split())
    leaked_values: list[str] = []
    for hidden, _ in phrases:
        secrets: Sequence[str] | None = (hidden,)
        if of_values:
            secrets = possible_values(challenge_of(sample, Hidden), hidden)
        if secrets is None:
            raise CorpusError(
                f"hides {hidden!r}, whose possible values are not known",
                where=f"sample {sample.id}",
                remedy="Give them in the row's field `possible_values`.",
            )
        leaked_values += [secret for secret in secrets if secret.lower() in text]
    begins = origins(output) if leaked_values else []

    def verdict(find: Callable[[str, str], int]) -> CopyVerdict:
        missing = []
        for _, phrase in phrases:
            symbol = phrase[-1:] if find is str.find else phrase.lower().removeprefix("entity ")
            wordings = copies_of(phrase, hides_values=of_values)
            if symbol not in words and all(find(text, wording) < 0 for wording in wordings):
                missing.append(phrase)
        places = ((secret, find(text, secret.lower())) for secret in leaked_values)
        leaks = (Leak(secret, begins[start]) for secret, start in places if start >= 0)
        return CopyVerdict(tuple(missing), tuple(leaks))

    return verdict(str.find), verdict(find_whole)


def normalized(output: str) -> str:
    """Return an output as phrases are sought in it: lower case, runs of spaces collapsed."""
    return _SPACES.sub(" ", output.lower()).removeprefix(" ")


def origins(output: str) -> list[int]:
    """Return where in an output each character of its :func:`normalized` form, and its end, is."""
    indices, before = [], " "
    for index, char in enumerate(output):
        if char != " " or before != " ":
            indices += [index] * len(char.lower())
        before = char
    return [*indices, len(output)]


def copies_of(phrase: str, *, hides_values: bool) -> tuple[str, ...]:
    """Return what copies a phrase, in lower case and the phrase first, but for its bare symbol.

    A phrase of E2E is copied without its "Value" too. A mere "Value A", which only other corpora
    show, is not: every text has the letter.
    """
    lowered = phrase.lower()
    short = lowered.replace("value ", "") if hides_values else _ORDINALS.get(lowered, lowered)
    return (lowered,) if short == lowered or len(short) == 1 else (lowered, short)
