"""The agent loop, by hand: the small harness that the course builds.

Names load on first use, so `import agentkit` is instant and needs nothing installed.
"""

_HOME = {
    "run": "loop", "Result": "loop", "resume": "resuming", "replay": "replaying",
    "tool": "tools", "Tool": "tools", "Registry": "tools", "ToolResult": "tools", "running": "tools",
    "Limits": "limits", "Exit": "limits",
    "Price": "tokens", "count_tokens": "tokens",
    "Reply": "messages", "ToolCall": "messages", "Usage": "messages", "call": "messages", "check_messages": "messages", "Spent": "messages",
    "Hook": "extend.hooks", "View": "gates", "Skills": "extend.skills", "subagent": "extend.subagents",
    "Compaction": "context.compaction", "Summaries": "context.summaries", "MemoryFiles": "context.files", "Recall": "context.retrieval",
    "ScriptedModel": "models", "TextModel": "models",
    "Journal": "journal", "JournalError": "journal", "RunTaken": "journal",
    "Retry": "retry", "Transient": "retry",
}
__all__ = sorted(_HOME)
__version__ = "0.1.0"


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError("agentkit has no %r; it has %s" % (name, ", ".join(__all__)))
    from importlib import import_module
    value = getattr(import_module("agentkit." + _HOME[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(list(globals()) + __all__)
