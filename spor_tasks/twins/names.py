"""Invented words: syllables that are nobody's name, and plain words for titles."""

import random
from collections.abc import Collection
from itertools import count

from spor_tasks.corpora.kinds import Kind
from spor_tasks.twins.tokens import fold

_ONSETS = (
    *("b", "br", "d", "dr", "f", "fl", "g", "gr", "j", "k", "kr", "l", "m", "n", "p", "pr", "r"),
    *("s", "sk", "sl", "st", "t", "tr", "v", "w", "z"),
)
_NUCLEI = ("a", "e", "i", "o", "u", "a", "e", "o")
_CODAS = ("", "", "", "l", "m", "n", "r", "s", "th", "nd", "lm", "rv", "sk", "x")
_FIRST_VOWELS = ("a", "e", "i", "o")
_ENDS = {
    "person": ("an", "el", "ik", "or", "us", "em", "ov", "ard", "in", "eth"),
    "place": ("or", "amar", "ewick", "oven", "astad", "ogrel", "ona", "eth", "ur", "edal"),
    "dish": ("ano", "ira", "obe", "uko", "ata", "eli"),
    "other": ("ex", "or", "ane", "ium", "et", "ol", "ar", "ent"),
}
_SHORT = 4  # letters of a word that gets one syllable
_LONG = 8  # letters of a word that gets three
_ATTEMPTS = 50  # after which an acronym gets another letter, as all short ones may be taken

# Letters whose names and sounds both begin with a vowel, or neither.
_OPEN = "AEIO"
_CLOSED = "BCDGKPTVZ"

_TITLE_WORDS = """
acorn agate alcove almanac amber anchor anvil apricot arbour ash aspen attic auburn autumn
awning badger balcony ballad bamboo banner barley barrel basin basket beacon beaver beech
bellows birch blanket blossom bonfire bramble brass brick bridle brook broom bucket buckle
burrow button cabin candle canopy canvas cargo carpet cavern cedar cellar chalk chestnut chimney
cinder clay clover cobalt cobble comet compass copper coral cork corridor cotton cradle crane
crater crimson crystal cupboard curtain cushion cypress daisy dandelion denim ditch dolphin
drawer drizzle dune dusk eagle easel echo elbow elm ember emerald enamel envelope estuary
evening fable falcon feather fern ferry fiddle fig flannel flint flute foghorn fossil fountain
foxglove frost furnace gable galley gander garland garnet gazebo geyser ginger glacier glade
glove goblet granite gravel grove gully hammock hamper hatch hawthorn hazel hearth hedge heron
hinge hollow horizon hornet icicle indigo inkwell iris ivory ivy jacket jasmine jigsaw jubilee
juniper kettle kiln kite knapsack knot lace ladder lagoon lantern lapis larch lattice lavender
ledger lichen lilac linen locket loft loom lotus lullaby magnet magpie mallet mango mantle maple
marble marigold marsh meadow medley mica midnight mirror mist moat moss mountain mulberry muslin
nectar nettle nickel noon nutmeg oak oar oasis obsidian ochre olive onyx opal orbit orchard
orchid otter oven oyster paddle pagoda parasol parcel parchment pasture pebble pelican pendulum
pewter pier pillow pine plaid plough plum pollen pond poplar poppy porch prairie prism puddle
pulley quarry quartz quill quilt raft rafter ravine reed reef ribbon rivet robin rosemary rudder
ruby rust saddle saffron sage sail sapphire satchel satin scarlet shale shawl shovel shutter
sickle silk silo slate sleet snowdrop sorrel sparrow spindle spruce stable starling steeple
sundial sunset swallow sycamore tangerine tapestry tassel teal teapot thicket thimble thistle
thunder tide timber tinsel topaz trellis trumpet tulip tundra turnip turret twine umbrella urn
valve vault velour verandah viola violet vineyard walnut walrus waterfall wattle weasel wharf
wheelbarrow whistle wicker willow window winter wool wren yarn yarrow zephyr zinc
"""
TITLE_WORDS = tuple(_TITLE_WORDS.split())


def sounds_open(word: str) -> bool:
    """Say whether `an` stands before an invented word, not `a`."""
    return word[0] in "aeioAEIO"


def invent(
    key: str, kind: Kind, *, acronym: bool, is_open: bool, taken: Collection[str], seed: str
) -> str:
    """Return a word in lower case that is not taken.

    It has about as many letters as the key; an acronym has as many.
    """
    rng = random.Random(f"{seed} {kind} {key}")
    if kind == "work" and not acronym:
        for word in rng.sample(TITLE_WORDS, len(TITLE_WORDS)):
            shown = _plural(word) if _is_plural(key) else word
            if sounds_open(word) is is_open and shown not in taken:
                return shown
    for attempt in count():
        length = len(key) + attempt // _ATTEMPTS
        word = _letters(length, rng, is_open=is_open) if acronym else _word(key, kind, rng, is_open)
        if word not in taken:
            break
    return word


def stem(key: str, *, is_open: bool, taken: Collection[str], seed: str) -> str:
    """Return the beginning of a country's words."""
    rng = random.Random(f"{seed} country {key}")
    while True:
        word = (rng.choice(_FIRST_VOWELS) if is_open else "") + _syllable(rng) + _bare(rng)
        if all(not other.startswith(word) for other in taken):
            return word


def _is_plural(key: str) -> bool:
    return len(key) > _SHORT and key.endswith("s") and not key.endswith(("ss", "is", "us", "as"))


def _plural(word: str) -> str:
    if word.endswith(("s", "x", "sh", "ch")):
        return f"{word}es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


def _word(key: str, kind: Kind, rng: random.Random, is_open: bool) -> str:  # noqa: FBT001
    ends = _ENDS[kind if kind in _ENDS else "other"]
    middle = "".join(_syllable(rng) for _ in range(_syllables(key) - 1))
    begin = rng.choice(_FIRST_VOWELS) if is_open else ""
    if len(key) <= _SHORT:
        return begin + _bare(rng) + rng.choice(_NUCLEI) + rng.choice(_CODAS[3:])
    return fold(begin + middle + _bare(rng) + rng.choice(ends))


def _syllables(key: str) -> int:
    return 3 if len(key) > _LONG else 2


def _syllable(rng: random.Random) -> str:
    return _bare(rng) + rng.choice(_NUCLEI) + rng.choice(_CODAS[:7])


def _bare(rng: random.Random) -> str:
    return rng.choice(_ONSETS)


def _letters(length: int, rng: random.Random, *, is_open: bool) -> str:
    first = rng.choice(_OPEN if is_open else _CLOSED)
    others = "".join(
        rng.choice("BDGKLMNPRTVZ" if (place % 2 == 1) == is_open else "AEIOU")
        for place in range(1, length)
    )
    return (first + others).casefold()
