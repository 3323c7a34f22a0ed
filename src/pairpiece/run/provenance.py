"""Where a tokenizer comes from: what its model remembers of a run."""

from __future__ import annotations

from typing import Any

from pairpiece import files
from pairpiece.foreign.protocol import digest_of
from pairpiece.run.aligned_text import AlignedText
from pairpiece.run.job import Job
from pairpiece.run.workspace import Result


def provenance(job: Job, aligned: AlignedText, pairs: Result) -> dict[str, Any]:
    """Where the tokenizer comes from; without times and paths, so that runs can be compared."""
    text, links = aligned.text, aligned.links
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
            "symmetrization": job.links.symmetrization,
            "samplers": job.aligner.samplers,
            "length": job.aligner.length,
            "seed": job.aligner.seed,
            **links.details,
        }
    elif job.links.pharaoh is not None:
        alignment["aligner"] = "pharaoh"
    return {
        "corpus": corpus,
        "source_tokenizer": {
            "trained": job.source_tokenizer is None and aligned.source is not None,
            "is": digest_of(aligned.source),
        },
        "alignment": alignment,
    }
