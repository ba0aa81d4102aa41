"""How long a lab takes from a moved control to the new picture.

    python benchmarks/lab_latency.py                     in the kernel: the view and the PNG, for every lab
    python benchmarks/lab_latency.py --browser           and in Chromium: from the key press to the picture on the page
    python benchmarks/lab_latency.py notebooks/06*       only these notebooks

It prints medians and decides nothing. On a busy machine look at the processor's time, which is the lab's own. "first" is
the median over pictures that were not drawn before, whose new words have to be written; "again" that over pictures drawn
before. On the page a slider walks from where it stands to its end and back.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "tests" / "browser"), str(CHECKOUT / "tests")]

# Runs as the last cell of a notebook: every lab, one control after the other over its sample values.
IN_THE_KERNEL = """
def measure_labs(rounds=5):
    import json, time
    from agentkit.course.lab import LABS
    for lab in LABS.values():
        settings = [{**lab.defaults, name: value} for name, control in lab.controls.items() for value in control.samples()]
        settings = [chosen for n, chosen in enumerate(settings) if chosen not in settings[:n] and chosen != lab.defaults]
        seconds, busy, size = [], [], 0
        for _ in range(rounds):
            for chosen in settings:
                began, worked = time.perf_counter(), time.process_time()
                drawing = lab.draw(**chosen)
                seconds.append(time.perf_counter() - began)
                busy.append(time.process_time() - worked)
                size = max(size, len(drawing.png or drawing.html.encode()))
        print("LAB " + json.dumps([lab.title, len(settings), seconds, busy, size]))
measure_labs()
"""

# Presses an arrow key on a slider, up to its end, then back, and times until the last thing that changes: the words or the
# picture. Says for each move whether this place was seen before.
IN_THE_PAGE = """async ([lab, handle, rounds]) => {
    const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));
    const times = [];
    let last = null;
    new MutationObserver(() => { last = performance.now(); }).observe(
        lab.querySelector('.agentkit-lab-text'), {childList: true, subtree: true, characterData: true});
    lab.querySelector('img.agentkit-lab-picture')?.addEventListener('load', () => { last = performance.now(); });
    handle.focus();
    let key = 'ArrowRight';
    const seen = new Set([handle.getAttribute('aria-valuenow')]);
    for (let i = 0; i < rounds; i++) {
        last = null;
        const began = performance.now();
        handle.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
        while (last === null && performance.now() - began < 1500) await pause(10);
        await pause(250);
        const now = handle.getAttribute('aria-valuenow');
        if (last !== null) times.push([last - began, seen.has(now)]);
        seen.add(now);
        if (now === handle.getAttribute('aria-valuemax')) key = 'ArrowLeft';
        if (now === handle.getAttribute('aria-valuemin')) key = 'ArrowRight';
    }
    return times;
}"""


def in_the_kernel(path):
    """Yield (title, number of settings, seconds, seconds of processor, bytes) for each lab of a notebook."""
    import nbclient
    import nbformat

    from agentkit.course.refresh import kernel_environment

    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(IN_THE_KERNEL))
    with tempfile.TemporaryDirectory() as scratch:
        client = nbclient.NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}})
        client.execute(env=kernel_environment(scratch))
    said = "".join(output.get("text", "") for output in notebook.cells[-1].outputs)
    for line in said.splitlines():
        if line.startswith("LAB "):
            yield json.loads(line[4:])


def in_the_browser(paths, rounds=20):
    """Yield (notebook, title, [milliseconds, seen before]) for each lab that has a slider."""
    import shutil

    from driver import JupyterLab, Tab, find_chromium, launch
    from labs import LabOnPage
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = Path(scratch) / "notebooks"
        folder.mkdir()
        for path in paths:
            shutil.copy(path, folder)
        server = JupyterLab(folder, Path(scratch) / "jupyter")
        browser = launch(playwright, find_chromium())
        try:
            for path in paths:
                tab = Tab(browser, server)
                tab.open(path.name)
                tab.run_all()
                roots = tab.page.locator(".agentkit-lab")
                for lab in (LabOnPage(tab.page, roots.nth(i)) for i in range(roots.count())):
                    times = [t for slider in lab.sliders.all()
                             for t in tab.page.evaluate(IN_THE_PAGE, [lab.handle, slider.element_handle(), rounds])]
                    yield path.name, lab.title, times
                tab.close()
        finally:
            browser.close()
            server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path)
    parser.add_argument("--browser", action="store_true", help="also measure on the page, in headless Chromium")
    options = parser.parse_args()
    paths = options.notebooks or [path for path in sorted((CHECKOUT / "notebooks").glob("*.ipynb"))
                                  if "agentkit-still" in path.read_text("utf-8")]
    print(f"{'in the kernel: the view and the PNG':<66}{'median':>9}{'slowest':>9}{'processor':>12}{'first':>9}{'size':>9}")
    for path in paths:
        for title, count, seconds, busy, size in in_the_kernel(path):
            processor = f"{1000 * statistics.median(busy):9.0f} ms{1000 * statistics.median(busy[:count]):6.0f} ms"
            row(path.name, title, [1000 * s for s in seconds], f"{processor}{size / 1024:6.0f} KB")
    if options.browser:
        print(f"{'on the page: from the key press to the new picture':<66}{'median':>9}{'slowest':>9}{'first':>12}{'again':>9}")
        for name, title, moves in in_the_browser(paths):
            first, again = ([t for t, seen in moves if seen == before] for before in (False, True))
            row(name, title, [t for t, _ in moves], f"{middle(first):>12}{middle(again):>9}{len(moves):4} moves")


def row(notebook, title, milliseconds, last):
    if not milliseconds:
        print(f"{notebook:<24}{title[:40]:<42}{'nothing changed':>18}")
        return
    print(f"{notebook:<24}{title[:40]:<42}{middle(milliseconds):>9}{max(milliseconds):6.0f} ms{last:>12}", flush=True)


def middle(milliseconds):
    return f"{statistics.median(milliseconds):.0f} ms" if milliseconds else "-"


if __name__ == "__main__":
    main()
