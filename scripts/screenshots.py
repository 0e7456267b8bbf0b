"""Takes pictures of the pages that `SpeculationStats.to_html` writes, to be looked at.

    python scripts/screenshots.py [--html FILE ...] [--out DIR] [--width PIXELS]

Without a file it takes samples, which are made up (scripts/sample_pages.py). Each page
gives three pictures, as tall as the page: light, dark, and without colours, since a
reader may see none. Folded parts are opened for them. It needs a Chromium:
scripts/headless.py says which are found.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headless import BrowserError, Scheme, find_browser, open_page
from sample_pages import sample_pages

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 1100
TALLEST = 16_000
"""Pixels; Chromium draws no taller pictures."""
_OPENED = """
<script>
for (const folded of document.querySelectorAll("details")) folded.open = true;
document.documentElement.dataset.height = document.documentElement.scrollHeight;
</script>
"""
_HEIGHT = re.compile(r'<html[^>]*\bdata-height="(\d+)"')


@dataclass(frozen=True)
class View:
    """A way to look at a page.

    Attributes:
        scheme: The colours that the reader asks for.
        style: A style sheet that is laid over the page.
    """

    scheme: Scheme
    style: str = ""


VIEWS: Mapping[str, View] = {
    "light": View("light"),
    "dark": View("dark"),
    "grey": View("light", "<style>html{filter:grayscale(1)}</style>"),
}


def pictures_of(names: Sequence[str], out: Path) -> dict[str, dict[str, Path]]:
    """Return the file of each picture, by page and view.

    Args:
        names: The pages' names.
        out: The folder of the pictures.

    Raises:
        ValueError: If two pages have the same name, whose pictures would be the same
            files.
    """
    if len(set(names)) < len(names):
        raise ValueError(f"two pages have the same name: {', '.join(sorted(names))}")
    return {
        name: {view: out / f"{name}-{view}.png" for view in VIEWS} for name in names
    }


def height_of(dom: str) -> int:
    """Return a page's height in pixels, which its opened copy has written into itself.

    Raises:
        BrowserError: If it says none.
    """
    found = _HEIGHT.search(dom)
    if found is None:
        raise BrowserError("the page does not say how tall it is")
    return min(int(found[1]), TALLEST)


def take(
    browser: str, html: str, pictures: Mapping[str, Path], width: int
) -> Iterator[Path]:
    """Take the pictures of one page.

    Args:
        browser: Path of a Chromium.
        html: The page.
        pictures: A file for each of `VIEWS`.
        width: The window's width in pixels.

    Yields:
        Each picture that was written.

    Raises:
        BrowserError: If the browser fails.
    """
    with tempfile.TemporaryDirectory(prefix="screenshots-") as folder:
        page = Path(folder) / "page.html"
        page.write_text(html + _OPENED, encoding="utf-8")
        height = height_of(open_page(browser, page, "--dump-dom", size=(width, 600)))
        for name, picture in pictures.items():
            view = VIEWS[name]
            page.write_text(html + _OPENED + view.style, encoding="utf-8")
            picture.unlink(missing_ok=True)
            open_page(
                browser,
                page,
                f"--screenshot={picture.resolve()}",
                scheme=view.scheme,
                size=(width, height),
            )
            if not picture.is_file():
                raise BrowserError(f"{browser} has not written {picture}")
            yield picture


def main(argv: Sequence[str] | None = None) -> int:
    """Take the pictures; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--html", nargs="+", type=Path, metavar="FILE", help="instead of the samples"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "screenshots")
    parser.add_argument("--width", type=int, default=WIDTH, help="in pixels")
    arguments = parser.parse_args(argv)
    files: Sequence[Path] = arguments.html or ()
    pages = {file.stem: file.read_text(encoding="utf-8") for file in files}
    try:
        pictures = pictures_of(
            [file.stem for file in files] or list(sample_pages()), arguments.out
        )
        browser = find_browser()
        arguments.out.mkdir(parents=True, exist_ok=True)
        for name, html in (pages or sample_pages()).items():
            for picture in take(browser, html, pictures[name], arguments.width):
                print(picture, flush=True)
    except (BrowserError, ValueError) as error:
        sys.exit(f"screenshots: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
