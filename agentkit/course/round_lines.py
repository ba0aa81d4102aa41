"""The sixteen lines of the coding round's scorecard, stage by stage; each is proven by the situations that it yields."""

from . import round_basics, round_follow_ups  # noqa: F401  (each adds its lines to the register, in the order of the card)
from .round_helpers import GOOD, LINES, MUST, SENIOR, Line

__all__ = ["GOOD", "LINES", "MUST", "SENIOR", "Line"]
