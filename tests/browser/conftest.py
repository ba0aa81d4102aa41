"""A JupyterLab and a browser for the tests of the labs."""

import os
import shutil

import pytest

from driver import JupyterLab, Tab, find_chromium, launch
from places import CHECKOUT
from sample_notebook import write_sample

def missing(what):
    """Skip, or fail where the browser tests are required."""
    if os.environ.get("AGENTKIT_BROWSER") == "required":
        pytest.fail(f"{what}, and AGENTKIT_BROWSER=required", pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    chromium = find_chromium()
    if chromium is None:
        missing("no Chromium on this machine; AGENTKIT_CHROMIUM may name one")
    with sync_playwright() as playwright:
        browser = launch(playwright, chromium)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def jupyterlab(tmp_path_factory, browser):
    """JupyterLab over copies: nothing in the checkout is written."""
    folder = tmp_path_factory.mktemp("notebooks")
    if (CHECKOUT / "notebooks").is_dir():
        shutil.copytree(CHECKOUT / "notebooks", folder, dirs_exist_ok=True)
    write_sample(folder)
    lab = JupyterLab(folder, tmp_path_factory.mktemp("jupyter"))
    yield lab
    lab.stop()


@pytest.fixture
def tab(browser, jupyterlab):
    tab = Tab(browser, jupyterlab)
    yield tab
    tab.close()


@pytest.fixture(scope="session")
def screenshots():
    """Where the pictures go for people to look at; git ignores it."""
    folder = CHECKOUT / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
