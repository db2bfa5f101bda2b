"""Addresses and texts at random, each a function of its seed alone."""

from random import Random

from tests.hostile.addresses import NUMBERS, WORDS, parameters
from tests.hostile.texts import ODD, WORST
from tests.pages.tabs import Address, addresses
from tfmviz import zoo
from tfmviz.constants import MOST_TYPED
from tfmviz.ui import router

ALPHABETS = (
    *("ab", "ACGT", " \t", "0123456789.-e", "<>&`$*_[]():", "éèêäöüß", "老王批评", "שלום", "😀👩‍👧🏽"),
    "\x00\x07\u200b\u202e",
)

SENTENCES = ("The cat sat on the mat.", "Le chat est assis sur le tapis.", "the ___ sat", "3+5=8", "a b c d")


def address(random: Random) -> tuple[str, Address]:
    """A page, one of its tabs, and up to six parameters with values that are mostly senseless."""
    page = random.choice(router.PAGES).name
    chosen = tab(random, page) if random.random() < 0.8 else {}
    for name in random.sample(parameters(page), random.randrange(7)):
        chosen[name] = value(random)
    if random.random() < 0.3:
        chosen["model"] = random.choice(zoo.available())
    return page, {"text": text(random, longest=300), **chosen}


def tab(random: Random, page: str) -> Address:
    return dict(random.choice(addresses(page)))


def value(random: Random) -> str:
    match random.randrange(4):
        case 0:
            return random.choice(NUMBERS)
        case 1:
            return random.choice(WORDS)
        case 2:
            return str(random.choice((random.randrange(-3, 40), random.uniform(-2, 2), 10 ** random.randrange(20))))
    return text(random, longest=40)


def text(random: Random, *, longest: int = MOST_TYPED) -> str:
    """A hostile one, a sentence, or letters of one or two alphabets; some repeat what they begin with."""
    long = random.choice([random.choice(pool) for pool in (list(WORST.values()), ODD, WORDS, SENTENCES)])
    if random.random() < 0.3:
        long = _letters(random)
    if random.random() < 0.2:
        long = long[: random.randrange(1, 30)] * random.randrange(1, 400)
    if random.random() < 0.2:
        at = random.randrange(len(long) + 1)
        long = long[:at] + random.choice(WORDS) + long[at:]
    return long[: random.choice((longest, longest // 10, 12))]


def _letters(random: Random) -> str:
    alphabet = random.choice(ALPHABETS) + random.choice(ALPHABETS) * (random.random() < 0.5)
    return "".join(random.choices(alphabet, k=int(MOST_TYPED ** random.random())))
