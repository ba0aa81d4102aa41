"""Finds a model server on this machine, if one answers: Ollama or llama.cpp. It never asks any other machine."""

from __future__ import annotations

import http.client
import json

from .openai import OpenAIChat

PORTS = {"Ollama": 11434, "llama.cpp": 8080}


def find_local(ports=None, seconds: float = 0.5) -> list[tuple[str, list[str]]]:
    """(base_url, names of models) of each server that answers on the loopback address."""
    found = []
    for port in PORTS.values() if ports is None else ports:
        names = _models(port, seconds)
        if names:
            found.append((f"http://127.0.0.1:{port}/v1", names))
    return found


def local_model(name: str | None = None, ports=None, **options) -> OpenAIChat | None:
    """The named model, or the first one that can chat; None where no server of this machine has it. `options` as for OpenAIChat."""
    for base_url, names in find_local(ports):
        fitting = [n for n in names if (n == name if name else "embed" not in n.lower())]
        if fitting:
            return OpenAIChat(fitting[0], base_url, **options)
    return None


def _models(port: int, seconds: float) -> list[str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)     # no proxy, no redirect: this machine only
    try:
        connection.request("GET", "/v1/models")
        response = connection.getresponse()
        body = json.loads(response.read(1_000_000)) if response.status == 200 else {}
        return [m["id"] for m in body["data"] if isinstance(m["id"], str)]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):    # nobody there, or somebody else
        return []
    finally:
        connection.close()
