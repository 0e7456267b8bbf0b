"""The held-out conversations of the demo's corpus, and the check for leakage."""

import json

import pytest

from langchain_ssr.demo import evaluate, heldout
from langchain_ssr.demo.corpus.mixture import conversation


@pytest.fixture(scope="module")
def examples():
    return [conversation(1, index, "heldout") for index in range(300)]


class TestHeldOut:
    def test_nothing_leaks(self):
        seen = heldout.read_training(1, 400)
        found = heldout.choose(1, 20, evaluate.SKILLS, seen)
        assert not found.leaked
        skills = [example.skill for _, example in found.chosen]
        assert all(skills.count(skill) == 20 for skill in evaluate.SKILLS)
        assert all(e.cut is None and not e.tight for _, e in found.chosen)
        assert all(found.new_words[skill] > 0.9 for skill in ("code", "data", "tools"))
        taken = {index for index, _ in found.chosen}
        assert not taken & {index for index, _ in found.excluded}

    def test_small_talk_that_training_has_is_left_out(self, monkeypatch):
        talk = [
            example
            for index in range(600)
            if (example := conversation(1, index, "heldout")).kind == "talk"
        ]

        def with_talk(seed, index, part="train"):
            return conversation(seed, index, part) if part != "train" else talk[index]

        monkeypatch.setattr(heldout, "conversation", with_talk)
        seen = heldout.read_training(1, len(talk))
        found = heldout.choose(1, 70, ["short"], seen)
        assert found.excluded
        assert not found.leaked
        for _, example in found.excluded:
            assert example.kind in heldout.CLOSED_KINDS
            assert heldout.prompt_of(example) not in {
                heldout.prompt_of(chosen) for _, chosen in found.chosen
            }

    def test_a_leak_is_found(self, monkeypatch):
        """One held-out conversation in the training, spaced otherwise."""
        place, stolen = next(
            (place, example)
            for place in range(10)
            if (example := conversation(1, place, "heldout")).kind
            not in heldout.CLOSED_KINDS
        )
        text = json.dumps(stolen.messages[0]).replace(" ", "  ")
        stolen.messages[0] = json.loads(text)

        def with_leak(seed, index, part="train"):
            leak = part == "train" and index == 30
            return stolen if leak else conversation(seed, index, part)

        monkeypatch.setattr(heldout, "conversation", with_leak)
        seen = heldout.read_training(1, 60)
        found = heldout.choose(1, 10, evaluate.SKILLS, seen)
        assert [index for index, _ in found.leaked] == [place]
        told = heldout.report(found, seen)
        assert told["leaked"][0]["prompt"] == heldout.prompt_of(stolen)

    def test_a_prompt_ends_before_the_first_learned_turn(self, examples):
        for example in examples:
            prompt = heldout.prompt_of(example)
            assert "  " not in prompt
            for tool in example.tools:
                assert tool["function"]["name"] in prompt
            for message in example.messages:
                if message["role"] == "user":
                    assert " ".join(message["content"].split()) in prompt
        loop = next(e for e in examples if e.kind == "loop_mended")
        results_told = [m["content"] for m in loop.messages if m["role"] == "tool"]
        told = [
            " ".join(text.split()) in heldout.prompt_of(loop) for text in results_told
        ]
        assert told[:2] == [True, False]
