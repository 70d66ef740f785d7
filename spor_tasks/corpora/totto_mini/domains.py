"""What the embedded tables are about, and how each of their columns is put into words.

All names are invented. The columns of a domain come in three pairs. A table of the training set has
one of each pair, so that it never has both of any; a table with a header of its own has both.
"""

from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

Layout: TypeAlias = Literal["list", "years", "days", "card"]
"""How a table is laid out.

A ``list`` has a row for each of several things, and its page has another title. Of the others the
page's title is what they are about: ``years`` have a row for each year, ``days`` begin a row with a
header, and a ``card`` has the header before each value.
"""


@dataclass(frozen=True, slots=True)
class Column:
    """A header, its values, and ways to say one; ``group`` is a header that spans its columns."""

    header: str
    values: tuple[str, ...]
    said: tuple[str, ...]
    group: str = ""


@dataclass(frozen=True, slots=True)
class Domain:
    """Tables of one kind.

    ``first`` is the header of the first column, and ``keys`` are its values. ``called`` is how a
    sentence calls what the page is about, and ``when`` how it says the value of the first column,
    or of a list in which case all of it is true.
    """

    layout: Layout
    titles: tuple[str, ...]
    section: str
    about: str
    first: str
    keys: tuple[str, ...]
    pairs: tuple[tuple[Column, Column], ...]
    called: str = "{}"
    when: str = ""


def _numbers(*between: int) -> tuple[str, ...]:
    return tuple(map(str, range(*between)))


def _names(*parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(" ".join, product(*parts)))


_TOWNS = ("Cobrith", "Dornwick", "Fenlow", "Lundey", "Maskeby", "Ombley", "Quellham", "Vassen")
_GIVEN = ("Jonda", "Kesper", "Mirel", "Orsa", "Perrin", "Tavin", "Ulva", "Wenzo")
_FAMILY = ("Askeby", "Brask", "Ollery", "Quill", "Sandrik", "Thornby", "Velm", "Welkin")
_PEOPLE = _names(_GIVEN, _FAMILY)
_COLOURS = ("amber", "cobalt", "ivory", "scarlet", "violet")
_YEARS = _numbers(1960, 1990)

_STATIONS = Domain(
    "list",
    _names(("Northern", "Southern", "Eastern", "Western", "Inner", "Outer"), _TOWNS, ("railway",)),
    "Stations",
    "The stations are in the order of the timetable.",
    "Station",
    _names(_TOWNS, ("Road", "Quay", "Park", "Gate")),
    (
        (
            Column("Opened", _YEARS, ("opened in {}", "has been open since {}")),
            Column("Platforms", _numbers(2, 10), ("has {} platforms", "offers {} platforms")),
        ),
        (
            Column("Line", _COLOURS, ("is on the {} line", "is served by the {} line")),
            Column("Zone", _numbers(2, 10), ("lies in zone {}", "is part of zone {}")),
        ),
        (
            Column("Trains", _numbers(10, 60), ("sees {} trains a day", "has {} daily trains")),
            Column("Depth", _numbers(10, 60), ("is {} metres deep", "has a depth of {} metres")),
        ),
    ),
)
_ELECTIONS = Domain(
    "list",
    _names(_YEARS, _TOWNS, ("council election",)),
    "Candidates",
    "Only candidates with a ballot are listed.",
    "Candidate",
    _PEOPLE,
    (
        (
            Column(
                "Votes",
                _numbers(10, 60),
                ("won {} votes in the first round", "got {} votes at first"),
                "First round",
            ),
            Column(
                "Share",
                _numbers(10, 60),
                ("had {} percent in the last round", "ended with {} percent"),
                "Last round",
            ),
        ),
        (
            Column(
                "Votes",
                _numbers(10, 60),
                ("won {} votes in the last round", "ended with {} votes"),
                "Last round",
            ),
            Column("Party", _COLOURS, ("stood for the {} party", "was of the {} party")),
        ),
        (
            Column(
                "Share",
                _numbers(10, 60),
                ("had {} percent in the first round", "began with {} percent"),
                "First round",
            ),
            Column("Ward", _TOWNS, ("ran in {}", "was a candidate in {}")),
        ),
    ),
    when="in the {}",
)
_SEASONS = Domain(
    "years",
    _PEOPLE,
    "Career statistics",
    "",
    "Year",
    _YEARS,
    (
        (
            Column(
                "Games",
                _numbers(2, 60),
                ("played {} league games", "had {} games in the league"),
                "League",
            ),
            Column(
                "Goals", _numbers(2, 60), ("scored {} cup goals", "had {} goals in the cup"), "Cup"
            ),
        ),
        (
            Column(
                "Games", _numbers(2, 60), ("played {} cup games", "had {} games in the cup"), "Cup"
            ),
            Column("Club", _TOWNS, ("played for {}", "was with {}")),
        ),
        (
            Column(
                "Goals",
                _numbers(2, 60),
                ("scored {} league goals", "had {} goals in the league"),
                "League",
            ),
            Column("Coach", _PEOPLE, ("was coached by {}", "had {} as coach")),
        ),
    ),
    when="in {}",
)
_FILMS = Domain(
    "years",
    _PEOPLE,
    "Filmography",
    "Short films are not listed.",
    "Year",
    _YEARS,
    (
        (
            Column(
                "Film",
                _names(("Copper", "Paper", "Silent", "Winter"), ("Harbour", "Lantern", "Orchard")),
                ("appeared in {}", "was seen in {}"),
            ),
            Column("Awards", _numbers(2, 10), ("won {} awards", "received {} awards")),
        ),
        (
            Column(
                "Role",
                ("captain", "gardener", "judge", "nurse", "painter", "thief"),
                ("played the {}", "took the role of the {}"),
            ),
            Column("Studio", _TOWNS, ("worked for the {} studio", "was with the {} studio")),
        ),
        (
            Column("Director", _PEOPLE, ("was directed by {}", "had {} as director")),
            Column("Fee", _numbers(10, 60), ("earned {} crowns", "was paid {} crowns")),
        ),
    ),
    when="in {}",
)
_FERRIES = Domain(
    "days",
    _names(_TOWNS, _COLOURS, ("ferry",)),
    "Timetable",
    "",
    "Day",
    ("Weekdays", "Saturdays", "Sundays"),
    (
        (
            Column("Start", _numbers(2, 10), ("starts at {}", "first leaves at {}")),
            Column("Cars", _numbers(10, 60), ("carries {} cars", "has room for {} cars")),
        ),
        (
            Column("Trips", _numbers(2, 10), ("makes {} trips", "crosses {} times")),
            Column("Crew", _numbers(2, 10), ("has a crew of {}", "needs a crew of {}")),
        ),
        (
            Column("Fare", _numbers(2, 10), ("costs {} crowns", "has a fare of {} crowns")),
            Column("Pier", _TOWNS, ("calls at {}", "stops at {}")),
        ),
    ),
    called="the {}",
    when="on {}",
)
_ELEMENTS = Domain(
    "card",
    tuple(
        first + last for first in ("Brin", "Zyl") for last in ("adium", "esium", "icium", "onium")
    ),
    "Properties",
    "All values are those of the pure element.",
    "",
    (),
    (
        (
            Column("Number", _numbers(10, 60), ("has the number {}", "is element {}")),
            Column("Colour", _COLOURS, ("is {}", "has a shade of {}")),
        ),
        (
            Column("Melts", _numbers(10, 60), ("melts at {} degrees", "is liquid from {} degrees")),
            Column("Found", _TOWNS, ("was found in {}", "comes from {}")),
        ),
        (
            Column("Finder", _PEOPLE, ("was discovered by {}", "was first seen by {}")),
            Column("Price", _numbers(10, 60), ("costs {} crowns", "has a price of {} crowns")),
        ),
    ),
)

DOMAINS = (_STATIONS, _ELECTIONS, _SEASONS, _FILMS, _FERRIES, _ELEMENTS)
