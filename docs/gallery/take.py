"""Takes the gallery's pictures of a report: `python docs/gallery/take.py runs/demo/page.html`.

Needs Chromium, playwright and pillow.
"""

import io
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import sync_playwright

GALLERY = Path(__file__).parent


class Shot(NamedTuple):
    """A picture: which part of the page, in what state, on what screen."""

    name: str
    part: str = ""
    state: str = ""
    size: tuple[int, int] = (1280, 900)
    scheme: str = "light"


SHOTS = (
    Shot("top", size=(1280, 960)),
    Shot("samples", "#samples", "#arm=atom&order=gap"),
    Shot("dark", "#samples", "#arm=combination&kind=3", scheme="dark"),
    Shot("phone", "#samples", size=(390, 800)),
)


def take(page_file: Path) -> None:
    """Take all pictures, in 256 colours each, which text does not need."""
    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for shot in SHOTS:
            page = browser.new_page(
                viewport={"width": shot.size[0], "height": shot.size[1]},
                color_scheme="dark" if shot.scheme == "dark" else "light",
            )
            page.goto(page_file.resolve().as_uri() + shot.state)
            page.evaluate("started")
            page.locator("#sample .output").first.wait_for()
            if shot.part:
                page.evaluate(
                    "part => document.querySelector(part).scrollIntoView({behavior: 'instant'})",
                    shot.part,
                )
            page.wait_for_timeout(500)
            picture = Image.open(io.BytesIO(page.screenshot()))
            picture.convert("RGB").quantize(256).save(GALLERY / f"{shot.name}.png", optimize=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]))
