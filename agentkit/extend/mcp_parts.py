"""What an MCP server sends, as text for a message list: tool results of several parts, resources, prompts."""

from __future__ import annotations

import json

from ..messages import clean, to_text
from ..tools import ToolResult


def result_of(answer) -> ToolResult:
    """A tools/call result as text; isError counts as an error of the run. (Its size is bounded where every tool's is.)"""
    parts = [text_of(part) for part in answer.content]
    structured = answer.structured_content
    if structured is not None and not _says(parts, structured):
        parts.append(to_text(structured))
    text = clean("\n".join(part for part in parts if part.strip()))
    if answer.is_error and not text.startswith("ERROR"):
        text = f"ERROR: {text or 'the tool failed and does not say why'}"
    return ToolResult(text, error=answer.is_error)


def text_of(part) -> str:
    """One content block. What is no text is named with its size: a message list holds text."""
    kind = part.type
    if kind == "text":
        return part.text
    if kind in ("image", "audio"):
        return f"[{kind}: {part.mime_type}, {_size(part.data)}, not shown]"
    if kind == "resource_link":
        return f"[resource: {part.uri}{f' ({part.name})' if part.name else ''}, not read]"
    if kind == "resource":
        return f"[resource: {part.resource.uri}]\n{contents_of(part.resource)}"
    return f"[{kind}: not shown]"


def contents_of(resource) -> str:
    """What one resource holds: its text, or a word on its bytes."""
    text = getattr(resource, "text", None)
    return text if text is not None else f"[{resource.mime_type or 'bytes'}, {_size(resource.blob)}, not shown]"


def messages_of(prompt) -> list[dict]:
    """A prompt's messages in the shape of a message list."""
    return [{"role": m.role, "content": clean(text_of(m.content))} for m in prompt.messages]


def _says(parts: list[str], structured) -> bool:
    """Whether the texts already say what the structured content says; most servers send both."""
    wrapped = structured.get("result", structured) if isinstance(structured, dict) and len(structured) == 1 else structured
    said = [_parsed(part) for part in parts]
    return bool(parts) and any(meant in (said, said[0], "\n".join(parts)) for meant in (structured, wrapped))


def _parsed(text: str):
    try:
        return json.loads(text)
    except ValueError:
        return text


def _size(base64: str) -> str:
    return f"{len(base64) * 3 // 4 - base64[-2:].count('='):,} bytes"
