"""The classroom: what the notebooks use and the harness never imports.

Names are loaded when they are first asked for, so that `import agentkit.course` stays instant.
"""

from importlib import import_module

_NAMES = {
    "check": "agentkit.course.exercise",
    "hint": "agentkit.course.exercise",
    "solution": "agentkit.course.exercise",
    "solution_source": "agentkit.course.exercise",
    "progress": "agentkit.course.progress_file",
    "figure": "agentkit.course.figures",
    "fill": "agentkit.course.figures",
    "line": "agentkit.course.figures",
    "show": "agentkit.course.figures",
    "Choice": "agentkit.course.lab",
    "Lab": "agentkit.course.lab",
    "Slider": "agentkit.course.lab",
    "Step": "agentkit.course.lab",
    "Switch": "agentkit.course.lab",
    "player": "agentkit.course.moves",
    "recall": "agentkit.course.recalls",
}
__all__ = list(_NAMES)


def __getattr__(name):
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_NAMES[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_NAMES))
