"""A headless browser is found, called and ended; small programs stand in for it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tests.unit_tests.loading import load_script

headless = load_script("headless")


def program(folder: Path, name: str) -> str:
    file = folder / name
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return str(file)


@pytest.mark.parametrize(
    ("installed", "found"),
    [
        (["google-chrome", "chromium"], "chromium"),
        (["google-chrome", "chromium-browser"], "chromium-browser"),
        (["google-chrome"], "google-chrome"),
    ],
)
def test_usual_names_are_found_in_order(tmp_path, installed, found):
    for name in installed:
        program(tmp_path, name)
    assert headless.find_browser({"PATH": str(tmp_path)}) == str(tmp_path / found)


def test_chrome_says_which(tmp_path):
    program(tmp_path, "chromium")
    (tmp_path / "elsewhere").mkdir()
    mine = program(tmp_path / "elsewhere", "my-chrome")
    path = {"PATH": str(tmp_path)}
    assert headless.find_browser({**path, "CHROME": mine}) == mine
    assert headless.find_browser({**path, "CHROME": ""}) == str(tmp_path / "chromium")
    with pytest.raises(headless.BrowserError, match="'other', which is no command"):
        headless.find_browser({**path, "CHROME": "other"})


def test_without_a_browser_the_message_says_how_to_get_one(tmp_path):
    with pytest.raises(headless.BrowserError) as error:
        headless.find_browser({"PATH": str(tmp_path)})
    for part in (*headless.NAMES, "apt-get install chromium", "CHROME=PATH"):
        assert part in str(error.value)


@pytest.mark.parametrize(("scheme", "number"), [("dark", 0), ("light", 1)])
def test_command_line(scheme, number):
    line = headless.command(
        "chromium",
        Path("/profile"),
        "file:///x.html",
        "--dump-dom",
        scheme=scheme,
        size=(500, 900),
        as_root=False,
    )
    assert line[0] == "chromium"
    assert line[-2:] == ["--dump-dom", "file:///x.html"]
    assert "--headless" in line
    assert "--user-data-dir=/profile" in line
    assert "--window-size=500,900" in line
    assert f"--blink-settings=preferredColorScheme={number}" in line


@pytest.mark.parametrize("as_root", [False, True])
def test_only_root_goes_without_a_sandbox(as_root):
    line = headless.command("chromium", Path("/p"), "about:blank", as_root=as_root)
    assert ("--no-sandbox" in line) is as_root


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_what_it_printed_is_returned():
    assert headless.run(python("print('<html>')")) == "<html>\n"


def test_failure_tells_the_end_of_what_it_said():
    code = "import sys; print('x' * 9999 + 'no display', file=sys.stderr); sys.exit(3)"
    with pytest.raises(
        headless.BrowserError, match=r"ended with 3: x+no display"
    ) as told:
        headless.run(python(code))
    assert len(str(told.value)) < 1000


def test_time_out_ends_it_and_its_children(tmp_path):
    told = tmp_path / "child"
    code = f"sleep 60 & echo $! > {told}; wait"
    start = time.monotonic()
    with pytest.raises(headless.BrowserError, match="after 3 seconds"):
        headless.run(["sh", "-c", code], seconds=3)
    assert time.monotonic() - start < 30
    pid = int(told.read_text())
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":  # ended; nobody has asked for its exit code
            return
        time.sleep(0.1)
    pytest.fail("a child is still there")


@pytest.mark.parametrize("fails", [False, True])
def test_profile_is_new_and_removed(tmp_path, monkeypatch, fails):
    profiles: list[Path] = []

    def run(line):
        (option,) = [o for o in line if o.startswith("--user-data-dir=")]
        profiles.append(Path(option.partition("=")[2]))
        assert not list(profiles[-1].iterdir())
        (profiles[-1] / "Local State").write_text("{}")
        if fails:
            raise headless.BrowserError("no")
        return "printed"

    monkeypatch.setattr(headless, "run", run)
    page = tmp_path / "a page.html"
    page.write_text("x")
    for _ in range(2):
        if fails:
            with pytest.raises(headless.BrowserError):
                headless.open_page("chromium", page)
        else:
            assert headless.open_page("chromium", page, "--dump-dom") == "printed"
    assert len(set(profiles)) == 2
    assert not any(profile.exists() for profile in profiles)
