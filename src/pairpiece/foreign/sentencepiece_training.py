"""SentencePiece models, trained in a process of its own, which can be ended at any time."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from typing import Any

import sentencepiece

from pairpiece import child
from pairpiece.errors import OptionError
from pairpiece.foreign.sentencepiece import SentencePieceTokenizer
from pairpiece.options import check_size

# The paper's settings for the source tokenizer (appendix B).  The size is a wish: SentencePiece
# stops below it if the text has too little to offer.
SOURCE_SETTINGS: dict[str, Any] = {
    "model_type": "unigram",
    "character_coverage": 1.0,
    "shrinking_factor": 0.75,
    "num_sub_iterations": 2,
    "allow_whitespace_only_pieces": True,
    "byte_fallback": True,
    "normalization_rule_name": "nfkc",
    "hard_vocab_limit": False,
    "minloglevel": 2,
}

_REFUSED = 3
"""The exit code when SentencePiece says what it cannot do."""


def train_sentencepiece(
    sentences: Iterable[str], vocab_size: int, option: str = "vocab_size"
) -> SentencePieceTokenizer:
    """A SentencePiece unigram model with the paper's settings.

    `option` is how the user chooses the size, in case it cannot be had.  Whatever ends this
    function ends the training: its threads cannot be stopped while a process lives on.
    """
    check_size(option, vocab_size)
    command = child.command(__name__, str(vocab_size))
    pipe = subprocess.PIPE
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors) as process,
    ):
        try:
            model = _trained(process, sentences)
        except BaseException:
            process.kill()
            raise
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
    if process.returncode == _REFUSED:
        # Without its place in the source, and advice about options that are not the user's.
        why = said.rpartition("] ")[2].partition(" Increase")[0].rstrip(".")
        raise OptionError(
            f"SentencePiece cannot train a tokenizer of {vocab_size} pieces: {why}; choose another "
            f"size ({option})",
            [option],
        )
    if process.returncode != 0:
        raise OptionError(
            f"SentencePiece failed with exit code {process.returncode} and said: "
            f"{said or 'nothing'}. If it was killed, there may not be enough memory"
        )
    return SentencePieceTokenizer(model)


def _trained(process: subprocess.Popen[bytes], sentences: Iterable[str]) -> bytes:
    """Tell the sentences to a process, and wait for its model."""
    assert process.stdin is not None
    assert process.stdout is not None
    # A pipe breaks if the process has failed already; it will say why.
    with contextlib.suppress(BrokenPipeError), process.stdin:
        for sentence in sentences:
            process.stdin.write(json.dumps(sentence).encode("ascii") + b"\n")
    model = process.stdout.read()
    process.wait()
    return model


def main(arguments: list[str]) -> None:
    """Train on the sentences of standard input, and write the model to standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who waits for the model is interrupted too
    output, sys.stdout = sys.stdout.buffer, sys.stderr
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=map(json.loads, sys.stdin.buffer),
            model_writer=model,
            vocab_size=int(arguments[0]),
            **SOURCE_SETTINGS,
        )
    except (RuntimeError, ValueError) as error:
        print(error, file=sys.stderr)
        sys.exit(_REFUSED)
    output.write(model.getvalue())
