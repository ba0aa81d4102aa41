"""One lab on the page, and the ways a reader moves it."""

LABELS = ".widget-label, .widget-readout, .widget-label-basic, .widget-toggle-button, button, .agentkit-lab-title"
CUT_OFF = """labels => labels.filter(label => label.scrollWidth > label.clientWidth + 1 && label.offsetParent)
                            .map(label => label.textContent)"""
# The longest option of a list must fit beside its arrow; a browser does not say so by scrollWidth.
CUT_OPTIONS = """lists => lists.flatMap(list => {
    const pen = document.createElement('canvas').getContext('2d'), room = list.clientWidth - 24;
    pen.font = getComputedStyle(list).font;
    return [...list.options].map(option => option.text).filter(text => pen.measureText(text).width > room);
})"""
LOOKS = """lab => [lab.querySelector('img.agentkit-lab-picture')?.src ?? '',
                   lab.querySelector('.agentkit-lab-text')?.innerHTML ?? ''].join('|')"""
CHANGED = f"([lab, before]) => ({LOOKS})(lab) !== before"


class LabOnPage:
    def __init__(self, page, root):
        self.page, self.root = page, root
        self.handle = root.element_handle()
        self.title = root.locator(".agentkit-lab-title").inner_text().strip()
        self.sliders = root.locator(".noUi-handle")

    def looks(self):
        """What the lab shows, as one comparable text: a lab writes a new picture only where the picture differs."""
        return self.handle.evaluate(LOOKS)

    def changes(self, move, milliseconds=5000):
        """Whether the lab shows something else after `move()`."""
        before = self.looks()
        move()
        try:
            self.page.wait_for_function(CHANGED, arg=[self.handle, before], timeout=milliseconds)
        except Exception as error:
            if "Timeout" not in type(error).__name__:
                raise
            return False
        self.page.wait_for_timeout(150)  # the last of several pictures
        return True

    def cut_off(self):
        """The labels and options whose text does not fit."""
        return self.root.locator(LABELS).evaluate_all(CUT_OFF) + self.root.locator("select").evaluate_all(CUT_OPTIONS)

    def shows_something(self):
        """Whether there is a loaded picture or some text."""
        picture = self.root.locator("img.agentkit-lab-picture")
        loaded = picture.count() and picture.evaluate("img => img.offsetParent !== null && img.naturalWidth > 100")
        return bool(loaded) or len(self.root.locator(".agentkit-lab-text").inner_text().strip()) > 10

    def value(self, slider):
        return float(slider.get_attribute("aria-valuenow"))

    def stands(self, slider):
        """Where the handle stands on its track: the value that is read out is rounded to one decimal."""
        return slider.evaluate("handle => handle.parentElement.style.transform")

    def press(self, slider):
        """One arrow key: up, or down where the slider stands at its end."""
        at_end = self.value(slider) >= float(slider.get_attribute("aria-valuemax"))
        slider.focus()
        slider.press("ArrowLeft" if at_end else "ArrowRight")

    def drag(self, slider, to):
        """Drag the handle with the mouse to a place on its track, 0 to 1."""
        slider.scroll_into_view_if_needed()
        handle = slider.bounding_box()
        track = slider.locator("xpath=ancestor::*[contains(@class, 'noUi-base')]").bounding_box()
        height = handle["y"] + handle["height"] / 2
        self.page.mouse.move(handle["x"] + handle["width"] / 2, height)
        self.page.mouse.down()
        self.page.mouse.move(track["x"] + track["width"] * to, height, steps=6)
        self.page.mouse.up()

    def button(self, name):
        return self.root.get_by_role("button", name=name)
