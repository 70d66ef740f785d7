"""The copy rule written down from its definition: every character of every output looked at.

It is the oracle of the differential tests and the yardstick of the benchmark.
"""

from string import punctuation

from spor_tasks.core.sample import AttributeValue, Hidden, challenge_of

VALUES = {
    "price range": ["less than £20", "cheap", "£20-25", "high", "more than £30", "moderate"],
    "customer rating": ["low", "3 out of 5", "high", "average", "5 out of 5", "1 out of 5"],
}
ORDINALS = ["1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th"]


def normalize(output):
    text = output.lower()
    while "  " in text:
        text = text.replace("  ", " ")
    return text.removeprefix(" ")


def is_word(char):
    return char.isalnum() or char == "_"


def occurs(phrase, text, *, whole):
    for start in range(len(text) - len(phrase) + 1):
        end = start + len(phrase)
        if text[start:end] == phrase and (not whole or stands_alone(text, start, end)):
            return True
    return False


def stands_alone(text, start, end):
    """Whether no word or number goes on before or after."""
    before, after = text[:start], text[end:]
    return not (
        is_word(before[-1:])
        or is_word(after[:1])
        or (before[-1:] in {".", ","} and before[-2:-1].isdecimal())
        or (after[:1] in {".", ","} and after[1:2].isdecimal())
    )


def judge(sample, output, *, whole):
    """Return whether every hidden phrase is copied, and whether anything hidden appears."""
    text = normalize(output)
    words = "".join(char for char in text if char not in punctuation).split()
    pairs = isinstance(sample.units[0], AttributeValue)
    challenge = challenge_of(sample, Hidden)
    values = {**VALUES, **dict(challenge.values)}
    copied, leaked = True, False
    for hidden, phrase in challenge.phrases:
        wanted = phrase.lower()
        found = occurs(wanted, text, whole=whole)
        if pairs:
            other = wanted.replace("value ", "")
            found = found or (len(other) > 1 and occurs(other, text, whole=whole))
        else:
            symbol = wanted.removeprefix("entity ") if whole else phrase[-1:]
            found = found or symbol in words
            for number, ordinal in enumerate(ORDINALS, start=1):
                if wanted == f"entity {number}":
                    found = found or occurs(f"{ordinal} entity", text, whole=whole)
        copied = copied and found
        for secret in values[hidden] if pairs else [hidden]:
            leaked = leaked or occurs(secret.lower(), text, whole=whole)
    return copied, leaked
