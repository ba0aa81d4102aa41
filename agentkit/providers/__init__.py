"""Real models: adapters that are each a Model, model(messages, tools) -> Reply, and a local server that stands in for them.

Names load on first use; the official packages are imported when an adapter is made, not before.
"""

_HOME = {"OpenAIChat": "openai", "OpenAIResponses": "responses", "AnthropicMessages": "anthropic", "ProviderError": "wire",
         "find_local": "local", "local_model": "local", "serve": "server", "Server": "server", "Fault": "server"}
__all__ = sorted(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"agentkit.providers has no {name!r}; it has {', '.join(__all__)}")
    from importlib import import_module
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__():
    return sorted(list(globals()) + __all__)
