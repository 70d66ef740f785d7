"""TER (Snover et al., AMTA 2006) as sacrebleu computes it, without edits that cannot count.

Nearly all of sacrebleu's time goes into edit distances, one for each shift of words that it tries.
Only their numbers matter there, and RapidFuzz counts the same. A reference is left out if words
that it does not share with the output already need as many edits as another reference does.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import sacrebleu
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics.lib_ter import (
    _BEAM_WIDTH,
    _MAX_SHIFT_CANDIDATES,
    BeamEditDistance,
    _shift,
)


class Ter(sacrebleu.TER):
    """sacrebleu's TER, with the same edits in a small part of the time."""

    def _compute_segment_statistics(
        self, hypothesis: str, ref_kwargs: Mapping[str, Sequence[Sequence[str]]]
    ) -> list[float]:
        """Return the fewest edits to a reference, and the mean number of words of references."""
        letters: dict[str, str] = {}  # each word is a letter of a text

        def text(words: Sequence[str]) -> str:
            return "".join(letters.setdefault(word, chr(len(letters))) for word in words)

        output, *references = map(text, (hypothesis.split(), *ref_kwargs["ref_words"]))
        distances = [_Distance(each) for each in references]
        best = min(each.number(output) for each in distances)
        for reference, distance in zip(references, distances, strict=True):
            shared = (Counter(output) & Counter(reference)).total()
            least = max(len(output), len(reference)) - shared
            best = _with_shifts(output, distance, least, best)
        return [best, sum(map(len, references)) / len(references)]


class _Distance:
    """The distance of sacrebleu from a reference; its edits, too, for one text alone."""

    def __init__(self, reference: str) -> None:
        self.reference, self._beam = reference, BeamEditDistance(reference)  # type: ignore[arg-type]
        self.aligned = ""
        """The text that sacrebleu asks the edits of."""

    def number(self, text: str) -> int:
        """Return the number of edits, which stay in the band that sacrebleu looks at."""
        edits = Levenshtein.editops(self.reference, text)
        kinds = Counter(edit.tag for edit in edits)
        aside = max(kinds["insert"], kinds["delete"])  # is never farther from the diagonal
        return len(edits) if aside < _BEAM_WIDTH - 1 else self._beam(text)[0]  # type: ignore[arg-type]

    def __call__(self, text: str) -> tuple[int, str]:
        return self._beam(text) if text == self.aligned else (self.number(text), "")  # type: ignore[arg-type]


def _with_shifts(text: str, distance: _Distance, least: int, best: int) -> int:
    """Return the fewest of ``best`` edits and those to a reference, with shifts of words.

    A shift is an edit and changes no word, and each reference needs ``least`` other edits.
    """
    shifts = checked = 0
    while shifts + 1 + least < best:
        distance.aligned = text
        gain, shifted, checked = _shift(text, distance.reference, distance, checked)  # type: ignore[arg-type]
        if gain <= 0 or checked >= _MAX_SHIFT_CANDIDATES:
            break
        text, shifts = str(shifted), shifts + 1
        best = min(best, shifts + distance.number(text))
    return best
