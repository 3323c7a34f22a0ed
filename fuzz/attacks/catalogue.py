"""All targets in Python, by name."""

from __future__ import annotations

from attacks import agreement, corpora, models, others, runs
from attacks.target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for module in (models, others, corpora, runs, agreement)
    for target in module.TARGETS
}
