"""What a tokenizer knows about translations, for other aligners and for analysis."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pairpiece import files
from pairpiece.errors import OptionError
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.text.words import without_surrogates

_ESCAPES = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r"})

NO_SOURCE = "<eps>"
"""What fast_align calls the source of words that have none."""


def lexical_table(tokenizer: Tokenizer, min_probability: float = 1e-6) -> Iterator[str]:
    """Lines ``source<TAB>target<TAB>log p(t|s)``, as in the tables of fast_align."""
    table = tokenizer.cooccurrences()
    rows = table.piece_ids
    probability = table.count / table.source_count[table.source]
    pieces = list(tokenizer.get_vocab())
    for i in np.lexsort((rows, table.source)):
        if probability[i] >= min_probability:
            source = _on_a_line(table.source_tokens[table.source[i]]) or NO_SOURCE
            yield f"{source}\t{_on_a_line(pieces[rows[i]])}\t{np.log(probability[i]):.6g}"


def _on_a_line(token: str) -> str:
    """A token without what would end a column or a line, or could not be written."""
    return without_surrogates(token).translate(_ESCAPES)


def write_table(tokenizer: Tokenizer, path: Path) -> None:
    """Write c(t, s): ``.npz`` for ``scipy.sparse.load_npz``, or ``.parquet``.

    The matrix of an ``.npz`` has a row for each piece id and a column for each source token; the
    file also holds ``pieces`` and ``source_tokens``.  A Parquet file has the columns ``piece``,
    ``source_token`` and ``count``.  The first source token, an empty string, stands for no source.
    """
    if path.suffix == ".npz":
        _write_npz(tokenizer, path)
    elif path.suffix == ".parquet":
        _write_parquet(tokenizer, path)
    else:
        raise OptionError(f"{path}: a table is written as .npz or .parquet")


def _write_npz(tokenizer: Tokenizer, path: Path) -> None:
    table = tokenizer.cooccurrences()
    pieces = list(tokenizer.get_vocab())
    with files.replacing(path) as file:
        np.savez_compressed(
            file,
            # The names and types that scipy.sparse gives the parts of a matrix.
            format=np.array(b"csr"),
            shape=np.array([len(pieces), len(table.source_tokens)]),
            data=table.count,
            indices=table.source.astype(np.int32),
            indptr=table.row_begin.astype(np.int32 if len(table.count) < 2**31 else np.int64),
            pieces=np.array(pieces),
            source_tokens=np.array(table.source_tokens),
        )


def _write_parquet(tokenizer: Tokenizer, path: Path) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise OptionError(
            f'{path}: writing Parquet needs pyarrow: pip install "pairpiece[parquet]"'
        ) from None
    table = tokenizer.cooccurrences()
    columns = {
        "piece": pyarrow.DictionaryArray.from_arrays(
            table.piece_ids.astype(np.int32), list(tokenizer.get_vocab())
        ),
        "source_token": pyarrow.DictionaryArray.from_arrays(
            table.source.astype(np.int32), list(map(without_surrogates, table.source_tokens))
        ),
        "count": table.count,
    }
    with files.replacing(path) as file:
        pyarrow.parquet.write_table(pyarrow.table(columns), file)
