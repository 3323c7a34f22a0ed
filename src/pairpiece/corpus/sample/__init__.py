"""A French–Italian sample corpus, made by ``tools/sample_corpus``: 6,000 sentence pairs."""

from pathlib import Path

FRENCH = Path(__file__).with_name("sample.fr")
ITALIAN = Path(__file__).with_name("sample.it")
