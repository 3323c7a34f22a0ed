"""What the tests share: text, tokenizers, hostile input, damaged models, and the command line."""

import pytest

for name in ("command_line", "listener", "taken_over", "tampering"):
    pytest.register_assert_rewrite(f"{__name__}.{name}")
