"""List prices of a few well-known models, to change as you need: `run(..., prices=PRICES)` or `prices={**PRICES, "mine": Price(1, 2)}`.

Providers change prices and withdraw models: look at the provider's own page before you trust a figure in here.
A model that is not in the table costs an unknown amount, never nothing. Names are exact, because dated versions of a
model have had prices of their own. Not in here: discounts for batches, surcharges for long prompts, and what Anthropic
asks for writing into its cache (a quarter more than for input), which is counted as input.
"""

from .tokens import Price

AS_OF = "2025-11"       # the month whose list prices these are; USD per million tokens

PRICES = {
    "gpt-4o": Price(2.5, 10, cached=1.25),
    "gpt-4o-mini": Price(0.15, 0.6, cached=0.075),
    "gpt-4.1": Price(2, 8, cached=0.5),
    "gpt-4.1-mini": Price(0.4, 1.6, cached=0.1),
    "gpt-4.1-nano": Price(0.1, 0.4, cached=0.025),
    "gpt-5": Price(1.25, 10, cached=0.125),
    "gpt-5-mini": Price(0.25, 2, cached=0.025),
    "gpt-5-nano": Price(0.05, 0.4, cached=0.005),
    "claude-haiku-4-5": Price(1, 5, cached=0.1),
    "claude-sonnet-4-5": Price(3, 15, cached=0.3),
    "claude-opus-4-5": Price(5, 25, cached=0.5),
}
