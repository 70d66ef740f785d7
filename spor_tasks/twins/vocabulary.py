"""Words that stay, and the words of countries that are exchanged together."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

# What marks the kind of a place, an organisation or a thing, or says where it lies in general.
_MARKS = """
academy aerodrome air airbase airlines airport airports ambassador and anti arena army art arts
asphalt assembly association astronaut authority automobile award bachelor bank base basketball
battle battlefield bay beach board book books borough branch broadcasting building bureau
business cake cakes campus campaign canal capitol car castle cathedral cemetery center centre
central chairman chamber champion championship chancellor channel charity chief chiefs church
circuit cities city civil civilian class club coast college commander commerce commission
committee common commons communications community company complex conference congress
congressional constituency contributing cooperation corporation council counties country county
court cricket cross cruise cruises cup dales defence defense democracy democratic department
deputy design development dinar directorate dissolved distinguished district division dollar
dollars east eastern economic education electric empire energy engine engineering entertainment
enterprise executive exhibition faculty federal federation film finance first flag fleet floor
football for force forces foreign former fort foundation garden gardens gas general global
government governor graduate ground grounds group guard guards hall harbour head headquarters
health helicopter high higher highway historic historical hockey home hospital hotel house human
ice icebreaker in independence independent industrial industries infantry information
infrastructure institute institution insular international internal invasion is island islands
isle isles judge judicial junior justice kingdom labor labour lake land language languages law
leader league legion legislative legislature library lieutenant life limited lira locomotive
long magistrate magistrates major management manor marine maritime martyrs mayor media medal
medical member members memorial men metro metropolitan military minister ministry minority
mission monarch monarchy monument motor mountain mountains municipal municipality museum music
mutual national native natural naval navy network new news north northeast northern northwest
novel ocean of off office officer official old on operation opera opposition or orchestra order
organisation organization pact palace parish park parliament parliamentary part party peninsula
people peoples peso physics pilot place plant point police policy political polytechnic popular
port post pound power premier presidency president press prime prince principal private prize
production productions professional programme project property protection province provincial
provisional public publications publisher publishers radio railroad railway realm record
recording recordings records regiment region regional registered relations representative
representatives republic republican research reserve reserves resort revolution ridge river
rivers road rocket round route row royal runway rupee rupees rupiah school schools science
sciences scientific scout sea seat second secretary security senate senator service services
shipyard shore site ski social socialist societies society soldiers song south southeast
southern southwest sovereign space spaceport special sport sports square stadium staff standard
state states station strait street studies studio studios submarine sultan summer supreme survey
system systems team technical technological technologies technology telecommunications
television temple tenants tennis territory test than that the theatre theater theorem third time
to tower town township trade trading transport transportation treasury treaty tribunal trust
tunnel under union unit universities university upper urban valley vice village visual volunteer
volunteers war wars water way welfare west western wing with women work workers works world yard
youth zone a an at by de del della di do dos da das du e el en et i ii iii iv la las le les los
n o s t v vi vii viii ix x xi xii xiii y as from its into over near not no africa african
africans asia asian asians europe european europeans eurasia euro pounds sterling nationwide
white black mixed race ac afc bc bk bsc cd cf fc fk jk kk pfk pvv sc sd sk ss ssc sv tc vfb utc
co corp inc llc ltd plc sa spa srl cubic days degreecelsius feet foot g grampercubiccentimetres
hp inch inches inhabitants kelvins kg kilogram kilogrampercubicmetre kilogrampercubicmetres
kilograms kilometre kilometreperseconds kilometres km litres m metres metre mile miles
millimetres millimetre centimetres million billion minus minutes mm mph per seconds
squarekilometres tonnes comicscharacter character comics comic genre band album all also
argument area auto aviation aeronautics be baths bombing but can citizens classic cold coloured
constant count countries coupe cuisine defunct diagram diesel disco drum found gold great
greater hair http killed label launch modern mid more neighboring neighbouring occupation
opening orbital postcode principle raised run season specific speed study transmission www jr sr
grant dr sir st saint mr mrs jnr snr
"""
_FUNCTIONS = """
a an and as at but by de for from in into is it its no not of on or over than that the to under
versus with without
"""
_FUNCTION = frozenset(_FUNCTIONS.split())
KEPT = frozenset(_MARKS.split()) | _FUNCTION
"""What stays of the name of a place, an organisation or a thing."""

# The word in brackets behind a name tells namesakes apart: `John Doe (actor)`.
_ROLES = """
a actor actress and asteroid comic architect artist author band baron baroness baronet bishop
boxer born businessman bin botanist coach comics comicscharacter composer count countess da de
del della den der di director disambiguation do dos dr duke earl el emperor footballer general
governor guitarist hockey i ibn ice ii iii iv jockey jr king la lady le lord manager mayor medal
mr mrs musician of painter pianist player poet politician pope president prince princess
producer queen racing rapper saint senator singer sir skier snr soldier sr st ten the trombonist
tuanku van vi vii viii von writer xii xiii y zu
"""
OF_PEOPLE = frozenset(_ROLES.split()) | _FUNCTION
"""What stays of the name of a person."""

_FORMS = """
a album albums amateurs duo and as at band be book but by comics character film films for from
gazette gazettes i ii iii iv v vi vii viii ix x in is isn it its journal journals ll magazine no
novel of on or ost part quarterly review s series single song soundtrack t the to trilogy
transactions versus with without you your my me we our us vol volume volumes award awards medal
order prize
"""
OF_WORKS = frozenset(_FORMS.split()) | _FUNCTION
"""What stays of a title."""

# Ordinary words of dishes; other parts of their names are exchanged.
_FOODS = """
almond amaretti apple bacon baked banana barm basil bass bean beans beef bread breast broth
butter butty cake cakes carrot cauliflower celery cheese chicken chili chocolate cider cob cod
coconut condensed confectionery cookie cookies corn crab cream cucumber cuisine curry custard
dark dessert dish dishes dough dumpling dumplings egg eggs fish fishcake flour flower food fried
fruit fruits garlic granola grape green ground ham honey ice jam juice lamb leaf lemon lime main
meat milk mince minced muffin mushroom mustard noodle noodles nut nuts oil olive onion onions or
orange organ organs paneer pastry peanut peanuts pepper piece pie pork potato potatoes pudding
raisins rasher raw red rice salt sandwich sanger sarnie sauce sausage sausages seafood served
shallot shallots shredded black club cottage oregano shrimp shrimps side soup sour soy spice
spices sponge squeezed starfruit steak stew strawberries strawberry sugar sweet syrup tart tea
tofu tomato tomatoes vegetable vegetables vinegar wheat white with yoghurt yogurt n
"""
OF_DISHES = frozenset(_FOODS.split()) | frozenset(
    [
        "a",
        "al",
        "alla",
        "and",
        "de",
        "di",
        "en",
        "in",
        "of",
        "on",
        "or",
        "the",
        "with",
        "el",
        "la",
        "y",
    ]
)
"""What stays of the name of a dish."""

_PLAIN = """
Library Julian I Mr Mrs Ms Dr TV DVD CD CEO PhD ISBN ISSN OCLC LCCN CODEN ICAO IATA UTC GMT AM
PM Km KM Kg MM Latin Christian Roman OK PC Nintendo PlayStation Xbox Windows Mac Linux Steam
ESRB RPG MMORPG FPS RTS MMO Internet Okay Switch Playstation MAC PCs Macs Id Teen Mature
Everyone Multiplayer Mobile Bluray Gen
"""
PLAIN = frozenset(word.casefold() for word in _PLAIN.split())
"""Words that may have a capital letter wherever they stand: they name nothing in particular."""

_FAMILIES = """
america+a american+an americans+ans
india+ia indian+ian indians+ians
italy+ia italian+ian italians+ians
england+land english+ish englishman+ishman
britain+ain british+ish briton+on britons+ons
scotland+land scottish+ish scots+s scotch+ch
wales+es welsh+esh
ireland+land irish+ish
spain+ain spanish+ish spaniards+iards spaniard+iard
france+ia french+ish
germany+any german+an germans+ans
netherlands+lands dutch+ish holland+olland netherland+land
denmark+mark danish+ish danes+es
turkey+ey turkish+ish turks+s turk+
china+a chinese+ese
japan+an japanese+anese
philippines+ines philippine+ine filipino+ino filipinos+inos filipina+ina
indonesia+ia indonesian+ian indonesians+ians
malaysia+ia malaysian+ian malaysians+ians
singapore+ore singaporean+orean singaporeans+oreans
mexico+o mexican+an mexicans+ans
brazil+il brazilian+ilian brazilians+ilians
argentina+ina argentine+ine argentinian+inian argentines+ines
uruguay+ay uruguayan+ayan uruguayans+ayans
peru+u peruvian+uvian
colombia+ia colombian+ian colombians+ians
venezuela+ela venezuelan+elan
canada+a canadian+ian canadians+ians
australia+ia australian+ian australians+ians
zealand+and zealander+ander zealanders+anders
russia+ia russian+ian russians+ians
soviet+et soviets+ets
poland+land polish+ish poles+es
romania+ia romanian+ian romanians+ians
hungary+y hungarian+ian hungarians+ians magyar+yar
greece+ece greek+ek greeks+eks
austria+ia austrian+ian austrians+ians
switzerland+erland swiss+iss
sweden+en swedish+ish swedes+es
norway+ay norwegian+egian norwegians+egians
finland+land finnish+ish finns+ens
iceland+land icelandic+andic
belgium+ium belgian+ian belgians+ians
portugal+al portuguese+uese
serbia+ia serbian+ian serbs+s serb+
croatia+ia croatian+ian
slovakia+ia slovak+ak
ukraine+aine ukrainian+ainian ukrainians+ainians
azerbaijan+an azerbaijani+ani azerbaijanis+anis
turkmenistan+istan turkmen+men
pakistan+istan pakistani+istani pakistanis+istanis
iraq+aq iraqi+aqi iraqis+aqis
iran+an iranian+anian
israel+el israeli+eli israelis+elis
egypt+ypt egyptian+yptian
nigeria+ia nigerian+ian nigerians+ians
ethiopia+ia ethiopian+ian ethiopians+ians
angola+ola angolan+olan
jamaica+a jamaican+an jamaicans+ans
cuba+a cuban+an
vietnam+am vietnamese+amese
korea+a korean+an koreans+ans
thailand+land thai+i
lanka+a lankan+an lankans+ans
java+a javanese+anese
sunda+a sundanese+anese
malay+ay malays+ays
andalusia+ia andalusian+ian
catalonia+ia catalan+an
flanders+ers flemish+emish
texas+as texan+an texans+ans
california+ia californian+ian californians+ians
hawaii+ii hawaiian+iian
arabia+ia arabian+ian arabic+ic arab+
sicily+y sicilian+ian
rome+e romans+ans
bavaria+ia bavarian+ian
gujarat+at gujarati+ati
galicia+ia galician+ian
grenada+ada grenadian+adian
karnataka+aka kannada+ada
tamil+il tamils+ils
visayas+as visayan+an
sumatra+a sumatran+an
albania+ia albanian+ian
bulgaria+ia bulgarian+ian
bosnia+ia bosnian+ian
georgia+ia georgian+ian
prussia+ia prussian+ian
ottoman+an ottomans+ans
cambodia+ia cambodian+ian
jewish+ish jew+ jews+s
"""


class Form(NamedTuple):
    """A word of a country: what is invented for it ends in ``ending``."""

    word: str
    ending: str


def _families() -> Iterator[tuple[Form, ...]]:
    for line in _FAMILIES.split("\n"):
        if line:
            yield tuple(Form(*part.split("+")) for part in line.split())


FAMILIES: tuple[tuple[Form, ...], ...] = tuple(_families())
"""The words of each country, region or people: one invented stem serves all of a line."""

FAMILY_OF: Mapping[str, tuple[Form, ...]] = {
    form.word: family for family in FAMILIES for form in family
}

_STATES = frozenset(
    {
        *("united:states", "states:united", "US:initials", "USA:initials"),
        *("U:S", "S:U", "A:US", *(form.word for form in FAMILY_OF["america"])),
    }
)
_KINGDOM = frozenset(
    {
        *("united:kingdom", "UK:initials", "U:K", "K:U"),
        *(form.word for form in FAMILY_OF["britain"]),
    }
)


def named_alike(key: str) -> frozenset[str]:
    """Return the keys of words that may stand for the same country or people as a word."""
    for names in (_STATES, _KINGDOM):
        if key in names:
            return names
    return frozenset(form.word for form in FAMILY_OF.get(key, ()))
