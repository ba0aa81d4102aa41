"""What the server says no with, and the checks that the three APIs share."""

from __future__ import annotations

import re

NAME = r"^[a-zA-Z0-9_-]+$"
_KINDS = {str: "a string", dict: "an object", list: "an array", int: "an integer", type(None): "null", bool: "a boolean", float: "a number"}


class Refusal(Exception):
    """A request that is not answered; each dialect puts it into its provider's error shape."""

    def __init__(self, message: str, param: str | None = None, code: str | None = None, status: int = 400, retry_after: float | None = None):
        super().__init__(message)
        self.message, self.param, self.code, self.status, self.retry_after = message, param, code, status, retry_after


def known_only(body: dict, known: frozenset, where: str = "") -> None:
    """Refuse a field that the API does not have."""
    for field in body:
        if field not in known:
            raise Refusal(f"Unknown parameter: '{where}{field}'.", f"{where}{field}", "unknown_parameter")


def required(body: dict, field: str, kind: type, where: str = ""):
    """The field, which must be there and of its kind."""
    if field not in body:
        raise Refusal(f"Missing required parameter: '{where}{field}'.", f"{where}{field}", "missing_required_parameter")
    return typed(body[field], kind, f"{where}{field}")


def typed(value, kind: type, where: str):
    """The value, which must be of its kind."""
    if not isinstance(value, kind) or isinstance(value, bool):
        got = next(text for k, text in _KINDS.items() if type(value) is k)
        raise Refusal(f"Invalid type for '{where}': expected {_KINDS[kind]}, but got {got} instead.", where, "invalid_type")
    return value


def filled(items: list, where: str) -> list:
    """The list, which must not be empty."""
    if not items:
        raise Refusal(f"Invalid '{where}': empty array. Expected an array with minimum length 1, but got an empty array instead.", where, "empty_array")
    return items


def tool_name(name, where: str) -> str:
    """The name of a tool, as providers take it."""
    if not re.match(NAME, typed(name, str, where)) or len(name) > 64:
        raise Refusal(f"Invalid '{where}': string does not match pattern. Expected a string that matches the pattern '{NAME}'.", where, "invalid_value")
    return name


def text_of(content, where: str, kinds: tuple[str, ...]) -> str:
    """A content as one text: a string, or a list of text parts."""
    if isinstance(content, list):
        parts = []
        for i, part in enumerate(content):
            if typed(part, dict, f"{where}[{i}]").get("type") not in kinds:
                raise Refusal(f"Invalid value: '{part.get('type')}'. Supported values are: {', '.join(map(repr, kinds))}.", f"{where}[{i}].type", "invalid_value")
            parts.append(typed(part.get("text", part.get("refusal")), str, f"{where}[{i}].text"))
        return "".join(parts)
    return typed(content, str, where)


def one_of(value, allowed: tuple[str, ...], where: str) -> str:
    """The value, which must be one of those that the API knows."""
    if value not in allowed:
        raise Refusal(f"Invalid value: '{value}'. Supported values are: {', '.join(map(repr, allowed))}.", where, "invalid_value")
    return value


def openai_error(refusal: Refusal) -> dict:
    """The error shape of OpenAI's APIs."""
    kind = {429: "rate_limit_error", 404: "invalid_request_error"}.get(refusal.status, "invalid_request_error" if refusal.status < 500 else "server_error")
    return {"error": {"message": refusal.message, "type": kind, "param": refusal.param, "code": refusal.code}}
