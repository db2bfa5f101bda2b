"""Values of an address that once hurt, or are of their kind, and a few whole addresses."""

import re
from functools import cache

from scripts import lint
from tests.pages.tabs import UI, Address

_PARAMETER = re.compile(r'(?:\burl\.\w+\((?:\{|[\w.]+, )?|_asked\(|key=)"([a-z_]+)"')

_OF_THE_FRAME = ("model", "kind", "layer", "head", "token", "to", "look", "projector", "lecture", "step", "run")


@cache
def parameters(page: str) -> tuple[str, ...]:
    """What an address of a page may hold, as its sources say."""
    folder = lint.folder_of(lint.sources()[f"pages/{page}.py"])
    files = [*(UI / folder).glob("*.py"), *UI.glob("*.py")]
    found = {name for path in files for name in _PARAMETER.findall(path.read_text(encoding="utf-8"))}
    return (*sorted(found - {"text", *_OF_THE_FRAME}), *_OF_THE_FRAME)


NUMBERS = (
    *("inf", "-inf", "Infinity", "nan", "NaN", "1e400", "-1e400", "1e308", "1e-400", "1e9", "-1", "-0", "0", "0.5"),
    *("7.6", "1_000", "٣", "²", "0x10", "1,5", "1.5.2", " 3 ", "+3", "3\n", "99999999999999999999", "9" * 400),
    *("--1", "1e", ".", "true", "None", "null", "[]", "{}"),
)
"""In place of a number."""

WORDS = (
    *("", " ", "\x00", "\t", "\r\n\r\n", "a\u2028b", "\u202eabc", "\ufeff", "\u200b", "\ud7ff", "\uffff"),
    *("👩‍👩‍👧", "ﷺ", "\U0010ffff", "é", "e\u0301" * 40, "ß" * 60, "İ", "ﬃ"),
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "`` ` ``", "**[a](javascript:b)**", "$$x$$"),
    *(":red[no]", ":material/block:", "![](http://a.invalid/b.png)", "%3Cb%3E", "%00", "%", "%zz", "&#x3c;b&#x3e;"),
    *("../../etc/passwd", "/etc/passwd", "..%2f..%2f", "CON", "file:///etc/passwd", "\\\\host\\share", "~root"),
    *("tiny-english", "french-english", "Tiny-English", "tiny-english/../reverse", "run-0123456789abcdef", "off"),
    *("decoder.0.self_attn", "d0.0,d0.1", "d99.99", "dm-1", "dl0,dl0,dl0", "e0.0,c0.0,d0.0", "none", "x" * 300),
    *("0.1.2.3", "1.1.1.1", "zz.zz", "zzzzzzzzzz", "-1.-2", "9" * 12, "0,0,0,0", "0:0", "0_0_0", "1-2"),
    *("eJwDAAAAAAE", "eJw=", "====", "AAAA" * 60, "heads:5.3,show:mean", "heads:" + "0.0," * 60, "{0}", "%s%n"),
    *("None", "self", "__class__", "constructor", "__proto__", "toString", "length", "undefined"),
)
"""In place of a name, a list or a code."""

ONCE_HURT: tuple[tuple[str, Address], ...] = (
    ("positions_rope", {"scheme": "Wavelengths", "d_head": "inf", "at_position": "1e400"}),
    ("positions_rope", {"scheme": "Wavelengths", "d_head": "nan"}),
    ("positions_rope", {"scheme": "Wavelengths", "rope_base": "1e400"}),
    ("positions", {"lesson": "Sinusoidal", "wave": "By hand", "by_hand": "inf"}),
    ("positions", {"lesson": "Sinusoidal", "wave": "Curves", "width": "-inf", "places": "inf"}),
    ("positions", {"lesson": "Sinusoidal", "wave": "Curves", "width": "1", "places": "0"}),
    ("positions", {"lesson": "Sinusoidal", "wave": "Curves", "width": "1e9", "places": "1e9"}),
    ("bottleneck", {"seen": "One c, or many", "coordinate": "inf"}),
    ("counting", {"counted_in": "Write with it", "draw_seed": "inf"}),
    ("writing", {"behind": "Draw 100", "sampling_seed": "1e400"}),
    ("writing", {"path": "0.1.2_000000000000", "word": "99"}),
    ("writing", {"path": "\x00_", "word": "-1"}),
    ("explorer", {"text": "word " * 3000}),
    ("explorer", {"text": "\ud7ff\uffff\U0010ffff"}),
    ("explorer", {"text": "a\x00b\x07c\td", "token": "99999999999"}),
    ("explorer", {"model": "<b>`x`", "layer": "7.6", "head": "1e999", "kind": "\n\n# h"}),
    ("explorer", {"look": "heads:5.3<b>", "to": "-1", "token": "²"}),
    ("masks", {"start": "window", "edit": "eJwDAAAAAAE"}),
    ("masks", {"start": "\x00", "edit": "AAAA" * 2000}),
    ("masks", {"text": "\u200b\u200b"}),
    ("switch_off", {"off": "d99.99,e0.0,,dm-1,dl9" * 40, "removed": "Next word"}),
    ("residual_stream", {"text": "é" * 5000, "stream": "The river", "read": "99.99.99"}),
    ("residual_stream", {"of": "inf", "versus": "\x00", "stream": "Who made the word"}),
    ("why", {"term": "99999.-1", "token": "3", "to": "99999"}),
    ("why", {"why": "Test it", "taken": "k99999", "text": "é" * 5000}),
    ("why", {"why": "Which head reads which", "reads": "\x00.1", "side": "inf"}),
    ("whole_model", {"zoom": "decoder.0.self_attn.__class__"}),
    ("feed_forward", {"number": "9.9.9", "neuron": "1e400", "layer_part": "Neurons"}),
    ("feed_forward", {"neuron": "99999999999999999999", "layer_part": "Neurons"}),
    ("translating", {"translation": "Force the beginning", "begins": "\u202e" * 300}),
    ("translating", {"translation": "References", "reference": "|" * 1000}),
    ("translating", {"translation": "Two trees", "from": "inf", "beams": "1e400"}),
    ("translating", {"translation": "Word by word", "shown": "inf", "at": "²"}),
    (
        "tokens",
        {"tokens": "Learn one", "learn_from": "The sentence above", "merges_learned": "300", "text": "😀" * 5000},
    ),
    ("tokens", {"tokens": "Learn one", "pasted": "😀" * 2000, "learn_from": "My own"}),
    ("normalisation", {"about": "Age and tuition", "ages": "inf,nan,1e400", "fees": ",,,"}),
    ("normalisation", {"about": "Which numbers share a mean?", "together": "\n" * 2000}),
    ("positions", {"lesson": "Order-blind", "order": "0.0.0.0.9999"}),
    ("positions", {"lesson": "Learned", "of_table": "The wall", "letters": "\x00" * 32}),
    ("complexity", {"cost": "The table", "row": "__proto__"}),
    ("positions", {"lesson": "Not only words", "drawn": "<img src=x>" * 999, "digit": "nan", "reader": "\x00"}),
    (
        "positions",
        {"lesson": "Not only words", "drawn": "g" * 64, "digit": "-1", "shuffle": "1e9", "reader_layer": "9"},
    ),
    ("efficient", {"method": "Running sums", "sums": "Trained state space", "space": "99", "channel": "-1"}),
    ("training", {"learned": "Train one", "runs": "../../etc", "run": "../../etc/passwd"}),
    ("training", {"learned": "Train one", "run": "0123456789abcdef,0123456789abcdef"}),
    ("recipe", {"recipe": "Adam", "x": "nan", "y": "inf", "eta": "1e400"}),
    ("size", {"sized": "Where they sit", "design": "yours", "n_layers": "1e400", "d_model": "\x00"}),
    ("lectures", {"lecture": "../L3", "step": "1e400"}),
    ("explorer", {"lecture": "L3", "step": "-99999"}),
)
"""Pages and parameters."""
