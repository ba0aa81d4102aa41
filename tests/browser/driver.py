"""JupyterLab in headless Chromium, shut off from the rest of the world."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from places import CHECKOUT, NOTEBOOKS

SAMPLE = "90_sample.ipynb"
TOKEN = "only-for-this-test"
QUIET = ("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-default-apps")
SETTINGS = {
    # Cells out of sight stay in the page, so that a test can find every lab.
    "@jupyterlab/notebook-extension/tracker": '{"windowingMode": "none"}',
    "@jupyterlab/apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
}

READY = """() => {
    const session = window.jupyterapp?.shell.currentWidget?.sessionContext;
    const kernel = session?.isReady && session.session?.kernel;
    return !!kernel && kernel.connectionStatus === 'connected' && kernel.status === 'idle';
}"""
ALL_DONE = """[...document.querySelectorAll('.jp-CodeCell')].every(cell =>
    /\\d/.test(cell.querySelector('.jp-InputPrompt').textContent) || !cell.querySelector('.cm-content').textContent.trim())"""
FAILED = "[data-mime-type$='jupyter.stderr'], [data-mime-type$='jupyter.error'], .jupyter-widgets-error-widget, .agentkit-lab-error"
STILL = 'class=\\"agentkit-still\\"'  # stands below the still of every lab


def notebooks_with_labs():
    """The names of the committed notebooks that show a lab, after the sample, on which these tests are tested."""
    return [SAMPLE, *(path.name for path in NOTEBOOKS if STILL in path.read_text("utf-8"))]


def find_chromium():
    """The path of a Chromium or Chrome on this machine, or None; AGENTKIT_CHROMIUM names one."""
    names = (os.environ.get("AGENTKIT_CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, (shutil.which(name) for name in names if name)), None)


class JupyterLab:
    """A JupyterLab server over `folder` whose settings, kernels and caches all live under `scratch`."""

    def __init__(self, folder, scratch):
        self.scratch = Path(scratch)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.origin = f"http://127.0.0.1:{probe.getsockname()[1]}"
        for name, text in SETTINGS.items():
            file = self.scratch / "settings" / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.log = self.scratch / "jupyterlab.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
                 f"--port={self.origin.rpartition(':')[2]}", "--ServerApp.port_retries=0", "--expose-app-in-browser",
                 f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}", "--LabApp.news_url=None",
                 "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"],
                stdout=log, stderr=subprocess.STDOUT, env=self._environment(), start_new_session=True)
        self._wait()

    def _environment(self):
        own = {f"JUPYTER_{what}_DIR": what for what in ("CONFIG", "DATA", "RUNTIME")}
        own |= {"JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces", "IPYTHONDIR": "ipython",
                "AGENTKIT_PROGRESS": "progress.json"}
        python_path = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")]))
        return {**os.environ, **{name: str(self.scratch / place) for name, place in own.items()}, "PYTHONPATH": python_path}

    def _wait(self, seconds=60):
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.process.poll() is None:
            try:
                urllib.request.urlopen(f"{self.origin}/api/status?token={TOKEN}", timeout=2).close()
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        self.stop()
        raise RuntimeError("JupyterLab did not start:\n" + self.log.read_text(errors="replace")[-2000:])

    def stop(self):
        """End the server and its kernels."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()


def launch(playwright, chromium):
    """Start the browser. The sandbox of Chromium does not work for root, which containers run as."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return playwright.chromium.launch(executable_path=chromium, args=[*QUIET, *(["--no-sandbox"] if root else [])])


class Tab:
    """A browser tab with one notebook. Requests that leave the machine are refused and remembered, as are page errors."""

    def __init__(self, browser, lab):
        self.lab, self.outside, self.errors = lab, [], []
        self.context = browser.new_context(viewport={"width": 1280, "height": 1000})
        self.context.route("**/*", self._guard)
        self.page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)[:300]))

    def _guard(self, route):
        url = route.request.url
        if url.startswith((self.lab.origin + "/", "data:", "blob:")):
            route.continue_()
        else:
            self.outside.append(url)
            route.abort()

    def open(self, name):
        """Open the notebook and wait for its kernel."""
        self.page.goto(f"{self.lab.origin}/lab/tree/{name}?token={TOKEN}&reset")
        self.page.wait_for_selector(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell")
        self.page.wait_for_function(READY)

    def run_all(self):
        """Run all cells and wait until the last one is done; no cell may fail and no widget may be broken."""
        self.command("notebook:run-all-cells")
        self.page.wait_for_function("failed => document.querySelector(failed) || " + ALL_DONE, arg=FAILED, timeout=120_000)
        self.page.wait_for_timeout(500)
        self.expect_no_failure()

    def expect_no_failure(self):
        """Raise for an error in an output, a widget that could not be made, a page error, a request that left."""
        broken = self.page.locator(FAILED)
        if broken.count():
            broken.first.click()  # a broken widget says why when it is clicked
            raise AssertionError("it failed in the page: " + broken.first.inner_text()[:2000])
        assert not self.errors, f"page errors: {self.errors}"
        assert not self.outside, f"requests that left this machine: {self.outside}"

    def command(self, name, **arguments):
        return self.page.evaluate("([name, given]) => window.jupyterapp.commands.execute(name, given).then(() => null)",
                                  [name, arguments])

    def theme(self, name):
        """Change to "JupyterLab Light" or "JupyterLab Dark" and wait for it."""
        self.command("apputils:change-theme", theme=name)
        self.page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=name)
        self.page.wait_for_timeout(300)

    def close(self):
        self.context.unroute_all(behavior="ignoreErrors")
        self.context.close()
