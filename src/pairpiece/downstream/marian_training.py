"""All that Marian needs to train translation models, in a folder for each target tokenizer.

| file | what |
|---|---|
| ``train.source``, ``train.target``, ``dev.source``, ``dev.target``, ``test.source`` | tokens |
| ``test.target`` | the references, as they are |
| ``vocab.source.yml``, ``vocab.target.yml`` | the pieces with Marian's ids |
| ``config.yml`` | the options of the paper, or of a smaller preset |
| ``train.sh``, ``translate.sh`` | train; translate the test text and score it; both take a seed |
| ``tokenizer/`` or ``target.spm`` | to turn pieces back into text |

Text is tokenized here because target text is tokenized with its source, which Marian's built-in
SentencePiece cannot do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from pairpiece import files
from pairpiece.downstream.pieces import TargetPieces
from pairpiece.downstream.settings import TranslationSettings, translation_settings
from pairpiece.downstream.translation_text import read_splits, source_rows
from pairpiece.errors import OptionError
from pairpiece.evaluation.parallel_text import Sentences
from pairpiece.evaluation.systems import named_systems, source_side
from pairpiece.foreign.marian import UNKNOWN, vocabulary_file
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.model import saving
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.text.options import MARKER


def write_marian_experiment(
    folder: str | PathLike[str],
    tokenizers: Sequence[Any],
    source: Sentences,
    target: Sentences,
    dev_source: Sentences,
    dev_target: Sentences,
    test_source: Sentences,
    test_target: Sentences,
    *,
    source_tokenizer: Any = None,
    preset: str = "paper",
    **changes: Any,
) -> list[Path]:
    """Write a folder for each tokenizer, and return their paths.

    The arguments are those of `pairpiece.downstream.translations`.
    """
    config = _config(translation_settings(preset, **changes))
    systems = named_systems(tokenizers, ["paired"])
    for system in systems:
        if not isinstance(system.tokenizer, Tokenizer | SentencePieceTokenizer):
            raise OptionError(
                f"{system.name}: Marian can be given PairPiece and SentencePiece models"
            )
    texts = read_splits((source, target), (dev_source, dev_target), (test_source, test_target))
    sources, source_pieces = source_rows(source_side(source_tokenizer, systems), texts)
    folders = []
    for system in systems:
        own = Path(folder) / system.name.replace("/", "-")
        own.mkdir(parents=True, exist_ok=True)
        pieces = TargetPieces(system)
        for name, text in texts.items():
            _write_tokens(own / f"{name}.source", sources[name], source_pieces)
            if name != "test":
                _write_tokens(own / f"{name}.target", pieces.rows(text), pieces.pieces)
        references = "".join(f"{line}\n" for line in texts["test"].targets)
        files.write(own / "test.target", references.encode("utf-8"))
        files.write(own / "vocab.source.yml", vocabulary_file(source_pieces))
        files.write(own / "vocab.target.yml", vocabulary_file(pieces.pieces))
        files.write(own / "config.yml", config.encode("utf-8"))
        files.write(own / "train.sh", _TRAIN.encode("utf-8"))
        detokenize = _detokenizer(own, system.tokenizer)
        files.write(own / "translate.sh", (_TRANSLATE % detokenize).encode("utf-8"))
        folders.append(own)
    return folders


def _write_tokens(path: Path, rows: Iterable[Any], pieces: list[str]) -> None:
    """A line for each row; a piece that holds a space would be two."""
    named = [piece.replace(" ", MARKER) or UNKNOWN for piece in pieces]
    with files.replacing(path) as file:
        for row in rows:
            file.write((" ".join(named[i] for i in row) + "\n").encode("utf-8"))


def _detokenizer(folder: Path, tokenizer: Any) -> str:
    """Keep what turns pieces back into text, and return the command that does it."""
    if isinstance(tokenizer, Tokenizer):
        saving.save_alone(tokenizer.state, folder / "tokenizer")
        return "pairpiece decode tokenizer --input-format piece"
    files.write(folder / "target.spm", tokenizer.content)
    return _DECODE_SENTENCEPIECE


_DECODE_SENTENCEPIECE = """python3 -c '
import sys, sentencepiece
model = sentencepiece.SentencePieceProcessor(model_file="target.spm")
for line in sys.stdin:
    print(model.decode(line.rstrip().split(" ")))
'"""


# ---------------------------------------------------------------------- configuration


def _config(settings: TranslationSettings) -> str:
    """Marian's options, those of appendix F of the paper where the preset does not say others."""
    updates, batch = settings.updates, settings.batch * settings.accumulation
    return f"""\
train-sets: [train.source, train.target]
valid-sets: [dev.source, dev.target]
vocabs: [vocab.source.yml, vocab.target.yml]

type: transformer
dim-emb: {settings.width}
enc-depth: {settings.layers}
dec-depth: {settings.layers}
tied-embeddings: true
transformer-heads: {settings.heads}
transformer-dim-ffn: {settings.inner_width}
transformer-ffn-activation: relu
transformer-preprocess: ""
transformer-postprocess: dan
transformer-dropout: {settings.dropout}

cost-type: ce-mean-words
max-length: {settings.max_length}
mini-batch: {batch}
mini-batch-fit: {str(batch >= 1000).lower()}
maxi-batch: 1000
optimizer: adam
optimizer-params: [{settings.betas[0]}, {settings.betas[1]}, {settings.epsilon:.1e}]
sync-sgd: true
learn-rate: {settings.learning_rate}
lr-warmup: {settings.warmup}
lr-decay-inv-sqrt: {settings.warmup}
lr-report: true
label-smoothing: {settings.label_smoothing}
clip-norm: {settings.clip_norm}
exponential-smoothing: {settings.averaging}
early-stopping: {settings.patience}
after: {updates}u
shuffle-in-ram: true
disp-freq: {max(1, updates // 100)}u

beam-size: {settings.beam}
normalize: {settings.length_normalization}
valid-freq: {settings.evaluate_every}u
valid-metrics: [ce-mean-words, bleu, perplexity, translation, chrf]
valid-mini-batch: 16
keep-best: true
overwrite: true
"""


_TRAIN = """\
#!/bin/sh
# sh train.sh [SEED [OPTIONS OF MARIAN]]; the variable MARIAN says which program.
set -e
cd "$(dirname "$0")"
seed=${1:-1}
[ $# -eq 0 ] || shift
mkdir -p "model-$seed"
exec "${MARIAN:-marian}" --config config.yml --seed "$seed" \\
    --model "model-$seed/model.npz" --log "model-$seed/train.log" "$@"
"""

_TRANSLATE = """\
#!/bin/sh
# sh translate.sh [SEED [OPTIONS OF MARIAN]]: the test text by the model that train.sh has trained;
# the variable MARIAN_DECODER says which program.
set -e
cd "$(dirname "$0")"
seed=${1:-1}
[ $# -eq 0 ] || shift
"${MARIAN_DECODER:-marian-decoder}" --input test.source --output "model-$seed/test.pieces" \\
    --config "model-$seed/model.npz.best-chrf.npz.decoder.yml" "$@"
%s < "model-$seed/test.pieces" > "model-$seed/test.txt"
sacrebleu test.target --input "model-$seed/test.txt" --metrics chrf bleu ter --chrf-word-order 2
"""
