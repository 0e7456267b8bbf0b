"""The bundled model's README.md is what `langchain_ssr.demo.model_card` writes."""

from __future__ import annotations

import json
import re

from langchain_ssr.demo import evaluate, model_card
from tests.unit_tests.loading import ROOT

CARD = ROOT / "langchain_ssr" / "demo" / "model"


def test_the_model_card_is_what_its_program_writes():
    text = (CARD / "README.md").read_text(encoding="utf-8")
    row = r"^\| (\w+) \| (\d+) of (\d+) \(.+\) \| (\d+) of (\d+) \|$"
    skills = {}
    for name, *numbers in re.findall(row, text, re.MULTILINE):
        right, of, *turns = map(int, numbers)
        skills[name] = {"right": right, "of": of, "accuracy": right / of}
        skills[name]["turns"] = dict(zip(("right", "of"), turns, strict=True))

    def number(pattern: str) -> int:
        (found,) = re.findall(pattern, text)
        return int(found)

    digest = evaluate.sha256_of(CARD)
    results = {
        "sha256": digest,
        "interrupted": False,
        "skills": skills,
        "num": number(r"\n(\d+) held-out conversations of each"),
        "speculation": "speculation on:" in text,
        "command": re.search(r"^python -m .+$", text, re.MULTILINE)[0],
        "runaway": {
            "turns": number(r"(\d+) of \d+ outputs ran into"),
            "of": number(r"\d+ of (\d+) outputs ran into"),
        },
        "max_tokens": number(r"the limit of (\d+) tokens"),
        "leakage": {"excluded": range(number(r"(\d+) short questions that"))},
    }
    training = json.loads((CARD / "training.json").read_text(encoding="utf-8"))
    assert model_card.card(results, training, digest) == text
