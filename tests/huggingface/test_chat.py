"""Chat templates: rendered once at conversion, kept as tokens with who says them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.huggingface.folders import TOKENIZERS, write
from tests.huggingface.test_folders import run
from tfmviz import zoo
from tfmviz.huggingface import chat
from tfmviz.huggingface.source import Refused

CHATML = (
    "{% if messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nBe kind.<|im_end|>\n' }}{% endif %}"
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] | trim + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SHORT = CHATML.replace("<|im_start|>", "<").replace("<|im_end|>", ">").replace("['role'] +", "['role'][0] +")
SHORT = SHORT.replace("system\nBe kind.", "s\nHi").replace("<assistant", "<a")
LLAMA_2 = (
    "{% for m in messages %}{% if m['role'] == 'user' %}{{ bos_token + '[INST] ' + m['content'] + ' [/INST]' }}"
    "{% else %}{{ ' ' + m['content'] + ' ' + eos_token }}{% endif %}{% endfor %}"
)
ONE_MESSAGE = "{% if messages | length > 1 %}{{ raise_exception('one') }}{% endif %}Q: {{ messages[0]['content'] }}\nA:"


def test_a_template_becomes_what_stands_around_a_message_and_who_says_it() -> None:
    marks = {"bos_token": "<s>", "eos_token": "</s>"}
    assert chat.pieces(CHATML, marks) == (
        [("system", "<|im_start|>system\nBe kind.<|im_end|>\n"), ("user", "<|im_start|>user\n")],
        [("user", "<|im_end|>\n"), ("assistant", "<|im_start|>assistant\n")],
    )
    assert chat.pieces(LLAMA_2, marks) == ([("user", "<s>[INST] ")], [("user", " [/INST]")])
    assert chat.pieces(ONE_MESSAGE, marks) == ([("user", "Q: ")], [("user", "\nA:")])


def test_a_template_that_is_no_good_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    for template, why in (
        ("{{ messages.__class__.__mro__[1].__subclasses__() }}", "fails"),
        ("{{ 'a' * 99999999999 }}", "fails"),
        ("{{ 'a' * 99999 }}", "characters"),
        ("{{ messages[0]['content'] | upper }}", "as it is"),
        ("a" * (chat.MOST_TEMPLATE + 1), "characters"),
        (loop, "seconds"),
    ):
        monkeypatch.setattr(chat, "SECONDS", 3 if template == loop else 60)
        with pytest.raises(Refused, match=why):
            chat.pieces(template, {})


def test_a_converted_chat_model_reads_a_text_as_a_users_message(tmp_path: Path, place: Path) -> None:
    write(tmp_path / "gpt2", "gpt2")
    tokenizer = TOKENIZERS["gpt2"]()
    (tmp_path / "gpt2" / "chat_template.jinja").write_text(SHORT)
    assert run(tmp_path / "gpt2", "--chat", "--name", "talks") == 0
    model = zoo.load("talks")
    text = "The cat sat."
    whole = f"<s\nHi>\n<u\n{text}>\n<a\n"
    found = model.trace(text).target
    assert list(found.ids) == tokenizer(whole).input_ids
    assert tokenizer.eos_token_id not in model.trace(tokenizer.eos_token).target.ids  # what is typed is text
    said: dict[str, str] = {}
    for role, token in zip(found.segments, found.tokens, strict=True):
        said[role] = said.get(role, "") + token
    assert list(said) == ["system", "user", "assistant"]
    assert said["user"] == f"<u\n{text}>\n"
    assert run(tmp_path / "gpt2", "--name", "plain") == 0
    assert zoo.load("plain").trace(text).target.segments == ()
