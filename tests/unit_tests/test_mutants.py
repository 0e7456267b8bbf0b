"""`make mutants` tells what is noticed from what fails or hangs by itself."""

from __future__ import annotations

import re
import time

import pytest

from tests.unit_tests.loading import load_script

mutants = load_script("mutants")

PATCH = """\
# run: check
--- a/package/value.py
+++ b/package/value.py
@@ -1 +1 @@
-VALUE = 1
+{line}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with one check, and no mutants yet."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "value.py").write_text("VALUE = 1\n")
    (tmp_path / "check.py").write_text(
        "import sys\nfrom package.value import VALUE\n"
        "print('looked')\nsys.exit(VALUE != 1)\n"
    )
    (tmp_path / "mutants").mkdir()
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "MUTANTS", tmp_path / "mutants")
    monkeypatch.setattr(mutants, "COPIED", ("package", "check.py"))
    return tmp_path


def add(project, name, line):
    (project / "mutants" / f"{name}.patch").write_text(PATCH.format(line=line))


def told(capsys):
    """Return pairs of a name and what was printed of it."""
    lines = capsys.readouterr().out.splitlines()
    found = [re.match(r"(\S.*?)  +(\S.*?)  +\d+ s  check$", line) for line in lines]
    return [each.groups() for each in found if each]


def test_what_is_noticed_is_killed(project, capsys):
    add(project, "wrong", "VALUE = 2")
    assert mutants.main([]) == 0
    assert told(capsys) == [("no mutant", "green"), ("wrong", "killed")]
    assert (project / "package" / "value.py").read_text() == "VALUE = 1\n"


def test_what_nobody_notices_survives(project, capsys):
    add(project, "same", "VALUE = 1.0")
    add(project, "wrong", "VALUE = 2")
    assert mutants.main([]) == 1
    assert told(capsys)[1:] == [("same", "survived"), ("wrong", "killed")]
    assert mutants.main(["wrong"]) == 0


def test_what_is_red_by_itself_kills_nothing(project, capsys):
    (project / "check.py").write_text("import sys\nprint('broken')\nsys.exit(1)\n")
    add(project, "wrong", "VALUE = 2")
    assert mutants.main([]) == 1
    assert "broken" in capsys.readouterr().out


def test_a_hang_is_no_kill(project, capsys, monkeypatch):
    monkeypatch.setattr(mutants, "PATIENCE", 0)
    monkeypatch.setattr(mutants, "LEAST_SECONDS", 3.0)
    add(project, "slow", "import time; time.sleep(600); VALUE = 1")
    start = time.monotonic()
    assert mutants.main([]) == 1
    assert time.monotonic() - start < 300
    assert told(capsys)[-1] == ("slow", "hung")


@pytest.mark.parametrize(
    ("line", "why"), [("import sys; sys.exit(2)", "could not run"), ("x" * 9, "killed")]
)
def test_other_exit_codes_are_no_kill(project, capsys, line, why):
    add(project, "odd", line)  # an exception in Python is exit code 1
    assert mutants.main([]) == (0 if why == "killed" else 1)
    assert told(capsys)[-1] == ("odd", why)


def test_a_patch_that_does_not_apply(project, capsys):
    add(project, "old", "VALUE = 2")
    (project / "package" / "value.py").write_text("OTHER = 3\nVALUE = 1.0\n")
    assert mutants.main([]) == 1
    assert "does not apply" in capsys.readouterr().out


def test_unknown_names_and_mutants_without_a_check_are_refused(project):
    with pytest.raises(SystemExit, match="no such mutant: absent"):
        mutants.main(["absent"])
    (project / "mutants" / "bare.patch").write_text("--- a/x\n")
    with pytest.raises(SystemExit, match="bare"):
        mutants.main([])


def test_every_mutant_of_the_project_says_what_must_notice_it():
    patches = sorted(mutants.MUTANTS.glob("*.patch"))
    checks = [check for patch in patches for check in mutants.checks_of(patch)]
    assert len(checks) >= len(patches) > 10
    for check in checks:
        if check[0] == "pytest":
            files = [name.split("::")[0] for name in check[len(mutants.PYTEST) :]]
        else:
            files = [check[0].replace(".", "/") + ".py"]
        assert files
        assert all((mutants.ROOT / name).is_file() for name in files), check


PATCHES = sorted(mutants.MUTANTS.glob("*.patch"))


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_every_mutant_of_the_project_applies(patch, tmp_path):
    (name,) = re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.MULTILINE)
    copy = tmp_path / name
    copy.parent.mkdir(parents=True)
    copy.write_text((mutants.ROOT / name).read_text())
    assert not mutants.apply(patch, tmp_path)
    assert copy.read_text() != (mutants.ROOT / name).read_text()
