"""Learn a small French → Italian tokenizer from word pairs and look at what it does.

    make demo

The pairs are what a word aligner gives: for each Italian word, with ▁ for the space before it, the
tokens of the French words it translates, and how often that was seen.
"""

from __future__ import annotations

import tempfile

import pairpiece

ARTICLES = {"▁le": "▁il", "▁la": "▁la", "▁les": "▁i", "▁un": "▁un", "▁une": "▁una"}
NOUNS = {
    ("▁chat",): "▁gatto",
    ("▁chat", "s"): "▁gatti",
    ("▁chien",): "▁cane",
    ("▁chien", "s"): "▁cani",
    ("▁sou", "ris"): "▁topo",
    ("▁livre",): "▁libro",
    ("▁livre", "s"): "▁libri",
    ("▁maison",): "▁casa",
    ("▁maison", "s"): "▁case",
    ("▁mois",): "▁mesi",
}
VERBS = {"parl": "parl", "mang": "mangi", "chant": "cant", "trouv": "trov", "aim": "am"}
ENDINGS = {"e": "a", "ons": "iamo", "ent": "ano", "ait": "ava", "er": "are", "é": "ato"}


def pairs() -> list[tuple[list[str], str, int]]:
    """Aligned word pairs: articles, nouns, and verbs in six forms."""
    rows = [([french], italian, 40) for french, italian in ARTICLES.items()]
    rows += [(list(french), italian, 10) for french, italian in NOUNS.items()]
    for french, italian in VERBS.items():
        for french_ending, italian_ending in ENDINGS.items():
            ending = italian_ending.removeprefix("i") if italian.endswith("i") else italian_ending
            rows.append((["▁" + french, french_ending], f"▁{italian}{ending}", 6))
    rows += [([","], ",", 50), (["."], ".", 80), (["'"], "'", 20), ([], "▁si", 5)]
    return rows


def main() -> None:
    """Train, encode with and without a source, align, save and load."""
    tokenizer = pairpiece.train_from_pairs(pairs(), vocab_size=345)
    text = " i gatti mangiano, il cane parlava."
    source = [["▁les"], ["▁chat", "s"], ["▁mang", "ent"], [","], ["▁le"], ["▁chien"]]
    source += [["▁parl", "ait"], ["."]]

    print("source        ", " ".join(token for word in source for token in word))
    print("target only   ", " ".join(tokenizer.encode(text, out_type=str)))
    print("with source   ", " ".join(tokenizer.encode(text, source=source, out_type=str)))

    alignment = tokenizer.align(source, text)
    links = zip(alignment.links, alignment.scores, strict=True)
    for (i, j), score in sorted(links, key=lambda link: link[0][1]):
        print(f"  {alignment.target_tokens[j]:>10} ← {alignment.source_tokens[i]:<8} {score:.2f}")

    print("▁mang is      ", tokenizer.lexicon(k=3).targets["▁mang"])

    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save(folder)
        loaded = pairpiece.load(folder)
    assert (
        loaded.decode(loaded.encode("  tabs\tand ▁ 漢字 survive")) == "  tabs\tand ▁ 漢字 survive"
    )
    print("saved, loaded, and every character survives:", loaded)


if __name__ == "__main__":
    main()
