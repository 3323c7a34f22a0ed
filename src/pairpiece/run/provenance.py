"""Where a tokenizer comes from: what its model remembers, and what results depend on."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any

from pairpiece import files
from pairpiece.model import opening, storage
from pairpiece.model.tokenizer import Tokenizer
from pairpiece.run.job import Job
from pairpiece.run.workspace import Result


def provenance(
    job: Job, text: Result, source: Any, links: Result | None, pairs: Result
) -> dict[str, Any]:
    """Where the tokenizer comes from; without times and paths, so that runs can be compared."""
    corpus = {
        "files": [{"name": path.name, "sha256": files.digest(path)} for path in job.corpus.files]
        if job.corpus.rereadable
        else [],
        "max_lines": job.max_lines,
        **text.details,
    }
    corpus["findings"] = {f["kind"]: f["count"] for f in text.details["findings"]}
    alignment: dict[str, Any] = {"aligner": "none", **pairs.details}
    if links is not None:
        alignment |= {
            "aligner": "eflomal",
            "symmetrization": job.symmetrization,
            "samplers": job.aligner.samplers,
            "length": job.aligner.length,
            "seed": job.aligner.seed,
            **links.details,
        }
    elif job.align != "none":
        alignment["aligner"] = "pharaoh"
    return {
        "corpus": corpus,
        "source_tokenizer": {
            "trained": job.source_tokenizer is None and source is not None,
            "is": identity(source),
        },
        "alignment": alignment,
    }


def identity(source: Any) -> str | None:
    """What a source tokenizer is, as a string; None for a function, which may be anything."""
    if source is None:
        return "none"
    if isinstance(source, Tokenizer):
        with tempfile.TemporaryDirectory() as folder:
            storage.save_model(source, Path(folder))
            return "pairpiece:" + files.digest(Path(folder) / storage.MANIFEST)
    if isinstance(source, opening.SavedSource):
        return f"{source.kind}:{hashlib.sha256(source.content).hexdigest()}"
    return None


def links_identity(job: Job, links: Result | None) -> list[str]:
    """What the links between words are that a job uses, as strings."""
    if links is not None:
        return [links.content, job.symmetrization]
    if job.align == "none":
        return ["none"]
    return ["pharaoh", files.digest(Path(job.align)), job.links_between]
