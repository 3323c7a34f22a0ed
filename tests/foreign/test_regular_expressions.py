"""Regular expressions of foreign tokenizers: those in use are taken, those without a bound not."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import pairpiece
from pairpiece.foreign.huggingface import HuggingFaceTokenizer
from pairpiece.foreign.regular_expressions import check_expression
from pairpiece.model.opening import open_tokenizer
from pairpiece.text import word_pattern

_CONTRACTIONS = r"'s|'t|'re|'ve|'m|'ll|'d"
_CAPITALS, _SMALL = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"

IN_USE = {
    "GPT-2, OLMo, ModernBERT": (
        rf"{_CONTRACTIONS}| ?\p{{L}}+| ?\p{{N}}+| ?[^\s\p{{L}}\p{{N}}]+|\s+(?!\S)|\s+"
    ),
    "Llama 3, OLMo 2": (
        rf"(?i:{_CONTRACTIONS})|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
    ),
    "Qwen 2 and 3": (
        rf"(?i:{_CONTRACTIONS})|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
    ),
    "Mistral": (
        rf"[^\r\n\p{{L}}\p{{N}}]?[{_CAPITALS}]*[{_SMALL}]+"
        rf"|[^\r\n\p{{L}}\p{{N}}]?[{_CAPITALS}]+[{_SMALL}]*"
        rf"|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
    ),
    "o200k": (
        rf"[^\r\n\p{{L}}\p{{N}}]?[{_CAPITALS}]*[{_SMALL}]+(?i:{_CONTRACTIONS})?"
        rf"|[^\r\n\p{{L}}\p{{N}}]?[{_CAPITALS}]+[{_SMALL}]*(?i:{_CONTRACTIONS})?"
        rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
    ),
    "cl100k, Phi": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "DeepSeek 3": (
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
        rf"""| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_SPACES}"""
    ),
    "DeepSeek, numbers": r"\p{N}{1,3}",
    "DeepSeek, Chinese and Japanese": "[一-龥\u3040-ゟ゠-ヿ]+",
    "DeepSeek, letters": r"\s?\p{L}+",
    "DeepSeek, punctuation": r"\s?[!-/:-~！-／：-～‘-‟\u3000-。]+",
    "DeepSeek, spaces": r"\s+$",
    "Kimi": (
        rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?[{_CAPITALS}&&[^\p{{Han}}]]*"
        rf"[{_SMALL}&&[^\p{{Han}}]]+(?i:{_CONTRACTIONS})?|\s+(?!\S)|\s+"
    ),
    "BLOOM": r" ?[^(\s|[.,!?…。，、।۔،])]+",
    "Falcon": "[0-9][0-9][0-9]",
    "CLIP": r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
    "XLM-R": " {2,}",
    "digits in threes from the right": r"(?=(\d{3})+(?!\d))",
    "digits in threes, otherwise": r"\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))",
    "our words": word_pattern.lossless(),
    "our words and digits": word_pattern.lossless("0123456789"),
    "our words between spaces and digits": word_pattern.by_spaces("0123456789"),
    "our digits": word_pattern.between("0123456789"),
    "our words between spaces": word_pattern.by_spaces(),
    "our places before symbols": word_pattern.before_symbols(word_pattern.NOT_AFTER_SPACE),
    "our places, inside": word_pattern.before_symbols(word_pattern.AFTER_CHARACTER),
}

WITHOUT_BOUND = (
    *(r"(a+)+b", r"(a|a)*b", r"(a|aa)+$", r"(.*)*x", r"(\w+\s?)+$", r"(x+x+)+y", r"^(\d+)*$"),
    *("a*a*b", ".*.*=.*", "(?=a+a+b)", "a+(?!b*c)d", "(a?)*b", "(?:a*)+$", r"\p{N}{1,3}+b"),
    *("a?" * 30 + "a" * 30, "(?:a?){30}a{30}", "(?:a{1000}){1000}", "a{1000}{1000}", "(a|b?)+c"),
)

NOT_UNDERSTOOD = (
    *(r"(a)\1", r"\g<0>", r"(?<x>a)\k<x>", "(?~ab)", r"\X+", r"a\Kb", "(?x)a b", "a(?i)b|c"),
    *("(", ")", "[a", "*a", "[]a]", "a{5,2}", "a{" + "9" * 5000 + "}", "a{100000}", "(?#)", "(?<n"),
    *("(" * 1000 + ")" * 1000, "a" * 100_001, "\\"),
)


def tokenizer_json(expression: str, where: str = "pre_tokenizer") -> dict[str, Any]:
    split = {
        "type": "Split",
        "pattern": {"Regex": expression},
        "behavior": "Isolated",
        "invert": False,
    }
    replace = {"type": "Replace", "pattern": {"Regex": expression}, "content": " "}
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": replace if where == "normalizer" else None,
        "pre_tokenizer": split if where == "pre_tokenizer" else None,
        "post_processor": None,
        "decoder": replace if where == "decoder" else None,
        "model": {"type": "WordLevel", "vocab": {"a": 0, "<unk>": 1}, "unk_token": "<unk>"},
    }


@pytest.mark.parametrize("name", IN_USE)
def test_those_of_tokenizers_in_use_are_taken(name: str) -> None:
    for where in ("pre_tokenizer", "normalizer", "decoder"):
        content = json.dumps(tokenizer_json(IN_USE[name], where)).encode()
        assert HuggingFaceTokenizer(content).tokenize_batch(["a'll  be 12345\n\n 日本!"])


@pytest.mark.parametrize("expression", WITHOUT_BOUND, ids=lambda e: e[:20])
def test_those_that_may_search_for_ever_are_refused(expression: str) -> None:
    with pytest.raises(pairpiece.ModelFormatError, match="could search for too long"):
        check_expression(expression, "x.json")


@pytest.mark.parametrize("expression", NOT_UNDERSTOOD, ids=lambda e: e[:20])
def test_those_that_are_not_understood_are_refused(expression: str) -> None:
    with pytest.raises(pairpiece.ModelFormatError, match=r"^x\.json: .* does not take: "):
        check_expression(expression, "x.json")


@pytest.mark.parametrize("where", ["pre_tokenizer", "normalizer", "decoder"])
def test_they_are_found_wherever_they_stand(where: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(tokenizer_json("(a+)+b", where)))
    with pytest.raises(pairpiece.ModelFormatError, match=r"tokenizer\.json: .* too long"):
        open_tokenizer(path)


@pytest.mark.parametrize(
    "spelled",
    [r'"R\u0065gex": "(a+)+b"', '"Regex": "(a+)+b", "Regex": "a"'],
    ids=["escape", "twice"],
)
def test_they_are_found_however_they_are_written(spelled: str) -> None:
    content = json.dumps(tokenizer_json("HERE")).replace('"Regex": "HERE"', spelled)
    with pytest.raises(pairpiece.ModelFormatError, match="too long"):
        HuggingFaceTokenizer(content.encode()).tokenize_batch(["a"])


# ---------------------------------------------------------------------- the bound

TEXTS = ("a" * 400, "ab" * 200, "a" * 400 + "c", "abc" * 130, "b" * 30 + "a" * 370)


def random_expression(draw: random.Random, depth: int = 0) -> str:
    parts = []
    for _ in range(draw.randint(1, 4)):
        if depth < 3 and draw.random() < 0.35:
            opening = draw.choice(["(", "(?:", "(?=", "(?!", "(?>"])
            part = opening + random_expression(draw, depth + 1) + ")"
            if opening in ("(?=", "(?!"):
                parts.append(part)
                continue
        else:
            part = draw.choice(["a", "b", "[ab]", "[^c]", ".", r"\w", "c"])
        parts.append(part + draw.choice(["", "", "", "*", "+", "?", "{2}", "{1,3}", "*?", "++"]))
        if draw.random() < 0.2:
            parts.append("|")
    return "".join(parts).strip("|")


def taken(expression: str) -> bool:
    try:
        check_expression(expression, "x")
    except pairpiece.ModelFormatError:
        return False
    return True


def gives_up(expression: str) -> bool:
    """Whether the library stops searching after ten million steps."""
    try:
        split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(expression), "isolated")
    except Exception:  # it cannot read it, and so cannot search either
        return False
    try:
        for text in TEXTS:
            split.pre_tokenize_str(text)
    except BaseException as error:
        return "retry-limit" in str(error)
    return False


def test_whatever_is_taken_is_searched_in_few_steps() -> None:
    draw = random.Random(0)
    expressions = {random_expression(draw) for _ in range(1500)}
    chosen = [expression for expression in expressions if taken(expression)]
    assert 100 < len(chosen) < len(expressions)
    assert not [expression for expression in chosen if gives_up(expression)]


@pytest.mark.parametrize("expression", ["(a+)+b", "(a|a)+c"])
def test_the_library_gives_up_on_others(expression: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Else the test above would hold nothing."""
    assert not taken(expression)
    assert gives_up(expression)
    assert "panicked" in capfd.readouterr().err


# ---------------------------------------------------------------------- what the library raises


def test_a_tokenizer_without_an_unknown_token_says_so(tmp_path: Path) -> None:
    content = tokenizer_json("a")
    content["model"] = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "<unk>"}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content))
    source = open_tokenizer(path)
    for use in (source.tokens_by_word, lambda text: source.tokenize_batch([text])):
        with pytest.raises(pairpiece.OptionError, match=rf"{path}: .*UNK"):
            use("b")


def test_a_library_that_panics_is_an_error_like_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pairpiece.foreign.huggingface.check_expressions", lambda *_: None)
    content = json.dumps(tokenizer_json("(a+)+b")).encode()
    with pytest.raises(pairpiece.OptionError, match="retry-limit"):
        HuggingFaceTokenizer(content).tokenize_batch(["a" * 40])
