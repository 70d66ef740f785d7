# ruff: noqa: SIM905 - a list of words is read more easily as words
"""Write the patches of fictional twins: `python docs/generators/twins.py [CORPUS ...] [--to DIR]`.

A twin is a sample with its entities exchanged for invented ones of the same kind. This script
made `spor_tasks/corpora/*/twins.json.gz`, which `spor_tasks/twins.py` reads; nothing imports it. It
needs the real corpora (`SPOR_DATA_DIR`, `VIGGO_DATA_DIR`) and takes minutes. docs/twins.md has the
rules in words.

It works in four steps. `lexicon` invents a word for each word of a corpus's names. `entity_patches`
exchanges a value of a unit. `text_patches` exchanges a text, or raises `UncertainError` where
something may be a mention and may not be. `content` walks the samples and collects the patches.
"""

import argparse
import gzip
import json
import random
import re
import string
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import count, groupby, takewhile
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from rapidfuzz.distance import Levenshtein

from spor_tasks.aspects import named, order_invariance
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Hidden, Sample, Triple
from spor_tasks.text.normalize import display
from spor_tasks.twins import CORPORA, FILE, FOLDER, Patches, Twins, key

Kind: TypeAlias = str
"""`person`, `place`, `organisation`, `work`, `dish`, `thing` (any other name) or `vocabulary`."""

OTHER_NAME = "a text names what the units do not"
OTHER_NUMBER = "a text has a number that the units do not have"
OTHER_FORM = "a text may name an entity in another form"
TWO_THINGS = "a word may stand for two things"
ORDINARY_NAME = "a name is made of ordinary words"


class UncertainError(Exception):
    """A text cannot be exchanged with certainty; its argument is the reason."""


# Words that stay in names of any kind, and those that stay in one kind of name.

_FUNCTION = """
a an and as at but by de for from in into is it its no not of on or over than that the to under
versus with without
""".split()

_MARKS = """
academy aerodrome air airbase airlines airport airports ambassador anti arena army art arts
asphalt assembly association astronaut authority automobile award bachelor bank base basketball
battle battlefield bay beach board book books borough branch broadcasting building bureau business
cake cakes campus campaign canal capitol car castle cathedral cemetery center centre central
chairman chamber champion championship chancellor channel charity chief chiefs church circuit
cities city civil civilian class club coast college commander commerce commission committee common
commons communications community company complex conference congress congressional constituency
contributing cooperation corporation council counties country county court cricket cross cruise
cruises cup dales defence defense democracy democratic department deputy design development dinar
directorate dissolved distinguished district division dollar dollars east eastern economic
education electric empire energy engine engineering entertainment enterprise executive exhibition
faculty federal federation film finance first flag fleet floor football force forces foreign
former fort foundation garden gardens gas general global government governor graduate ground
grounds group guard guards hall harbour head headquarters health helicopter high higher highway
historic historical hockey home hospital hotel house human ice icebreaker independence independent
industrial industries infantry information infrastructure institute institution insular
international internal invasion island islands isle isles judge judicial junior justice kingdom
labor labour lake land language languages law leader league legion legislative legislature library
lieutenant life limited lira locomotive long magistrate magistrates major management manor marine
maritime martyrs mayor media medal medical member members memorial men metro metropolitan military
minister ministry minority mission monarch monarchy monument motor mountain mountains municipal
municipality museum music mutual national native natural naval navy network new news north
northeast northern northwest novel ocean off office officer official old operation opera
opposition orchestra order organisation organization pact palace parish park parliament
parliamentary part party peninsula people peoples peso physics pilot place plant point police
policy political polytechnic popular port post pound power premier presidency president press
prime prince principal private prize production productions professional programme project
property protection province provincial provisional public publications publisher publishers radio
railroad railway realm record recording recordings records regiment region regional registered
relations representative representatives republic republican research reserve reserves resort
revolution ridge river rivers road rocket round route row royal runway rupee rupees rupiah school
schools science sciences scientific scout sea seat second secretary security senate senator
service services shipyard shore site ski social socialist societies society soldiers song south
southeast southern southwest sovereign space spaceport special sport sports square stadium staff
standard state states station strait street studies studio studios submarine sultan summer supreme
survey system systems team technical technological technologies technology telecommunications
television temple tenants tennis territory test theatre theater theorem third time tower town
township trade trading transport transportation treasury treaty tribunal trust tunnel union unit
universities university upper urban valley vice village visual volunteer volunteers war wars water
way welfare west western wing women work workers works world yard youth zone del della di do dos
da das du e el en et i ii iii iv la las le les los n o s t v vi vii viii ix x xi xii xiii y near
africa african africans asia asian asians europe european europeans eurasia euro pounds sterling
nationwide white black mixed race ac afc bc bk bsc cd cf fc fk jk kk pfk pvv sc sd sk ss ssc sv tc
vfb utc co corp inc llc ltd plc sa spa srl cubic days degreecelsius feet foot g
grampercubiccentimetres hp inch inches inhabitants kelvins kg kilogram kilogrampercubicmetre
kilogrampercubicmetres kilograms kilometre kilometreperseconds kilometres km litres m metres metre
mile miles millimetres millimetre centimetres million billion minus minutes mm mph per seconds
squarekilometres tonnes comicscharacter character comics comic genre band album all also argument
area auto aviation aeronautics be baths bombing can citizens classic cold coloured constant count
countries coupe cuisine defunct diagram diesel disco drum found gold great greater hair http
killed label launch modern mid more neighboring neighbouring occupation opening orbital postcode
principle raised run season specific speed study transmission www jr sr grant dr sir st saint mr
mrs jnr snr
""".split()

_ROLES = """
actor actress asteroid comic architect artist author band baron baroness baronet bishop boxer born
businessman bin botanist coach comics comicscharacter composer count countess da del della den der
di director disambiguation do dos dr duke earl el emperor footballer general governor guitarist
hockey i ibn ice ii iii iv jockey jr king la lady le lord manager mayor medal mr mrs musician
painter pianist player poet politician pope president prince princess producer queen racing rapper
saint senator singer sir skier snr soldier sr st ten trombonist tuanku van vi vii viii von writer
xii xiii y zu
""".split()

_FORMS = """
album albums amateurs duo band be book comics character film films gazette gazettes i ii iii iv v
vi vii viii ix x isn journal journals ll magazine novel ost part quarterly review s series single
song soundtrack t trilogy transactions you your my me we our us vol volume volumes award awards
medal order prize
""".split()

_FOODS = """
almond amaretti apple bacon baked banana barm basil bass bean beans beef bread breast broth butter
butty cake cakes carrot cauliflower celery cheese chicken chili chocolate cider cob cod coconut
condensed confectionery cookie cookies corn crab cream cucumber cuisine curry custard dark dessert
dish dishes dough dumpling dumplings egg eggs fish fishcake flour flower food fried fruit fruits
garlic granola grape green ground ham honey ice jam juice lamb leaf lemon lime main meat milk
mince minced muffin mushroom mustard noodle noodles nut nuts oil olive onion onions orange organ
organs paneer pastry peanut peanuts pepper piece pie pork potato potatoes pudding raisins rasher
raw red rice salt sandwich sanger sarnie sauce sausage sausages seafood served shallot shallots
shredded black club cottage oregano shrimp shrimps side soup sour soy spice spices sponge squeezed
starfruit steak stew strawberries strawberry sugar sweet syrup tart tea tofu tomato tomatoes
vegetable vegetables vinegar wheat white yoghurt yogurt n al alla di en el la y
""".split()

_PLAIN = """
library julian i mr mrs ms dr tv dvd cd ceo phd isbn issn oclc lccn coden icao iata utc gmt am pm
km kg mm latin christian roman ok pc nintendo playstation xbox windows mac linux steam esrb rpg
mmorpg fps rts mmo internet okay switch pcs macs id teen mature everyone multiplayer mobile bluray
gen
""".split()

_FAMILIES = """
america+a american+an americans+ans ; india+ia indian+ian indians+ians ; italy+ia italian+ian
italians+ians ; england+land english+ish englishman+ishman ; britain+ain british+ish briton+on
britons+ons ; scotland+land scottish+ish scots+s scotch+ch ; wales+es welsh+esh ; ireland+land
irish+ish ; spain+ain spanish+ish spaniards+iards spaniard+iard ; france+ia french+ish ;
germany+any german+an germans+ans ; netherlands+lands dutch+ish holland+olland netherland+land ;
denmark+mark danish+ish danes+es ; turkey+ey turkish+ish turks+s turk+ ; china+a chinese+ese ;
japan+an japanese+anese ; philippines+ines philippine+ine filipino+ino filipinos+inos filipina+ina
; indonesia+ia indonesian+ian indonesians+ians ; malaysia+ia malaysian+ian malaysians+ians ;
singapore+ore singaporean+orean singaporeans+oreans ; mexico+o mexican+an mexicans+ans ; brazil+il
brazilian+ilian brazilians+ilians ; argentina+ina argentine+ine argentinian+inian argentines+ines
; uruguay+ay uruguayan+ayan uruguayans+ayans ; peru+u peruvian+uvian ; colombia+ia colombian+ian
colombians+ians ; venezuela+ela venezuelan+elan ; canada+a canadian+ian canadians+ians ;
australia+ia australian+ian australians+ians ; zealand+and zealander+ander zealanders+anders ;
russia+ia russian+ian russians+ians ; soviet+et soviets+ets ; poland+land polish+ish poles+es ;
romania+ia romanian+ian romanians+ians ; hungary+y hungarian+ian hungarians+ians magyar+yar ;
greece+ece greek+ek greeks+eks ; austria+ia austrian+ian austrians+ians ; switzerland+erland
swiss+iss ; sweden+en swedish+ish swedes+es ; norway+ay norwegian+egian norwegians+egians ;
finland+land finnish+ish finns+ens ; iceland+land icelandic+andic ; belgium+ium belgian+ian
belgians+ians ; portugal+al portuguese+uese ; serbia+ia serbian+ian serbs+s serb+ ; croatia+ia
croatian+ian ; slovakia+ia slovak+ak ; ukraine+aine ukrainian+ainian ukrainians+ainians ;
azerbaijan+an azerbaijani+ani azerbaijanis+anis ; turkmenistan+istan turkmen+men ; pakistan+istan
pakistani+istani pakistanis+istanis ; iraq+aq iraqi+aqi iraqis+aqis ; iran+an iranian+anian ;
israel+el israeli+eli israelis+elis ; egypt+ypt egyptian+yptian ; nigeria+ia nigerian+ian
nigerians+ians ; ethiopia+ia ethiopian+ian ethiopians+ians ; angola+ola angolan+olan ; jamaica+a
jamaican+an jamaicans+ans ; cuba+a cuban+an ; vietnam+am vietnamese+amese ; korea+a korean+an
koreans+ans ; thailand+land thai+i ; lanka+a lankan+an lankans+ans ; java+a javanese+anese ;
sunda+a sundanese+anese ; malay+ay malays+ays ; andalusia+ia andalusian+ian ; catalonia+ia
catalan+an ; flanders+ers flemish+emish ; texas+as texan+an texans+ans ; california+ia
californian+ian californians+ians ; hawaii+ii hawaiian+iian ; arabia+ia arabian+ian arabic+ic
arab+ ; sicily+y sicilian+ian ; rome+e romans+ans ; bavaria+ia bavarian+ian ; gujarat+at
gujarati+ati ; galicia+ia galician+ian ; grenada+ada grenadian+adian ; karnataka+aka kannada+ada ;
tamil+il tamils+ils ; visayas+as visayan+an ; sumatra+a sumatran+an ; albania+ia albanian+ian ;
bulgaria+ia bulgarian+ian ; bosnia+ia bosnian+ian ; georgia+ia georgian+ian ; prussia+ia
prussian+ian ; ottoman+an ottomans+ans ; cambodia+ia cambodian+ian ; jewish+ish jew+ jews+s
""".split(";")

_TITLE_WORDS = """
acorn agate alcove almanac amber anchor anvil apricot arbour ash aspen attic auburn autumn awning
badger balcony ballad bamboo banner barley barrel basin basket beacon beaver beech bellows birch
blanket blossom bonfire bramble brass brick bridle brook broom bucket buckle burrow button cabin
candle canopy canvas cargo carpet cavern cedar cellar chalk chestnut chimney cinder clay clover
cobalt cobble comet compass copper coral cork corridor cotton cradle crane crater crimson crystal
cupboard curtain cushion cypress daisy dandelion denim ditch dolphin drawer drizzle dune dusk
eagle easel echo elbow elm ember emerald enamel envelope estuary evening fable falcon feather fern
ferry fiddle fig flannel flint flute foghorn fossil fountain foxglove frost furnace gable galley
gander garland garnet gazebo geyser ginger glacier glade glove goblet granite gravel grove gully
hammock hamper hatch hawthorn hazel hearth hedge heron hinge hollow horizon hornet icicle indigo
inkwell iris ivory ivy jacket jasmine jigsaw jubilee juniper kettle kiln kite knapsack knot lace
ladder lagoon lantern lapis larch lattice lavender ledger lichen lilac linen locket loft loom
lotus lullaby magnet magpie mallet mango mantle maple marble marigold marsh meadow medley mica
midnight mirror mist moat moss mountain mulberry muslin nectar nettle nickel noon nutmeg oak oar
oasis obsidian ochre olive onyx opal orbit orchard orchid otter oven oyster paddle pagoda parasol
parcel parchment pasture pebble pelican pendulum pewter pier pillow pine plaid plough plum pollen
pond poplar poppy porch prairie prism puddle pulley quarry quartz quill quilt raft rafter ravine
reed reef ribbon rivet robin rosemary rudder ruby rust saddle saffron sage sail sapphire satchel
satin scarlet shale shawl shovel shutter sickle silk silo slate sleet snowdrop sorrel sparrow
spindle spruce stable starling steeple sundial sunset swallow sycamore tangerine tapestry tassel
teal teapot thicket thimble thistle thunder tide timber tinsel topaz trellis trumpet tulip tundra
turnip turret twine umbrella urn valve vault velour verandah viola violet vineyard walnut walrus
waterfall wattle weasel wharf wheelbarrow whistle wicker willow window winter wool wren yarn
yarrow zephyr zinc
""".split()

_PREDICATES = """
person: leader, manager, creator, discoverer, author, architect, starring, spouse, chairman,
general manager, coach, president, dean, backup pilot, editor, designer, doctoral student,
doctoral advisor, crew members, director, commander, producer, writer, music composer, influenced
by, founded by, founder, chancellor, vice chancellor, in office while monarch, in office while
prime minister, in office while president, in office while vice president, in office while
governor, child, mayor, band member, former band member, rector, predecessor, editing,
cinematography, voice, senators, has deputy, representative, chief, chairperson, birth name,
patron saint, saint
place: country, location, birth place, is part of, capital, death place, region, city, city
served, state, largest city, origin, residence, has to its north, has to its southeast, has to its
west, has to its southwest, has to its northeast, has to its northwest, municipality, county seat,
neighboring municipality, part, ceremonial county, nearest city, state of origin, citizenship,
nationality, country origin, foundation place, spoken in, region served, jurisdiction, garrison,
administrative arrondissement, recorded in, river
organisation: club, league, operating organisation, record label, manufacturer, party, operator,
owner, publisher, champions, youthclub, broadcasted by, military branch, former team, parent
company, debut team, subsidiary, draft team, currentclub, currentteam, design company,
distributor, distributing company, distributing label, affiliation, alma mater, headquarter,
builder, governing body, legislature, tenant, current tenants, leader party, employer, sport
governing body, compete in, owning organisation, developer, college, university team, season
work: associated band/associated musical artist, artist, musical band, musical artist, preceded
by, followed by, album, notable work, series, award, nickname, first appearance in film, motto,
anthem, abbreviation
vocabulary: genre, derivative, ingredient, main ingredient, stylistic origin, course, occupation,
status, background, music fusion genre, music subgenre, instrument, media type, industry, product,
body style, class, transmission, academic discipline, professional field, order, family, genus,
division, religion, material, type, category, service, layout, colour, serving temperature, sports
offered, position, building type, function, frequency, gemstone, death cause, profession, format,
runway surface type, 1st runway surface type, 2nd runway surface type, 3rd runway surface type,
4th runway surface type, 5th runway surface type, government type, architectural style,
architecture, literary genre, bird, fossil, military rank, official school colour, served, similar
dish, engine, currency, ship class, parts type, time zone, utc offset, chairman title, iso6391
code, iso6392 code, certification, carbohydrate, protein, fat, ribbon award, ship power
dish: dish variation, related
"""

_CATEGORIES = """
person: Artist, Astronaut, Athlete, ComicsCharacter, Politician, Scientist
place: City
organisation: Company, SportsTeam, University
work: Film, MusicalWork, WrittenWork
dish: Food
"""

_KEPT = frozenset(_MARKS + _FUNCTION)
_KEPT_IN: dict[Kind, frozenset[str]] = {
    "person": frozenset(_ROLES + _FUNCTION),
    "work": frozenset(_FORMS + _FUNCTION),
    "dish": frozenset(_FOODS + _FUNCTION),
}
_KEPT_OF_CORPUS = {
    "webnlg": frozenset[str](),
    "e2e": frozenset("bar cafe cuisine hotel house indian inn noodle vegetarian".split()),
    "viggo": frozenset("games interactive nintendo playstation software".split()),
}

# The words of a country or people with their endings: one invented stem serves all of a family.
_COUNTRIES = [dict(form.split("+") for form in family.split()) for family in _FAMILIES]
_STATES = {"united:states", "states:united", "US:initials", "USA:initials", "U:S", "S:U", "A:US"}
_KINGDOM = {"united:kingdom", "UK:initials", "U:K", "K:U"}
_ALIKE = {word: frozenset(family) for family in _COUNTRIES for word in family}
for _names, _first in ((_STATES, "america"), (_KINGDOM, "britain")):
    _ALIKE |= dict.fromkeys(_names | _ALIKE[_first], frozenset(_names | _ALIKE[_first]))

# ---- The kind of an entity, by its place in a sample ----


def _kinds(listed: str) -> dict[str, Kind]:
    found = re.findall(r"^(\w+): ([^:]*)$", listed, re.MULTILINE)
    return {name: kind for kind, names in found for name in " ".join(names.split()).split(", ")}


_BY_PREDICATE, _BY_CATEGORY = _kinds(_PREDICATES), _kinds(_CATEGORIES)
_BY_ATTRIBUTE = {
    "e2e": {"near": "work"},
    "viggo": {
        "developer": "organisation",
        "release year": "thing",
        "exp release date": "thing",
    },
}
# Their objects are of their subject's kind, as the successor of a car is a car.
_OF_SUBJECT = {
    *("full name", "successor", "related mean of transportation", "comparable", "alternative name")
}
# A leader may be a party, and a producer a company.
_ORGANISED = re.compile(
    r"(?i)(?:association|city council|club|committee|company|council|government|parliament|party|"
    r"production team|university)(?![a-z])"
)
_NUMBER = re.compile(r'"?\d[\d.,]*"?( ?\(.*\))?')
_OBJECT_WEIGHT = 1000  # an object says more than any number of subjects


def _mentions(sample: Sample) -> Iterator[tuple[str, Kind, int]]:
    """Yield the entities of a sample, the kinds that their places say they are, and weights."""
    if name := sample.about("name"):
        yield name, "work", 1
    of_subject = _BY_CATEGORY.get(sample.about("category") or "", "thing")
    for unit in sample.units:
        if not isinstance(unit, Triple):
            yield unit.value, _BY_ATTRIBUTE[sample.corpus].get(unit.attribute, "vocabulary"), 1
            continue
        yield unit.subject, of_subject, 1
        kind = _BY_PREDICATE.get(unit.predicate, "thing")
        if unit.predicate in _OF_SUBJECT:
            kind = of_subject
        if kind == "person" and _ORGANISED.search(unit.object):
            kind = "organisation"
        elif _NUMBER.fullmatch(unit.object):
            kind = "thing"
        yield unit.object, kind, _OBJECT_WEIGHT


# ---- Words and numbers, each under a key that says what it stands for ----

_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_SHORT_MONTHS = {"sept": 8, **{month[:3]: number for number, month in enumerate(_MONTHS)}}
_BARE_MONTHS = {"in", "of", "since", "until", "during", "by", "from", "early", "late", "mid"}
_ORDINALS = frozenset({"st", "nd", "rd", "th"})
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_UNMARKED = str.maketrans({"ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ı": "i"})
_ISO = re.compile(r"(?<!\d)(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?!\d)")
_SHORT_DATE = re.compile(r"(?<![\d/-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)")
_SPAN = re.compile(r"(?<!\d)(1\d{3}|20\d\d)[-–/](\d\d)(?![\d-])")
_RUNWAY = re.compile(r"(?<!\d)(\d{1,2})([LRC]?)/(\d{1,2})([LRC]?)(?![\d/])")
_HALF_TURN, _RUNWAYS = 18, 36  # tens of degrees
_LAST_DAY = 31


class Token(NamedTuple):
    """A word or number with its place in a string.

    The key of a word is the word without case and accents, that of a number its value. Parts of
    dates, runways and the names of two countries have keys of their own, with a colon: the 7 of
    `7 May 1907` is another 7 than that of `7 floors`.
    """

    text: str
    start: int
    end: int
    key: str

    @property
    def is_number(self) -> bool:
        """Whether it is made of digits."""
        return self.text[0].isdigit()

    @property
    def is_capital(self) -> bool:
        """Whether it begins with a capital letter."""
        return self.text[0].isupper()

    @property
    def is_special(self) -> bool:
        """Whether it is part of a date, a season, a runway's or one of two countries' names."""
        return ":" in self.key


def _fold(word: str) -> str:
    marked = unicodedata.normalize("NFKD", word.translate(_UNMARKED))
    return "".join(char for char in marked if not unicodedata.combining(char)).casefold()


@cache
def _key(word: str) -> str:
    if word[0].isalpha():
        return _fold(word)
    whole, point, fraction = word.replace(",", "").partition(".")
    kept = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + kept if kept else "")


@cache
def _tokens(text: str) -> Sequence[Token]:
    keys = dict(_keys_of_patterns(text))
    tokens = [
        Token(found[0], *found.span(), keys.get(found.start(), _key(found[0])))
        for found in _TOKEN.finditer(text)
    ]
    for index, own in [*_keys_of_dates(tokens, text), *_keys_of_countries(tokens, text)]:
        tokens[index] = tokens[index]._replace(key=own)
    return tokens


def _keys_of_patterns(text: str) -> Iterator[tuple[int, str]]:
    """Yield where a number starts that is part of a date, of a season or of a runway's name."""
    for match in _ISO.finditer(text):
        yield match.start(3), f"month:{int(match[3])}"
        yield match.start(4), f"day:{int(match[4])}"
    for match in _SHORT_DATE.finditer(text):
        yield match.start(1), f"either:{int(match[1])}/{int(match[3])}"
        yield match.start(3), f"either:{int(match[3])}/{int(match[1])}"
    for match in _SPAN.finditer(text):
        if int(match[2]) == (int(match[1]) + 1) % 100:
            yield match.start(2), f"until:{int(match[1]) + 1}"
    for match in _RUNWAY.finditer(text):
        if abs(int(match[1]) - int(match[3])) == _HALF_TURN:
            yield match.start(1), f"runway:{int(match[1])}"
            yield match.start(3), f"runway:{int(match[3])}"


def _keys_of_dates(tokens: Sequence[Token], text: str) -> Iterator[tuple[int, str]]:
    """Yield which words are months, and which numbers are their days."""
    for index, token in enumerate(tokens):
        month = _month(token)
        if month is None:
            continue
        before, after = _day_before(tokens, index), _number_after(tokens, index, text)
        is_named = index > 0 and tokens[index - 1].key in _BARE_MONTHS
        if before is None and after is None and not is_named:
            continue
        yield index, f"month:{month}"
        day = after if before is None else before
        if day is not None and _is_day(tokens[day]):
            yield day, f"day:{int(tokens[day].text)}"


def _month(token: Token) -> int | None:
    if not token.is_capital:
        return None
    if token.key in _MONTHS:
        return _MONTHS.index(token.key) + 1
    return _SHORT_MONTHS[token.key] + 1 if token.key in _SHORT_MONTHS else None


def _is_day(token: Token) -> bool:
    return token.text.isdigit() and len(token.text) <= len("31") and int(token.text) <= _LAST_DAY


def _day_before(tokens: Sequence[Token], index: int) -> int | None:
    """Return the index of the day in `7 May`, `7th May` and `7th of May`."""
    index -= 1
    while index >= 0 and tokens[index].key in {*_ORDINALS, "of"}:
        index -= 1
    return index if index >= 0 and _is_day(tokens[index]) else None


def _number_after(tokens: Sequence[Token], index: int, text: str) -> int | None:
    """Return the index of the day or year in `May 7`, `May the 7th` and `May 1907`."""
    for other in range(index + 1, min(index + 3, len(tokens))):
        if "." in text[tokens[index].end : tokens[other].start].removeprefix("."):
            return None
        if tokens[other].is_number:
            return other
        if tokens[other].key != "the":
            return None
    return None


def _keys_of_countries(tokens: Sequence[Token], text: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of the names and abbreviations of the United States and the Kingdom."""
    for index, token in enumerate(tokens):
        following, last = [*tokens[index + 1 : index + 3], None, None][:2]
        if token.text in {"US", "USA", "UK"}:
            yield index, f"{token.text}:initials"
        elif following is None:
            continue
        elif token.key == "united" and following.key in {"states", "kingdom"}:
            yield index, f"united:{following.key}"
            yield index + 1, f"{following.key}:united"
        elif token.text == "U" and following.text in {"S", "K"}:
            if text[token.end : following.start] not in {".", ". "}:
                continue
            yield index, f"U:{following.text}"
            yield index + 1, f"{following.text}:U"
            if last and last.text == "A" and text[following.end : last.start] in {".", ". "}:
                yield index + 2, "A:US"


# ---- Invented words ----

_ONSETS = "b br d dr f fl g gr j k kr l m n p pr r s sk sl st t tr v w z".split()
_NUCLEI = "aeiouaeo"
_CODAS = ["", "", "", *"l m n r s th nd lm rv sk x".split()]
_FIRST_VOWELS = "aeio"
_ENDS: dict[Kind, list[str]] = {
    "person": "an el ik or us em ov ard in eth".split(),
    "place": "or amar ewick oven astad ogrel ona eth ur edal".split(),
    "dish": "ano ira obe uko ata eli".split(),
    "other": "ex or ane ium et ol ar ent".split(),
}
_SHORT, _LONG = 4, 8  # letters of a word that gets one syllable, and more than which get three
_ATTEMPTS = 50  # after which an acronym gets another letter, as all short ones may be taken
# Letters whose names and sounds both begin with a vowel, or neither.
_OPEN, _CLOSED = "AEIO", "BCDGKPTVZ"


def _invent(own: str, kind: Kind, *, is_acronym: bool, taken: Collection[str], seed: str) -> str:
    """Return a word in lower case that is not taken, about as long as a key."""
    rng = random.Random(f"{seed} {kind} {own}")
    is_open = _opens(own)
    if kind == "work" and not is_acronym:
        for word in rng.sample(_TITLE_WORDS, len(_TITLE_WORDS)):
            shown = _plural(word) if _is_plural(own) else word
            if (word[0] in _FIRST_VOWELS) is is_open and shown not in taken:
                return shown
    for attempt in count():
        if is_acronym:
            word = _acronym(len(own) + attempt // _ATTEMPTS, rng, is_open=is_open)
        else:
            word = _word(own, kind, rng, is_open=is_open)
        if word not in taken:
            break
    return word


def _opens(own: str) -> bool:
    return own[0] in _FIRST_VOWELS and not own.startswith(("eu", "one", "once"))


def _is_plural(own: str) -> bool:
    return len(own) > _SHORT and own.endswith("s") and not own.endswith(("ss", "is", "us", "as"))


def _plural(word: str) -> str:
    if word.endswith(("s", "x", "sh", "ch")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeiou" else f"{word}s"


def _word(own: str, kind: Kind, rng: random.Random, *, is_open: bool) -> str:
    middle = "".join(_syllable(rng) for _ in range(2 if len(own) > _LONG else 1))
    begin = rng.choice(_FIRST_VOWELS) if is_open else ""
    if len(own) <= _SHORT:
        return begin + rng.choice(_ONSETS) + rng.choice(_NUCLEI) + rng.choice(_CODAS[3:])
    return begin + middle + rng.choice(_ONSETS) + rng.choice(_ENDS.get(kind, _ENDS["other"]))


def _syllable(rng: random.Random) -> str:
    return rng.choice(_ONSETS) + rng.choice(_NUCLEI) + rng.choice(_CODAS[:7])


def _acronym(length: int, rng: random.Random, *, is_open: bool) -> str:
    first = rng.choice(_OPEN if is_open else _CLOSED)
    others = (
        rng.choice("BDGKLMNPRTVZ" if (place % 2 == 1) == is_open else "AEIOU")
        for place in range(1, length)
    )
    return (first + "".join(others)).casefold()


# ---- Invented numbers and dates ----

_YEARS = range(1000, 2100)
_SPELLED = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
} | {
    word: 10 * number
    for number, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2
    )
}
_WORDS = {number: word for word, number in _SPELLED.items()}


def _integer(number: str) -> int | None:
    """Return the value of digits such as `3,500.0`; None if it is not whole."""
    whole, _, fraction = number.replace(",", "").partition(".")
    return int(whole) if whole.isdigit() and not fraction.strip("0") else None


def _mantissa(number: str) -> str:
    """Return the digits from the first to the last that is not zero."""
    return "".join(filter(str.isdigit, number)).strip("0")


def _ordinal(number: int) -> str:
    return "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


class Numbers:
    """One mapping from numbers to others, and from dates to others; each is one to one.

    A year is some years earlier; another number keeps its first digit, its zeros at the end and how
    many digits it has, since its digits are replaced where they are. 0 and 1 stay, and so may a
    number from 2100 to 2999 that would have become a year. A month becomes another one as long,
    save February, and a day from 1 to 28 another day with as many digits, so that a date stays a
    date. A runway's name is turned, as all runways are.
    """

    def __init__(self, seed: str) -> None:
        rng = random.Random(f"{seed} dates")
        self._years_back = rng.choice((4, 8))  # of four, so that 29 February stays
        self._turned = rng.randrange(1, _HALF_TURN)
        self._months = {
            2: 2,
            **_deranged((1, 3, 5, 7, 8, 10, 12), rng),
            **_deranged((4, 6, 9, 11), rng),
        }
        self._days = _deranged(range(1, 10), rng) | _deranged(range(10, 29), rng)
        self._digit = _deranged(string.digits[1:], rng)
        self._small = _deranged(string.digits[2:], rng)
        # `an 11` and `an 18` stay so.
        self._last = _deranged("2345679", rng) | {"1": "8", "8": "1"}
        rng = random.Random(f"{seed} digits")
        # Factors without a common divisor with 10, which make a permutation, and offsets.
        self._steps = [
            (10 * rng.randrange(1, 10**6) + rng.choice((1, 3, 7, 9)), rng.randrange(10**6))
            for _ in range(5)
        ]

    def of_key(self, kind: str, number: int) -> int:
        """Return another month, day, runway or year."""
        if kind == "month":
            return self._months.get(number, number)
        if kind == "day":
            return self._days.get(number, number)
        if kind == "runway":
            return (number - 1 + self._turned) % _RUNWAYS + 1
        return (number - _YEARS.start - self._years_back) % len(_YEARS) + _YEARS.start

    def exchange(self, number: str) -> str:
        """Return other digits in the form of a number such as `3,500.0`."""
        value = _integer(number)
        if value is not None and value in _YEARS:
            return _overwritten(number, str(self.of_key("year", value)))
        digits = _mantissa(number)
        if value in {0, 1} or not digits:
            return number
        small = len(digits) == 1 and value == int(digits)
        other = _overwritten(number, self._small[digits] if small else self.scaled(digits))
        while _integer(other) in _YEARS:  # which only years become
            other = _overwritten(other, self.scaled(_mantissa(other)))
        return other

    def scaled(self, digits: str) -> str:
        """Return the digits that replace these, without zeros around them."""
        if len(digits) == 1:
            return self._digit[digits]
        first, middle, last = digits[0], digits[1:-1], digits[-1]
        if middle:
            factor, offset = self._steps[len(middle) % len(self._steps)]
            middle = str((int(middle) * factor + offset) % 10 ** len(middle)).zfill(len(middle))
        return f"{first}{middle}{self._last[last]}"


def _deranged(values: Sequence[Any], rng: random.Random) -> dict[Any, Any]:
    """Return a mapping of the values onto themselves that keeps none in its place."""
    shuffled = list(values)
    rng.shuffle(shuffled)
    return dict(zip(shuffled, [*shuffled[1:], shuffled[0]], strict=True))


def _overwritten(number: str, digits: str) -> str:
    """Return a number with these digits over its own, from the first that is not zero."""
    shown = iter(digits)
    start = re.search("[1-9]|$", number).start()  # type: ignore[union-attr]
    return number[:start] + re.sub(r"\d", lambda digit: next(shown, digit[0]), number[start:])


# ---- The lexicon: entities, their kinds, and the invented words for theirs ----

_COLLIDES = 4  # letters of a word that an invented one must not be
_SEEN = 3  # times that a word was written in lower case, if it is an ordinary word
_COMMON_SHARE = 0.03  # of an ordinary word's uses are in lower case, at least
_ORDER_OF_KINDS = ("person", "place", "organisation", "work", "dish", "thing", "vocabulary")
_JOINED = re.compile(r"[^\W\d_]['’-]$")
_REALMS = ("cantons", "dominions", "marches", "palatinates", "commons")


@dataclass(frozen=True, eq=False)
class Lexicon:
    """One mapping of the words of a corpus's entities to invented words.

    ``kinds`` has the kind of each entity in display form. ``words`` has the invented word of each
    key, in lower case, and ``letters`` the initial of each. ``small`` are keys of names that are
    also written in lower case. ``lower`` and ``uses`` count how often the texts have a word in
    lower case, and at all.
    """

    corpus: str
    kinds: Mapping[str, Kind]
    words: Mapping[str, str]
    letters: Mapping[str, str]
    small: frozenset[str]
    lower: Mapping[str, int]
    uses: Mapping[str, int]
    numbers: Numbers

    @cache  # noqa: B019 - one a corpus
    def parts(self, shown: str) -> Sequence[tuple[Token, bool]]:
        """Return the tokens of an entity in display form, and which of them are exchanged."""
        tokens = _tokens(shown)
        return [
            (
                token,
                self._is_exchanged(tokens, index, self.kinds[shown])
                and (shown.islower() or not self._is_plain(token)),
            )
            for index, token in enumerate(tokens)
        ]

    def _is_plain(self, token: Token) -> bool:
        """Say whether a word of a name is an ordinary one: the `team` of `Velmor (team)`."""
        return token.text.islower() and len(token.text) > 1 and self.is_common(token.key)

    def _is_exchanged(self, tokens: Sequence[Token], index: int, kind: Kind) -> bool:
        token = tokens[index]
        if token.key in _ORDINALS and index and tokens[index - 1].is_number:
            return False
        # of vocabulary, words that are only part of names elsewhere, as in `AMC V8 engine`
        if kind == "vocabulary" and token.key in self.words and not self.lower.get(token.key):
            return True
        return not _stays(token, kind, self.corpus)

    def is_common(self, own: str) -> bool:
        """Say whether texts also use a word as an ordinary one.

        Names of dishes are often written in lower case, and are not.
        """
        lower, uses = self.lower.get(own, 0), self.uses.get(own, 0)
        return own not in self.small and lower >= max(_SEEN, _COMMON_SHARE * uses)


def _stays(token: Token, kind: Kind, corpus: str) -> bool:
    if token.key == "kingdom:united":
        return True
    if corpus == "webnlg" and token.key in _ALIKE:
        return False
    if kind == "vocabulary" or token.key in {"0", "1"} or token.key in _KEPT_OF_CORPUS[corpus]:
        return True
    if token.is_number or token.is_special:
        return False
    if len(token.text) == 1:  # single letters stand for words of people and places
        return kind not in {"person", "place"} or not token.is_capital or token.text in "IVX"
    return token.key in _KEPT_IN.get(kind, _KEPT)


def lexicon(samples: Sequence[Sample]) -> Lexicon:
    """Return the mapping of a corpus, given all its samples."""
    corpus = samples[0].corpus
    seed = f"{corpus} 0"
    votes: defaultdict[str, Counter[Kind]] = defaultdict(Counter)
    for sample in samples:
        for entity, kind, weight in _mentions(sample):
            votes[display(entity)][kind] += weight
    kinds = {entity: _most(votes[entity]) for entity in sorted(votes)}
    lower, uses = Counter[str](), Counter[str]()
    for text in (text for sample in samples for text in sample.references):
        words = _TOKEN.findall(text)
        uses.update(map(_key, words))
        lower.update(_key(word) for word in words if word.islower())
    sought = _sought(kinds, corpus)
    keys = {token.key for entity in kinds for token in _tokens(entity)}
    taken = {own for own in keys if len(own) >= _COLLIDES} | uses.keys()
    return Lexicon(
        corpus=corpus,
        kinds=kinds,
        words=_invented(sought, taken, seed, corpus),
        letters=_initials(seed),
        small=frozenset(_written_small(kinds)) & sought.keys(),
        lower=lower,
        uses=uses,
        numbers=Numbers(seed),
    )


def _most(votes: Mapping[Kind, int]) -> Kind:
    return max(votes, key=lambda kind: (votes[kind], -_ORDER_OF_KINDS.index(kind)))


def _written_small(kinds: Mapping[str, Kind]) -> Iterator[str]:
    """Yield the words of names that are no ordinary words where they are in lower case."""
    for entity, kind in kinds.items():
        for token in _tokens(entity) if kind != "vocabulary" else ():
            is_of_dish = kind == "dish" and token.key not in _KEPT_IN["dish"]
            # part of a longer word in lower case, as in `Kai-shek`, or foreign
            is_joined = _JOINED.search(entity, 0, token.start) or not token.text.isascii()
            if is_of_dish or entity.islower() or (token.text.islower() and is_joined):
                yield token.key


def _sought(kinds: Mapping[str, Kind], corpus: str) -> dict[str, tuple[Kind, bool]]:
    """Return each word that needs an invented one, its usual kind, and if it is an acronym."""
    votes: defaultdict[str, Counter[Kind]] = defaultdict(Counter)
    upper: dict[str, bool] = {}
    for entity, kind in kinds.items():
        for token in _tokens(entity):
            if token.is_number or token.is_special or len(token.text) == 1:
                continue
            if not _stays(token, kind, corpus):
                votes[token.key][kind] += 1
                upper[token.key] = upper.get(token.key, True) and token.text.isupper()
    return {own: (_most(votes[own]), upper[own]) for own in sorted(votes)}


def _invented(
    sought: Mapping[str, tuple[Kind, bool]], taken: Iterable[str], seed: str, corpus: str
) -> dict[str, str]:
    used = set(taken)
    words: dict[str, str] = {}
    for family in _COUNTRIES if corpus == "webnlg" else ():
        stem = _stem(next(iter(family)), used, seed)
        words |= {word: stem + ending for word, ending in family.items()}
        used |= {words[word] for word in family}
    for own, (kind, is_acronym) in sought.items():
        if own not in words:
            words[own] = _invent(own, kind, is_acronym=is_acronym, taken=used, seed=seed)
            used.add(words[own])
    if corpus != "webnlg":
        return words
    united = words["united"]
    realm = random.Random(f"{seed} realm").choice([word for word in _REALMS if word not in used])
    first, second, third = united[0], realm[0], words["america"][0]
    return words | {
        "united:states": united,
        "united:kingdom": united,
        "states:united": realm,
        "US:initials": first + second,
        "USA:initials": first + second + third,
        "UK:initials": f"{first}k",
        "U:S": first,
        "S:U": second,
        "A:US": third,
        "U:K": first,
        "K:U": "k",
    }


def _stem(country: str, taken: Collection[str], seed: str) -> str:
    """Return the beginning of a country's words."""
    rng = random.Random(f"{seed} country {country}")
    while True:
        begin = rng.choice(_FIRST_VOWELS) if _opens(country) else ""
        word = begin + _syllable(rng) + rng.choice(_ONSETS)
        if not any(other.startswith(word) for other in taken):
            return word


def _initials(seed: str) -> dict[str, str]:
    """Return another initial for each, of the same sound before which `a` or `an` stands."""
    rng = random.Random(f"{seed} initials")
    return _shifted("AEFHLMNORS", rng) | _shifted("BCDGJKPQTUWYZ", rng)


def _shifted(letters: str, rng: random.Random) -> dict[str, str]:
    shuffled = rng.sample(letters, len(letters))
    return dict(zip(shuffled, [*shuffled[1:], shuffled[0]], strict=True))


# ---- Entities and texts with invented words in the places of their own ----

_BARE_POSSESSIVE = re.compile(r"[sS]['’](?!\w)")
_OPENING_QUOTE = re.compile(r"(?<!\w)['‘](?=\w)")
_EIGHT = re.compile(r"8|1[18](?:\d\d(?!\.\d)|(?:,\d{3})+)?(?![\d,])")  # eight, eleven or eighteen
_NAMED_OPEN = "AEFHILMNORSX"  # letters whose names begin with a vowel
_BETWEEN = " \"'“‘("  # what may stand between an article and its word


def entity_patches(lexicon: Lexicon, raw: str) -> Patches:
    """Return the patches of an entity in its raw form."""
    tokens = _tokens(raw)
    parts = lexicon.parts(display(raw))
    written = {
        index: _written(lexicon, tokens[index])
        for index, (_, is_exchanged) in enumerate(parts)
        if is_exchanged
    }
    return _patches(raw, tokens, written)


def _written(lexicon: Lexicon, token: Token) -> str:
    """Return what is written for an exchanged word or number."""
    numbers = lexicon.numbers
    kind, _, number = token.key.partition(":")
    if number.isdigit() and (token.text.isdigit() or not token.is_number):
        other = numbers.of_key(kind, int(number))
        if kind == "until":
            return str(other)[-2:]
        if token.is_number:
            return str(other).zfill(len(token.text))
        name = _MONTHS[other - 1]
        is_full = len(token.text) > len("sept") or _fold(token.text) in _MONTHS
        return _like(token.text, name if is_full else name[:3])
    if token.is_number:
        return numbers.exchange(token.text)
    if word := lexicon.words.get(token.key):
        return _like(token.text, word)
    return "".join(lexicon.letters.get(letter, letter) for letter in token.text)


def _like(shown: str, word: str) -> str:
    """Return a word with the capitals of another."""
    if shown.isupper():
        return word.upper()
    return word if shown.islower() else word.capitalize()


def _patches(text: str, tokens: Sequence[Token], written: Mapping[int, str]) -> Patches:
    """Return the patches of what is written for some tokens.

    Ordinals, articles and possessives agree with it.
    """
    agreeing = {
        other: form
        for index, word in written.items()
        for other, form in (
            (index + 1, _ending(tokens, index, word)),
            (index - 1, _article(text, tokens, index, word)),
        )
        if form
    }
    patches = []
    for index, word in sorted({**agreeing, **written}.items()):
        start, end = tokens[index].start, tokens[index].end
        # the apostrophe at the end of a word in s now stands after another letter
        is_bare = _BARE_POSSESSIVE.match(text, end - 1) and not _OPENING_QUOTE.search(text, 0, end)
        if is_bare and word[-1] not in "sS":
            patches.append((start, end + 1, f"{word}{text[end]}s"))
        elif word != text[start:end]:
            patches.append((start, end, word))
    return patches


def _ending(tokens: Sequence[Token], index: int, word: str) -> str | None:
    """Return the `nd` that makes a number an ordinal; None if it is not one."""
    number = _integer(word) if tokens[index].is_number else None
    if number is None or index + 1 == len(tokens) or tokens[index + 1].key not in _ORDINALS:
        return None
    following = tokens[index + 1]
    is_joined = following.start == tokens[index].end
    return _like(following.text, _ordinal(number)) if is_joined else None


def _article(text: str, tokens: Sequence[Token], index: int, word: str) -> str | None:
    """Return the article for a word; None if none stands before it."""
    if not index or tokens[index - 1].text not in {"a", "an", "A", "An"}:
        return None
    before, token = tokens[index - 1], tokens[index]
    gap = text[before.end : token.start]
    if " " not in gap or gap.strip(_BETWEEN):
        return None
    if word[0].isdigit():
        is_open = _EIGHT.match(word) is not None
    else:
        are_initials = word.isupper() and (token.is_special or len(word) == 1)
        is_open = word[0] in (_NAMED_OPEN if are_initials else "aeioAEIO")
    form = "an" if is_open else "a"
    return form if before.text[0] == "a" else form.capitalize()


# ---- Texts: what is certainly a mention is exchanged, and what may be one is an error ----

_NAMES = {"person", "place", "organisation", "work"}
_PREFIX = 4  # letters that a derived word begins with too
_SCALED = 3  # digits by which a number is known in another unit, such as thousands
_MISSPELT = 5  # letters of a word that may be misspelt by one letter
_MISSPELT_TWICE = 8  # letters of a word that may be misspelt by two
_FREQUENT = 20  # uses of a word that is neither derived nor misspelt
_HALF = 0.5  # of the uses of a word that is rarely part of a name
_TENS = 20  # from here on numbers are spelled in two words
_MAGNITUDES = {"dozen", "hundred", "hundreds", "thousand", "thousands", "million", "billion"}


@dataclass(frozen=True)
class Exchange:
    """What is exchanged in a sample: the keys of its names' words, and the keys that stay.

    ``runs`` are the names as keys, without what is in brackets, and ``initials`` the letters that
    stand for a person's name.
    """

    lexicon: Lexicon
    keys: frozenset[str]
    kept: frozenset[str]
    runs: tuple[tuple[str, ...], ...]
    initials: frozenset[str]

    @cached_property
    def scaled(self) -> frozenset[str]:
        """The digits by which exchanged numbers are known in another unit."""
        numbers = self.lexicon.numbers
        return frozenset(
            digits
            for own in self.keys
            if own[0].isdigit() and len(digits := _mantissa(own)) >= _SCALED
            if _mantissa(numbers.exchange(own)) == numbers.scaled(digits)
        )

    @cached_property
    def sought(self) -> tuple[str, ...]:
        """The exchanged words that nothing else is like."""
        return tuple(
            own
            for own in self.keys
            if len(own) >= _PREFIX and own.isalpha() and not self.lexicon.is_common(own)
        )


def exchange_of(lexicon: Lexicon, entities: Iterable[str], attributes: Iterable[str]) -> Exchange:
    """Return what is exchanged in a sample with these entities.

    Raises:
        UncertainError: a name is made of ordinary words alone, or a word is exchanged in one name
            and stays in another.
    """
    keys, kept, initials, runs = set[str](), set[str](), set[str](), []
    for shown in map(display, entities):
        exchanged, staying, letters = _exchanged_parts(lexicon, shown)
        if not exchanged | letters and lexicon.kinds[shown] in _NAMES:
            raise UncertainError(ORDINARY_NAME)
        keys |= exchanged
        kept |= staying
        initials |= letters
        if exchanged:
            without_brackets = re.sub(r"(?s)(?<=.)\(.*\)", "", shown)
            runs.append(tuple(token.key for token in _tokens(without_brackets)))
    if any(own.isalpha() for own in keys & kept):
        raise UncertainError(TWO_THINGS)
    kept |= {token.key for attribute in attributes for token in _tokens(attribute)}
    keys |= {own.removeprefix("until:") for own in keys}
    if lexicon.corpus == "webnlg":
        keys |= {other for own in keys for other in _ALIKE.get(own, ())}
    return Exchange(lexicon, frozenset(keys), frozenset(kept), tuple(runs), frozenset(initials))


@cache
def _exchanged_parts(lexicon: Lexicon, shown: str) -> tuple[set[str], set[str], set[str]]:
    """Return the keys of an entity that are exchanged, those that stay, and its initials."""
    exchanged, staying, initials = set[str](), set[str](), set[str]()
    parts = lexicon.parts(shown)
    for token, is_exchanged in parts:
        if is_exchanged and len(token.text) == 1 and token.text.isalpha():
            initials.add(token.text)
        elif is_exchanged:
            exchanged.add(token.key)
        else:
            staying.add(token.key)
            if token.text.isupper() and len(token.text) <= _PREFIX:
                staying |= set(token.key)  # `F.C.` for `FC`
    for is_single, group in groupby(parts, key=lambda part: len(part[0].text) == 1):
        joined = "".join(token.text for token, _ in group)
        if is_single and len(joined) > 1 and joined.isalpha():  # `FC` for `F.C.`
            are_initials = set(joined) <= initials
            (initials if are_initials else staying).add(
                joined if are_initials else joined.casefold()
            )
    return exchanged, staying, initials


def text_patches(exchange: Exchange, text: str) -> Patches:
    """Return the patches that exchange every mention of a text.

    Raises:
        UncertainError: something in it may be a mention and may not be, or is left of one.
    """
    tokens = tuple(_settled(exchange, text))
    reading = _Reading(exchange, text, tokens)
    written = {
        index: word for index in range(len(tokens)) if (word := reading.mention(index)) is not None
    }
    for order in (range(len(tokens)), range(len(tokens) - 1, -1, -1)):
        for index in order:
            if index not in written and reading.is_initial(index, written):
                written[index] = _written(exchange.lexicon, tokens[index])
    for index in range(len(tokens)):
        if index not in written and (reason := reading.objection(index, written)):
            raise UncertainError(reason)
    return _patches(text, tokens, written)


def _settled(exchange: Exchange, text: str) -> Iterator[Token]:
    """Yield the tokens of a text; of `7/11/1907` the units say which number is the month."""
    for token in _tokens(text):
        kind, _, numbers = token.key.partition(":")
        if kind != "either" or not numbers:
            yield token
            continue
        this, other = numbers.split("/")
        is_day = {f"day:{this}", f"month:{other}"} <= exchange.keys
        is_month = {f"month:{this}", f"day:{other}"} <= exchange.keys
        if is_day is is_month and (this != other or not is_day):
            raise UncertainError(OTHER_NUMBER)
        yield token._replace(key=f"day:{this}" if is_day else f"month:{this}")


@dataclass(frozen=True)
class _Reading:
    """A text, read for a sample."""

    exchange: Exchange
    text: str
    tokens: Sequence[Token]

    @cached_property
    def sure(self) -> frozenset[int]:
        """The indices of tokens that are in a whole name, or with another word of it."""
        found = set[int]()
        for run in self.exchange.runs:
            for begin, own in enumerate(run):
                if begin == 0 or own in self.exchange.keys:
                    for start, token in enumerate(self.tokens):
                        if token.key == own and len(run) > 1:
                            found |= {*range(start, start + self._length(start, run, begin))}
        return frozenset(found)

    def _length(self, start: int, run: Sequence[str], begin: int) -> int:
        """Return how many words of a name, from one of them on, begin at a token."""
        pairs = zip(self.tokens[start:], run[begin:], strict=False)
        keys = [own for _, own in takewhile(lambda pair: pair[0].key == pair[1], pairs)]
        are_many = sum(own in self.exchange.keys for own in keys) > 1
        is_name = len(keys) == len(run) or (are_many and self.tokens[start].is_capital)
        return len(keys) if is_name else 0

    def mention(self, index: int) -> str | None:
        """Return what is written for a token, None if it stays.

        Raises:
            UncertainError: it may be a mention and may not be.
        """
        token, exchange = self.tokens[index], self.exchange
        lexicon = exchange.lexicon
        if token.key in exchange.keys:
            if index not in self.sure and token.key in exchange.kept:
                raise UncertainError(TWO_THINGS)
            if index not in self.sure and token.key.isalpha() and lexicon.is_common(token.key):
                return self._common(index)
            return _written(lexicon, token)
        if token.is_number and not token.is_special and token.key not in exchange.kept:
            digits = _mantissa(token.text)
            is_known = digits in exchange.scaled
            return _overwritten(token.text, lexicon.numbers.scaled(digits)) if is_known else None
        return self._spelled(index) if _SPELLED.get(token.key, 0) > 1 else None

    def _common(self, index: int) -> str | None:
        """Return what is written for a word that texts also use as an ordinary one."""
        if not self.tokens[index].is_capital:
            return None
        around = (*self.tokens[max(index - 1, 0) : index], *self.tokens[index + 1 : index + 2])
        if self._begins(index) and not any(
            other.key in self.exchange.keys and other.is_capital for other in around
        ):
            raise UncertainError(TWO_THINGS)
        return _written(self.exchange.lexicon, self.tokens[index])

    def _spelled(self, index: int) -> str | None:
        """Return the words for what a spelled number becomes."""
        exchange, token = self.exchange, self.tokens[index]
        value = _SPELLED[token.key]
        if value >= _TENS and any(each.key in _SPELLED for each in self.tokens[index + 1 :][:1]):
            raise UncertainError(OTHER_NUMBER)
        if str(value) not in exchange.keys:
            return None
        word = _WORDS.get(int(exchange.lexicon.numbers.exchange(str(value))))
        if word is None or any(other.key == str(value) for other in self.tokens):
            raise UncertainError(OTHER_NUMBER)
        return _like(token.text, word)

    def is_initial(self, index: int, written: Iterable[int]) -> bool:
        """Say whether a token is an initial beside an exchanged word or another initial."""
        return self.tokens[index].text in self.exchange.initials and any(
            other in written and self.tokens[other].is_capital for other in (index - 1, index + 1)
        )

    def objection(self, index: int, written: Iterable[int]) -> str | None:
        """Return why a token cannot stay, None if it can."""
        token, exchange = self.tokens[index], self.exchange
        lexicon = exchange.lexicon
        if token.key in exchange.keys:
            is_rare = lexicon.lower.get(token.key, 0) < _HALF * lexicon.uses.get(token.key, 0)
            return OTHER_FORM if is_rare or (token.key,) in exchange.runs else None
        if token.is_number or token.is_special:
            return None if token.key in exchange.kept else OTHER_NUMBER
        if token.key in _ORDINALS and index and self.tokens[index - 1].is_number:
            return None
        has_numbers = any(own[0].isdigit() for own in exchange.keys)
        if token.key in _MAGNITUDES and has_numbers and index - 1 not in written:
            return OTHER_NUMBER
        if token.key in exchange.kept or token.key in _PLAIN:
            return None
        return self._objection_to_word(index, written)

    def _objection_to_word(self, index: int, written: Iterable[int]) -> str | None:
        token, lexicon = self.tokens[index], self.exchange.lexicon
        if len(token.text) == 1:  # neither an article nor `I`, nor in lower case
            is_article = token.text == "A" and self.text[token.end : token.end + 1] != "."
            return OTHER_NAME if token.is_capital and token.text != "I" and not is_article else None
        if self._is_like_a_name(token):
            return OTHER_FORM
        if not token.is_capital and token.key not in lexicon.words:
            return None
        is_title = not lexicon.is_common(token.key) or self._is_in_a_title(index, written)
        return OTHER_NAME if is_title else None

    def _is_in_a_title(self, index: int, written: Iterable[int]) -> bool:
        """Say whether a capital word is beside another one and does not begin a sentence."""
        if not self.tokens[index].is_capital or self._begins(index):
            return False
        return any(
            0 <= other < len(self.tokens)
            and other not in written
            and not self._begins(max(other, index))
            and self._may_name(self.tokens[other])
            for other in (index - 1, index + 1)
        )

    def _may_name(self, token: Token) -> bool:
        stays = any(token.key in words for words in (self.exchange.kept, _KEPT, _PLAIN))
        return token.is_capital and len(token.text) > 1 and not stays

    def _is_like_a_name(self, token: Token) -> bool:
        """Say whether a word is derived from one of a name, or is one misspelt."""
        own, sought = token.key, self.exchange.sought
        is_frequent = self.exchange.lexicon.uses.get(own, 0) >= _FREQUENT
        if len(own) < _PREFIX or (is_frequent and not token.is_capital):
            return False
        if any(own[:_PREFIX] == other[:_PREFIX] for other in sought):
            return True
        return not is_frequent and any(
            Levenshtein.distance(own, other, score_cutoff=2) <= 1 + (len(other) >= _MISSPELT_TWICE)
            for other in sought
            if len(other) >= _MISSPELT
        )

    def _begins(self, index: int) -> bool:
        """Say whether a token begins a sentence."""
        if index == 0:
            return True
        before = self.tokens[index - 1]
        gap = self.text[before.end : self.tokens[index].start]
        ends = any(mark in gap for mark in "!?\n") or ("." in gap and " " in gap)
        return ends and len(before.text) > 1


# ---- The samples of a corpus, and its file ----


def content(corpus: str) -> dict[str, Any]:
    """Return the patches of all samples of a corpus and of its test sets."""
    words = lexicon(registry().get("corpus", corpus).everything())
    entities = {key(entity): entity_patches(words, entity) for entity in words.kinds}
    texts: dict[str, Patches | str] = {}
    reordered = set[str]()
    for sample in _samples(corpus):
        for entity in _entities(sample):
            entities[key(entity)] = entity_patches(words, entity)
        for text in sample.references or ("",):
            alone = replace(sample, references=(text,), challenge=None)
            own = key(text, alone.units, alone.about("name"))
            if own in texts:
                continue
            try:
                attributes = (unit[-2] for unit in sample.units)
                texts[own] = text_patches(exchange_of(words, _entities(sample), attributes), text)
            except UncertainError as error:
                texts[own] = str(error)
            twin = Twins(entities, texts, frozenset()).twin(alone)
            if text and isinstance(twin, Sample) and _order(twin) != _order(alone):
                reordered.add(own)
    return {
        "entities": dict(sorted(entities.items())),
        "texts": dict(sorted(texts.items())),
        "reordered": sorted(reordered),
    }


def _samples(corpus: str) -> Iterator[Sample]:
    yield from registry().get("corpus", corpus).everything()
    for spec in named.available():
        if spec.name.corpus == corpus and spec.name.protocol != "twin":
            yield from named.load(*spec.name).test.samples


def _entities(sample: Sample) -> Iterator[str]:
    """Yield the entities of a sample, without the phrases that stand for hidden ones."""
    hidden = sample.challenge
    phrases = {phrase for _, phrase in hidden.phrases} if isinstance(hidden, Hidden) else set()
    if name := sample.about("name"):
        yield name
    for unit in sample.units:
        ends = (unit.subject, unit.object) if isinstance(unit, Triple) else (unit.value,)
        yield from (end for end in ends if end not in phrases)


def _order(sample: Sample) -> object:
    return order_invariance.reference_orders(sample)


def main() -> None:
    """Write the files of some corpora, or of all, where the package has them or elsewhere."""
    parser = argparse.ArgumentParser(description="Write the patches of fictional twins.")
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", default=CORPORA)
    parser.add_argument("--to", type=Path, metavar="DIR", default=FOLDER)
    options = parser.parse_args()
    for corpus in options.corpora:
        path = options.to / corpus / FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        written = json.dumps(content(corpus), ensure_ascii=False, separators=(",", ":"))
        path.write_bytes(gzip.compress(written.encode(), mtime=0))
        print(path, f"{path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
