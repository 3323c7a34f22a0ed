"""What the tests share: text, tokenizers, hostile input, damaged models, and the command line."""

import pytest

pytest.register_assert_rewrite(f"{__name__}.command_line", f"{__name__}.tampering")
