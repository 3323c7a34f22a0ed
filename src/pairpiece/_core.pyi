"""The compiled core of pairpiece; not a public interface."""

from collections.abc import Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Splitting(enum.Enum):
    lossless = 0

    paper = 1

    none = 2

    spaces = 3

class WordSplitter:
    def __init__(self, charsmap: bytes, splitting: Splitting, dummy_prefix: bool, squeeze: bool, split_digits: bool, symbols: list) -> None: ...

    def normalize(self, text: str) -> str: ...

    def words(self, text: str) -> list[tuple[str, bool]]: ...

class CharacterClass(enum.Enum):
    letter = 0

    symbol = 1

    control = 2

    extend = 3

def character_runs() -> list[tuple[int, CharacterClass]]: ...

def digit_zeros() -> list[int]: ...

def grow_diag_final_and(forward: object, reverse: object) -> list[tuple[int, int]]: ...

class Conditional(enum.Enum):
    mixture = 0

    pooled = 1

class LengthPenalty:
    def __init__(self, over: float, under: float, unlinked: float) -> None: ...

class ConditionalOptions:
    def __init__(self, conditional: Conditional, evidence: bool, smoothing: float, length_penalty: LengthPenalty, piece_penalty: float, inferred_piece_penalty: float) -> None: ...

class ConditionalModel:
    def __init__(self, row_begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], source: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], count: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], source_count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: ConditionalOptions) -> None: ...

class BigramModel:
    def __init__(self, row_begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], next: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], count: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], smoothing: float) -> None: ...

class Summation(enum.Enum):
    words = 0

    spaces = 1

    texts = 2

    singles = 3

class Paired:
    def __init__(self, model: ConditionalModel, source_ids: dict, sources: list, tokenize: object, links: list | None, whole_sentence: bool) -> None: ...

class Tokenizer:
    def __init__(self, charsmap: bytes, splitting: Splitting, dummy_prefix: bool, squeeze: bool, split_digits: bool, pieces: list, types: Sequence[int], scores: Sequence[float], summation: Summation) -> None: ...

    @property
    def splitter(self) -> WordSplitter: ...

    def encode(self, text: str, as_pieces: bool) -> object: ...

    def encode_batch(self, batch: list, scores: BigramModel | Paired | None, as_pieces: bool, threads: int) -> list: ...

    def segment_batch(self, batch: list, scores: BigramModel | Paired | None, ids_alone: bool, alpha: float | None = None, seed: int = 0, count: int = 0, threads: int = 1) -> list: ...

    def link_counts(self, text: object, model: ConditionalModel, source: Sequence[int], ids: Sequence[int]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

    def decode_batch(self, batch: list, threads: int) -> list: ...

class Counting(enum.Enum):
    posterior = 0

    printed = 1

    best = 2

class SeedOptions:
    def __init__(self, max_piece_length: int, min_count: float, max_seeds: int, character_coverage: float, forbidden: list, allowed: list | None) -> None: ...

class LearnerOptions:
    def __init__(self, conditional: Conditional, counting: Counting, smoothing: float, base_offset: float, length_penalty: LengthPenalty, share_initial: bool, threads: int) -> None: ...

class Learner:
    def __init__(self, words: list, pair_begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], expected: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], source_begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], source: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], multiplicity: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], sources: int, seeds: SeedOptions, options: LearnerOptions) -> None: ...

    def table_bytes(self) -> int: ...

    def initialize(self) -> None: ...

    def count(self) -> float: ...

    def log_table_prior(self) -> float: ...

    def table_entries(self) -> int: ...

    def pieces(self) -> list: ...

    def characters(self) -> int: ...

    def piece_counts(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def source_counts(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def base(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def mutual_information(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def tied_uses(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]: ...

    def best_counts(self, over: float, under: float, unlinked: float, piece_penalty: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def unigram_counts(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def keep(self, flags: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def table(self) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

def seed_bytes(words: list, max_piece_length: int) -> int: ...
