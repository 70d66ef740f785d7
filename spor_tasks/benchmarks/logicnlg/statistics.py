"""What the corpus comes to, beside the paper's numbers (Table 1, section 3)."""

from collections.abc import Iterator
from statistics import fmean

from spor_tasks.core.contracts import Figure, Figures
from spor_tasks.corpora.logicnlg import reader

_PAPER = {"val": 4260, "test": 4305}


def statistics() -> Iterator[Figures]:
    """Yield the counts of the validation and of the test set.

    Raises:
        CorpusError: a file is missing or is not the published one.
    """
    for part, title in (("val", "LogicNLG, validation"), ("test", "LogicNLG, test")):
        samples = reader.read_part(part)  # type: ignore[arg-type]
        pairs = reader.adversarial(reader.read_pairs(part))  # type: ignore[arg-type]
        identical = sum(
            (sample.target, sample.units) == (sample.challenge.text, sample.challenge.units)  # type: ignore[union-attr]
            for sample in pairs
        )
        yield Figures(
            title,
            (
                Figure("sentences", len(samples), _PAPER[part]),
                Figure("tables", len({sample.about("name") for sample in samples}), None),
                Figure("words", round(fmean(len(s.target.split()) for s in samples), 1), 11),
                Figure("adversarial pairs", len(pairs), None),
                Figure("identical pairs", identical, None),
            ),
        )
