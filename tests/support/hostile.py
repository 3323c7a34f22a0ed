"""Texts that break tokenizers: hand-picked ones, and random ones from all corners of Unicode."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from support.french_italian import PAIRS

TEXT_VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "nfc": {"normalization": "nfc"},
    "no normalization": {"normalization": "none"},
    "dummy prefix": {"add_dummy_prefix": True},
    "not split": {"pretokenization": "none"},
}
"""Options under which every text must survive; tests add their own."""

HOSTILE: list[str] = [
    "",
    # Spaces and line breaks.
    " ",
    "   ",
    " a",
    "a ",
    "  a  b  ",
    "\t",
    "\n",
    "\r\n",
    "a\tb\nc\r\nd\re",
    " \t \n ",
    "a\u00a0b\u2003c\u3000d\u200be\ufefff",
    "\u2028\u2029\x85\x0b\x0c",
    # What pieces look like.
    "▁",
    "▁▁ ▁",
    "▁il gatto",
    "il▁gatto",
    "<s>",
    "</s>",
    "<s> il gatto </s>",
    "<unk>",
    "<pad>",
    "<0x41>",
    "<0x00><0xFF>",
    " ⁇ ",
    # Controls and other code points that are no text.
    "\0",
    "a\0b\0",
    "\0\0 \0",
    "\x01\x02\x1b[0m\x7f\x80\x9f",
    "\ud800",
    "\udfff",
    "a\ud83db",
    "\ude00\ud83d",
    "\ud83d\ude00",
    "\ufffd\ufffe\uffff\ufdd0\U0001ffff\U0010ffff",
    "\ue000\uf8ff\U000f0000\U00100000",
    "\u0378\U0003ffff",
    # Emoji.
    "👨‍👩‍👧‍👦",
    "👩🏽‍🚀 va su 🌙️",
    "🇮🇹🇫🇷🇮",
    "1️⃣#️⃣*️⃣",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "\u200d\ufe0f🏽",
    # Marks.
    "\u0301a",
    " \u0301a",
    "\u0301\u0308 \u0327",
    "e\u0301\u0301\u0301",
    "a\u0327\u0301 a\u0301\u0327",
    "a" + "\u0300\u0323" * 40,
    # Other scripts.
    "שָׁלוֹם \u200fעולם\u200e",
    "\u202eabc\u202c \u2067مرحبا\u2069",
    "ﷺ ﻻ لا",
    "한국어 \u1112\u1161\u11ab\u1100\u1173\u11af ﾡ\uffc2ㄱ",
    "\u1100\u1100\u1161\u11a8\u11a8",
    "ｶﾞｷﾞ ガ か\u3099",
    "नमस्ते क्षत्रिय \u0958",
    "ไทยไม่มีช่องว่าง",
    "漢字仮名交じり文。豈\U0002f800",
    # What NFKC changes.
    "ﬁ ﬃ ﬆ",
    "Ｆｕｌｌ－ｗｉｄｔｈ１２３！",
    "x² ½ ① Ⅷ ㎏ ™ … ‼",
    "Å Å A\u030a Ω Ω",
    "ſ\u0307 ẛ\u0323",
    "㌀ ㍿ 𝔘𝔫𝔦 𝟙",
    # Punctuation.
    "L'ora è tarda, no?!",
    "a,b;c... ——«»''",
    "$€+=^`|~<>",
    "...",
    # Length.
    "a" * 30_000,
    "gatto" * 6_000,
    " " * 5_000,
    "é" * 5_000,
    "€😀" * 3_000,
    "il gatto e il cane. " * 1_500,
]

_RANGES: dict[str, list[tuple[int, int]]] = {
    "any": [(0, 0x10FFFF)],
    "first plane": [(0, 0xFFFF)],
    "ascii": [(0x20, 0x7E)],
    "latin": [(0xA0, 0x24F), (0x1E00, 0x1EFF)],
    "greek": [(0x370, 0x3FF), (0x1F00, 0x1FFF)],
    "marks": [(0x300, 0x36F), (0x591, 0x5C7), (0x1AB0, 0x1ACE), (0x20D0, 0x20F0), (0x3099, 0x309A)],
    "indic": [(0x900, 0xDFF)],
    "jamo": [(0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xD7B0, 0xD7FB)],
    "hangul": [(0xAC00, 0xD7A3), (0x1100, 0x11FF), (0xFFA0, 0xFFDC)],
    "spaces": [(0x20, 0x20), (0x9, 0xD), (0xA0, 0xA0), (0x2000, 0x200D), (0x2028, 0x202F)],
    "emoji": [(0x1F300, 0x1FAFF), (0x200D, 0x200D), (0xFE0F, 0xFE0F), (0x1F1E6, 0x1F1FF)],
    "right to left": [(0x590, 0x7FF), (0x200E, 0x200F), (0x202A, 0x202E), (0xFB1D, 0xFDFF)],
    "controls": [(0, 0x1F), (0x7F, 0x9F), (0x2066, 0x206F), (0xE0001, 0xE007F)],
    "marker": [(0x2581, 0x2581), (0x20, 0x20)],
    "private": [(0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD)],
    "noncharacters": [(0xFDD0, 0xFDEF)] + [(p << 16 | 0xFFFE, p << 16 | 0xFFFF) for p in range(17)],
    "surrogates": [(0xD800, 0xDBFF), (0xDC00, 0xDFFF)],
    "compatibility": [(0xFB00, 0xFB4F), (0xFF00, 0xFFEF), (0x2100, 0x214F), (0x3200, 0x33FF)],
    "compatibility ideographs": [(0xF900, 0xFAFF), (0x2F800, 0x2FA1D), (0x2E80, 0x2FDF)],
    "mathematical": [(0x1D15E, 0x1D164), (0x1D400, 0x1D7FF)],
}
_WORDS = [word.replace("▁", " ") for _, word, _ in PAIRS]


def random_texts(seed: int, count: int) -> Iterator[str]:
    """Texts of up to 30 characters, each from a few of the corners, with known words in between."""
    generator = random.Random(seed)
    corners = list(_RANGES.values())
    for _ in range(count):
        chosen = generator.sample(corners, generator.randint(1, 3))
        ranges = [r for corner in chosen for r in corner]
        parts = []
        for _ in range(generator.randint(1, 30)):
            if generator.random() < 0.1:
                parts.append(generator.choice(_WORDS))
            else:
                parts.append(chr(generator.randint(*generator.choice(ranges))))
        yield "".join(parts)
