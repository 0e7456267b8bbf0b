"""What `make verify-served` reads from pytest, and when it is content."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit_tests.loading import ROOT, load

verify = load(ROOT / "scripts" / "verify_served.py")

TESTS = """
import pytest

def test_good(record_property):
    record_property("many_clients", '{"answers": 64}')

def test_bad():
    assert False

@pytest.mark.parametrize("number", range(2))
def test_skipped(number):
    pytest.skip("no engine")

@pytest.fixture
def broken():
    raise ValueError

def test_broken(broken):
    pass
"""


@pytest.fixture(scope="module")
def junit(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("junit")
    (folder / "test_them.py").write_text(TESTS)
    out = folder / "out.xml"
    options = ("-q", "-p", "no:cacheprovider", f"--rootdir={folder}")
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, f"--junit-xml={out}", str(folder)],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    return out


def test_a_report_of_pytest_is_read(junit):
    assert verify.read_junit(junit) == {
        "passed": 1,
        "failed": 2,
        "skipped": 2,
        "failures": ["test_them::test_bad", "test_them::test_broken"],
        "skips": {"no engine": 2},
        "many_clients": {"answers": 64},
    }


GOOD = {"exit_code": 0, "seconds": 1.5, "passed": 3, "failed": 0, "skipped": 1}


@pytest.mark.parametrize(
    ("part", "ok"),
    [
        (GOOD, True),
        (GOOD | {"exit_code": 1, "failed": 1}, False),
        (GOOD | {"passed": 0}, False),  # all skipped: nothing was shown
        ({"exit_code": 4, "seconds": 0.1}, False),  # pytest could not begin
    ],
)
def test_every_part_must_pass(part, ok):
    told = verify.report({"one": GOOD, "other": part})
    assert told["ok"] is ok
    assert told["passed"] == 3 + part.get("passed", 0)
    assert json.dumps(told)


def test_the_files_of_every_part_exist():
    for arguments in verify.PARTS.values():
        paths = [each for each in arguments if each.startswith("tests")]
        assert paths
        assert all((ROOT / path).exists() for path in paths)


def test_parts_run_one_after_the_other(monkeypatch, tmp_path, capsys):
    started = []

    def fake(command, **_):
        started.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(verify.subprocess, "run", fake)
    monkeypatch.setattr(verify, "read_junit", lambda _: GOOD)
    monkeypatch.setattr(verify.Path, "is_file", lambda _: True)
    kinds = [{"kind": 1, "ok": True}, {"kind": 2, "ok": False}]
    monkeypatch.setattr(verify.Path, "read_text", lambda *_, **__: json.dumps(kinds))
    out = tmp_path / "out.json"
    code = verify.main(["--json", str(out), "--only", verify.KINDS])
    told = json.loads(capsys.readouterr().out)
    assert code == 0
    assert told["parts"][verify.KINDS]["kinds"] == {
        "passed": 1,
        "of": 2,
        "not_passed": [2],
    }
    assert "--kinds-report" in started[0]
    assert out.stat().st_size > 100
