"""Models that all tests of transfers use."""

from __future__ import annotations

import pytest
from support.pretrained import Models


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    return Models(tmp_path_factory.mktemp("models"))
