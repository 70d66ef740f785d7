"""The kinds of WebNLG's entities: by predicate where they are objects, by category elsewhere."""

import re
from collections.abc import Iterator, Mapping

from spor_tasks.core.sample import Sample, Triple
from spor_tasks.corpora.kinds import CorpusKinds, Kind, Mention

# A leader may be a party, and a producer a company.
_ORGANISED = re.compile(
    r"(?i)(?:association|city council|club|committee|company|council|government|parliament|party|"
    r"production team|university)(?![a-z])"
)
_NUMBER = re.compile(r'"?\d[\d.,]*"?( ?\(.*\))?')
_OBJECT_WEIGHT = 1000  # an object says more than any number of subjects

_SUBJECTS: Mapping[str, Kind] = {
    "Airport": "thing",
    "Artist": "person",
    "Astronaut": "person",
    "Athlete": "person",
    "Building": "thing",
    "CelestialBody": "thing",
    "City": "place",
    "ComicsCharacter": "person",
    "Company": "organisation",
    "Film": "work",
    "Food": "dish",
    "MeanOfTransportation": "thing",
    "Monument": "thing",
    "MusicalWork": "work",
    "Politician": "person",
    "Scientist": "person",
    "SportsTeam": "organisation",
    "University": "organisation",
    "WrittenWork": "work",
}

# Predicates in words, as units have them, with commas between.
_OBJECTS: Mapping[Kind, str] = {
    "person": "leader, manager, creator, discoverer, author, architect, starring, spouse, "
    "chairman, general manager, coach, president, dean, backup pilot, editor, designer, "
    "doctoral student, doctoral advisor, crew members, director, commander, producer, writer, "
    "music composer, influenced by, founded by, founder, chancellor, vice chancellor, in office "
    "while monarch, in office while prime minister, in office while president, in office while "
    "vice president, in office while governor, child, mayor, band member, former band member, "
    "rector, predecessor, editing, cinematography, voice, senators, has deputy, representative, "
    "chief, chairperson, birth name, patron saint, saint",
    "place": "country, location, birth place, is part of, capital, death place, region, city, "
    "city served, state, largest city, origin, residence, has to its north, has to its "
    "southeast, has to its west, has to its southwest, has to its northeast, has to its "
    "northwest, municipality, county seat, neighboring municipality, part, ceremonial county, "
    "nearest city, state of origin, citizenship, nationality, country origin, foundation place, "
    "spoken in, region served, jurisdiction, garrison, administrative arrondissement, recorded "
    "in, river",
    "organisation": "club, league, operating organisation, record label, manufacturer, party, "
    "operator, owner, publisher, champions, youthclub, broadcasted by, military branch, former "
    "team, parent company, debut team, subsidiary, draft team, currentclub, currentteam, design "
    "company, distributor, distributing company, distributing label, affiliation, alma mater, "
    "headquarter, builder, governing body, legislature, tenant, current tenants, leader party, "
    "employer, sport governing body, compete in, owning organisation, developer, college, "
    "university team, season",
    "work": "associated band/associated musical artist, artist, musical band, musical artist, "
    "preceded by, followed by, album, notable work, series, award, nickname, first appearance "
    "in film, motto, anthem, abbreviation",
    "vocabulary": "genre, derivative, ingredient, main ingredient, stylistic origin, course, "
    "occupation, status, background, music fusion genre, music subgenre, instrument, media "
    "type, industry, product, body style, class, transmission, academic discipline, "
    "professional field, order, family, genus, division, religion, material, type, category, "
    "service, layout, colour, serving temperature, sports offered, position, building type, "
    "function, frequency, gemstone, death cause, profession, format, runway surface type, 1st "
    "runway surface type, 2nd runway surface type, 3rd runway surface type, 4th runway surface "
    "type, 5th runway surface type, government type, architectural style, architecture, "
    "literary genre, bird, fossil, military rank, official school colour, served, similar dish, "
    "engine, currency, ship class, parts type, time zone, utc offset, chairman title, iso6391 "
    "code, iso6392 code, certification, carbohydrate, protein, fat, ribbon award, ship power",
    "dish": "dish variation, related",
}
_BY_PREDICATE = {
    predicate: kind for kind, listed in _OBJECTS.items() for predicate in listed.split(", ")
}
# Their objects are of their subject's kind, as the successor of a car is a car.
_ALIKE = {
    "full name",
    "successor",
    "related mean of transportation",
    "comparable",
    "alternative name",
}


def mentions(sample: Sample) -> Iterator[Mention]:
    """Yield the ends of every triple of a sample."""
    subject_kind = _SUBJECTS.get(sample.about("category") or "", "thing")
    for unit in sample.units:
        if isinstance(unit, Triple):
            kind = subject_kind if unit.predicate in _ALIKE else _BY_PREDICATE.get(unit.predicate)
            yield Mention(unit.subject, subject_kind)
            if kind == "person" and _ORGANISED.search(unit.object):
                kind = "organisation"
            elif _NUMBER.fullmatch(unit.object):
                kind = "thing"
            yield Mention(unit.object, kind or "thing", _OBJECT_WEIGHT)


KINDS = CorpusKinds(mentions, countries=True)
