"""The token estimate against a real tokenizer (cl100k, from the package bpe-openai where it is installed): estimate divided by truth."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable
from pathlib import Path

from tenure.ranking import estimate_tokens

SEED = None
"""Nothing is drawn."""

ROOT = Path(__file__).resolve().parents[1]

TEXTS: dict[str, Callable[[], str]] = {
    "prose": lambda: (ROOT / "docs" / "why.md").read_text(encoding="utf-8"),
    "python": lambda: (ROOT / "src" / "tenure" / "playbook" / "apply.py").read_text(encoding="utf-8"),
    "lesson": lambda: (
        '`book_flight` error "payment amount does not add up, total price is #": make payment_methods[].amount sum to it (255 refused).'
    ),
    "json": lambda: '{"reservation_id": "ZFA04Y", "flights": [{"flight_number": "HAT136", "date": "2024-05-20", "price": 121}]}' * 20,
    "chinese": lambda: "多币种发票按开票日汇率换算后再求和，先核对每一行。" * 10,
    "japanese": lambda: "請求書はPDF/Aで保存し、毎週月曜日に合計を確認します。" * 10,
    "korean": lambda: "환불은 7일 이내에 처리하고 매주 월요일에 합계를 확인합니다. " * 10,
    "russian": lambda: "Проверьте сумму каждой строки перед отправкой отчёта. " * 10,
    "german": lambda: "Vor dem Buchen ist jede Zeile zum Kurs des Rechnungsdatums umzurechnen. " * 10,
}


def measure(*, full: bool) -> dict[str, float | str]:
    """A ratio for each kind of text."""
    del full  # the same texts either way
    if importlib.util.find_spec("bpe_openai") is None:
        return {"skipped": "the package bpe-openai is not installed"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the tokenizer's own way of reading its vocabulary
        encoding = importlib.import_module("bpe_openai").get_encoding("cl100k_base")
    return {name: round(estimate_tokens(text()) / len(encoding.encode(text())), 3) for name, text in TEXTS.items()}
