"""Pages in a real browser: no barrier that axe finds, no scrolling sideways on a phone, work by keyboard, live, without script.

Skipped where there is no Chromium with its driver (scripts/chromium installs both), and the search for barriers where there is
no axe-core (scripts/axe; TENURE_AXE names another folder). Pictures for docs are written by `--update-golden`.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tenure import Add
from tests.conftest import ROOT
from tests.serving.web.conftest import Site, made_site
from tests.serving.web.test_pages import PAGES

pytestmark = pytest.mark.skipif(
    not (shutil.which("chromium") and shutil.which("chromedriver")), reason="no chromium with chromedriver on the path: scripts/chromium"
)

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)

AXE = Path(os.environ.get("TENURE_AXE") or Path(sys.prefix) / "axe")

PICTURES = ROOT / "docs" / "pictures"

WIDE, PHONE = 1100, 360


class Window:
    """A window of the browser, and a person in front of it."""

    def __init__(self, driver: Any, base: str) -> None:
        self.driver, self.base = driver, base

    def command(self, name: str, **arguments: object) -> Any:
        return self.driver.execute_cdp_cmd(name, arguments)

    def size(self, width: int, height: int = 800) -> None:
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def prefer(self, theme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": "reduce"}]
        self.command("Emulation.setEmulatedMedia", features=features)

    def open(self, path: str) -> None:
        self.driver.get(self.base + path)

    def run(self, script: str) -> Any:
        return self.driver.execute_script(script)

    def text(self, selector: str) -> str:
        return str(self.run(f"return document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def wait(self, until: Callable[[], Any], what: str) -> Any:
        """What `until` finds, once it finds something; while a page goes and the next comes, looking at it may fail."""
        from selenium.common.exceptions import JavascriptException, NoSuchElementException, StaleElementReferenceException
        from selenium.webdriver.support.wait import WebDriverWait

        passing = (JavascriptException, NoSuchElementException, StaleElementReferenceException)
        return WebDriverWait(self.driver, 60, poll_frequency=0.1, ignored_exceptions=passing).until(lambda _: until(), what)

    def element(self, selector: str) -> Any:
        """What matches a selector, found without script, once it is there."""
        from selenium.webdriver.common.by import By

        return self.wait(lambda: self.driver.find_element(By.CSS_SELECTOR, selector), selector)

    def picture(self) -> bytes:
        """What is seen, as PNG. While one page still gives way to the next there may be nothing to see; then it is asked again."""
        from selenium.common.exceptions import TimeoutException
        from selenium.webdriver.support.wait import WebDriverWait

        waiting = WebDriverWait(self.driver, 120, poll_frequency=0.2, ignored_exceptions=(TimeoutException,))
        return base64.b64decode(waiting.until(lambda _: self.command("Page.captureScreenshot", format="png"), "a picture")["data"])

    def barriers(self, *rules: str) -> list[str]:
        """What axe finds that is serious or worse, a line each."""
        if not self.run("return typeof axe === 'object'"):
            # As a person's own tool would: the policy of the page holds for the page's scripts.
            self.command("Runtime.evaluate", expression=(AXE / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8"))
        only = f", runOnly: {json.dumps(list(rules))}" if rules else ""
        found = self.driver.execute_async_script(
            f"const done = arguments[0]; axe.run(document, {{resultTypes: ['violations']{only}}}).then(r => done(r.violations))"
        )
        return [
            f"{one['id']}: {one['help']} at {[node['target'] for node in one['nodes'][:4]]}"
            for one in found
            if one["impact"] in ("serious", "critical")
        ]

    def errors(self) -> list[str]:
        """What the browser complained of since the last time: refused scripts and styles among it."""
        return [one["message"] for one in self.driver.get_log("browser") if one["level"] == "SEVERE"]


@pytest.fixture(scope="module")
def live_site() -> Iterator[tuple[Site, str]]:
    """A site with weeks of work on a port of this machine."""
    site = made_site(weeks=36)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(site.app, log_level="error"))
        serving = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        serving.start()
        yield site, f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        serving.join(10)
    site.book.close()


@pytest.fixture(scope="module")
def window(live_site: tuple[Site, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """Somebody who signed in by the form."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    site, base = live_site
    options = Options()
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        driver.set_script_timeout(30)
        found = Window(driver, base)
        found.command("Emulation.setTimezoneOverride", timezoneId="UTC")
        found.size(WIDE)
        found.prefer("light")
        found.open("/review")
        assert found.text("h1") == "Sign in to Tenure"
        found.press(site.key("admin"), "\ue007")
        found.wait(lambda: found.text("h1") == "Review", "signed in, and where one wanted to be")
        yield found
    finally:
        driver.quit()


@pytest.fixture
def needs_axe() -> None:
    if not (AXE / "node_modules/axe-core/axe.min.js").exists():
        why = AXE / "why-not"
        pytest.skip(why.read_text(encoding="utf-8").strip() if why.exists() else "axe-core is not installed: run scripts/axe")


@pytest.mark.parametrize("path", [*PAGES, "/nope"])
def test_a_page_has_no_barriers_in_either_theme_and_fits_a_phone(window: Window, needs_axe: None, path: str) -> None:
    window.size(WIDE)
    window.prefer("light")
    window.open(path)
    assert window.barriers() == []
    window.prefer("dark")
    assert window.barriers("color-contrast") == []
    window.prefer("light")
    window.size(PHONE)
    assert window.run("return document.documentElement.scrollWidth") <= PHONE
    window.size(WIDE)
    assert window.run("return document.title").endswith("· Tenure")  # a hostile text would have changed it
    assert [one for one in window.errors() if "404" not in one] == []


def test_words_of_a_table_are_whole_where_there_is_room(window: Window) -> None:
    window.size(WIDE)
    window.open("/keys")
    tall = window.run("return [...document.querySelectorAll('button.danger')].map(one => one.offsetHeight)")
    assert tall, "the page lists no key that could be revoked"
    assert max(tall) < 40, "the word on a button is broken into lines"


def test_the_theme_of_ones_own_goes_before_that_of_the_system(window: Window, needs_axe: None) -> None:
    window.prefer("light")
    window.open("/playbook")
    window.run("const s = document.querySelector('[name=theme]'); s.value = 'dark'; s.dispatchEvent(new Event('change', {bubbles: true}))")
    window.wait(lambda: window.run("return document.documentElement.dataset.theme") == "dark", "dark")
    assert window.text("h1") == "Playbook"
    assert window.barriers("color-contrast") == []
    window.run("const s = document.querySelector('[name=theme]'); s.value = 'auto'; s.dispatchEvent(new Event('change', {bubbles: true}))")
    window.wait(lambda: window.run("return document.documentElement.dataset.theme") == "auto", "as the system has it")


def focused(window: Window) -> str:
    return str(window.run("const a = document.activeElement; return a.name || a.innerText || a.tagName"))


def test_a_review_is_done_by_keyboard_alone(window: Window, live_site: tuple[Site, str]) -> None:
    tab, enter, space = "\ue004", "\ue007", "\ue00d"
    book = live_site[0].book
    before = len(book.held())
    window.open("/review")
    window.press(tab)
    assert focused(window) == "Skip to content"
    assert window.run("return document.activeElement.getBoundingClientRect().top") >= 0, "what has the focus is seen"
    window.press(enter, tab)
    for _ in range(12):
        if focused(window) == "ids":
            break
        window.press(tab)
    assert focused(window) == "ids"
    outline = window.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    window.press("j", "k", space)  # down and up again
    chosen = window.run("return document.querySelector('[name=ids]:checked').value")
    assert chosen == book.held()[0].id
    window.press(enter)  # in a field it decides nothing
    for _ in range(40):
        if focused(window) == "verb":
            break
        window.press(tab)
    assert window.run("return document.activeElement.value") == "approve"
    assert len(book.held()) == before
    window.press(enter)
    window.wait(lambda: "1 change approved" in window.text("#said"), "said what came of it")
    assert len(book.held()) == before - 1
    window.wait(lambda: window.run("return document.activeElement.id") == "main", "the focus is where one reads on")
    window.open("/review")
    window.press("/")
    assert focused(window) == "q"
    window.run("document.querySelector('.undo button').focus()")
    window.press(enter)
    window.wait(lambda: "waits again" in window.text("#said"), "taken back")
    assert len(book.held()) == before


def test_a_page_that_is_open_shows_what_is_learned_meanwhile(window: Window, live_site: tuple[Site, str]) -> None:
    book = live_site[0].book
    window.open("/")
    window.run("window.same = true; document.querySelector('#curve-name').closest('figure').querySelector('details').open = true")
    before = int(window.text("dd a[href='/playbook']"))
    admitted = book.apply([Add("live", "Seen while the page was open.")])
    window.wait(lambda: window.text("dd a[href='/playbook']") == str(before + 1), "the new count")
    assert window.run("return window.same") is True, "without loading the page again"
    assert window.run("return document.querySelector('#curve-name').closest('figure').querySelector('details').open") is True
    window.open("/review")
    window.run("document.querySelector('[name=ids]').click()")
    assert admitted.version is not None
    book.rollback(admitted.version - 1)
    window.wait(lambda: "Something changed" in window.text("#stale"), "told, and nothing taken from under the reader's hands")
    assert window.run("return document.querySelectorAll('[name=ids]:checked').length") == 1


def test_a_search_shows_what_it_finds_as_one_types(window: Window) -> None:
    window.open("/playbook")
    window.run("window.same = true; document.querySelector('#q').focus()")
    window.press("soft-deleted")
    window.wait(lambda: "1 lesson found" in window.text("#fresh"), "found")
    assert window.run("return [window.same, location.search]") == [True, "?q=soft-deleted"]


def test_all_of_it_works_without_script(window: Window, live_site: tuple[Site, str]) -> None:
    book = live_site[0].book
    ids = [change.id for change in book.held()]
    window.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        window.open("/review")
        window.element(f"input[value='{ids[1]}']").click()
        window.element("button[value=reject]").click()
        window.wait(lambda: "1 change rejected" in window.element("#said").text, "the next page says what came of it")
        assert ids[1] not in {change.id for change in book.held()}
        window.element(".undo button").click()
        window.wait(lambda: "waits again" in window.element("#said").text, "taken back")
    finally:
        window.command("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("name", "path", "height"), [("overview", "/", 900), ("playbook", "/playbook", 780), ("review", "/review", 900)])
def test_pictures_for_docs(window: Window, pytestconfig: pytest.Config, name: str, path: str, height: int, theme: str) -> None:
    window.size(WIDE, height)
    window.prefer(theme)
    window.open(path)
    picture = window.picture()
    window.prefer("light")
    window.size(WIDE)
    assert picture.startswith(b"\x89PNG")
    assert 10_000 < len(picture) < 200_000
    kept = PICTURES / f"pages-{name}-{theme}.png"
    if pytestconfig.getoption("--update-golden"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(picture)
    assert kept.read_bytes().startswith(b"\x89PNG")
