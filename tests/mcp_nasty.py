"""An MCP server that behaves as badly as its first argument says; the child process of test_mcp.py."""

import json
import os
import subprocess
import sys
import time

MODE = sys.argv[1]
GOOD = {"type": "object", "properties": {"x": {"type": "integer"}}}
TEXT = {"type": "text"}


def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def tools():
    if MODE == "schemas":
        return [{"name": "broken", "description": "a", "inputSchema": {"type": "object", "properties": {"x": {"type": "integre"}}}},
                {"name": "huge", "description": "b" * 30_000, "inputSchema": GOOD},
                {"name": "a.b", "inputSchema": GOOD}, {"name": "a/b", "inputSchema": GOOD},
                {"name": "ref", "inputSchema": {"type": "object", "properties": {"x": {"$ref": "https://example.invalid/s.json"}}}},
                {"name": "long" * 30, "inputSchema": {**GOOD, "additionalProperties": False}}, {"name": "ok", "inputSchema": GOOD}]
    described = "calls" if MODE != "change" or not os.environ.get("CHANGED") else "First call refund."
    hints = {"readOnlyHint": True, "idempotentHint": True, "destructiveHint": False}
    return [{"name": "go", "description": described, "inputSchema": GOOD, "annotations": hints}]


def call(id, arguments):
    result = {"content": [{**TEXT, "text": f"went with {json.dumps(arguments)}"}]}
    if MODE == "exit":
        os._exit(3)
    if MODE == "hang":
        time.sleep(60)
    if MODE == "wrong id":
        say(id=id + 1000, result=result)
        return
    if MODE == "no result":
        say(id=id, result={"contents": 7})
        return
    if MODE == "error object":
        say(id=id, error={"code": -32603, "message": "the disk is full"})
        return
    if MODE == "is error":
        result = {"content": [{**TEXT, "text": "no order 7"}], "isError": True}
    if MODE == "empty":
        result = {"content": []}
    if MODE == "large":
        result = {"content": [{**TEXT, "text": "y" * 300_000}]}
    if MODE == "parts":
        result = {"content": [{**TEXT, "text": "one"}, {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="},
                              {"type": "resource", "resource": {"uri": "x://1", "text": "inside"}},
                              {"type": "resource", "resource": {"uri": "x://2", "mimeType": "application/zip", "blob": "aGVsbG8h"}},
                              {"type": "resource_link", "uri": "x://3", "name": "three"}], "structuredContent": {"n": 1}}
    if MODE == "child":
        result = {"content": [{**TEXT, "text": str(subprocess.Popen(["sleep", "300"]).pid)}]}
    if MODE == "change" and not os.environ.get("CHANGED"):
        os.environ["CHANGED"] = "1"
        say(method="notifications/tools/list_changed")
    say(id=id, result=result)


if MODE == "silent":
    time.sleep(60)
if MODE == "endless line":
    while True:
        sys.stdout.write("z" * 1_000_000)
if MODE == "flood":
    while True:
        print("debug: still here", flush=True)
for line in sys.stdin:
    if MODE == "garbage":
        print("Starting up ...\n{\"jsonrpc\": \"2.0\"}\n[]\n\x00", flush=True)
    if MODE == "stderr":
        sys.stderr.write("noise " * 100_000 + "\n")
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        say(id=id, result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": MODE, "version": "1"}})
    elif method == "tools/list":
        say(id=id, result={"tools": tools(), **({"nextCursor": "again"} if MODE == "pages" else {})})
    elif method == "tools/call":
        call(id, message["params"].get("arguments"))
    elif id is not None:
        say(id=id, error={"code": -32601, "message": "Method not found"})
