"""The exercises of notebook 11, real models."""

import json

from ..exercise import Case, Exercise, Trap

TITLE = "Real models"

# ---- 11-1: an answer into a reply ------------------------------------------------------------------------------------------

_REPLY_STUB = '''
def to_reply(body):
    """One answer of Chat Completions as a dict of four.

    text         the words, or None where there are none; the words of a refusal count as well
    calls        [(id, name, arguments), ...] with the arguments as the JSON text that came
    stop_reason  the finish_reason; "refusal" where the model refused
    usage        (read at the full price, read from the cache, written), no token twice; None where nothing is reported
    """
    ...
'''
_REPLY = '''
def to_reply(body):
    choice = body["choices"][0]
    message, report, usage = choice["message"], body.get("usage"), None
    if report:
        cached = (report.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        usage = (report["prompt_tokens"] - cached, cached, report["completion_tokens"])
    refusal = message.get("refusal")
    return {
        "text": message.get("content") or refusal or None,
        "calls": [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls") or []],
        "stop_reason": "refusal" if refusal else choice["finish_reason"],
        "usage": usage,
    }
'''


def _body(content=None, calls=(), finish="stop", refusal=None, usage=None, **more):
    message = {"role": "assistant", "content": content, "refusal": refusal, **more}
    if calls:
        message["tool_calls"] = [{"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i, name, arguments in calls]
    body = {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    return {**body, "usage": usage} if usage else body


def _report(prompt, completion, cached=None):
    report = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return report if cached is None else {**report, "prompt_tokens_details": {"cached_tokens": cached}}


def _told(text=None, calls=(), stop_reason="stop", usage=None):
    return {"text": text, "calls": list(calls), "stop_reason": stop_reason, "usage": usage}


def _reply_cases(rng):
    n, order = rng.randrange(200, 900), f"A{rng.randrange(100, 999)}"
    one = (f"call_{n}", "get_order", json.dumps({"order_id": order}))
    two = (f"call_{n + 1}", "calculator", json.dumps({"expression": f"{n} * 2"}))
    broken = (f"call_{n}", "get_order", f'{{"order_id": "{order}')
    return [
        Case((_body(f"Order {order} is late.", usage=_report(n, 8)),), _told(f"Order {order} is late.", usage=(n, 0, 8)), because="the words stand in choices[0].message.content"),
        Case((_body(None, [one], "tool_calls", usage=_report(n, 20)),), _told(None, [one], "tool_calls", (n, 0, 20)),
             because="beside a call the content is null: there are no words, so the text is None"),
        Case((_body("I look both up.", [one, two], "tool_calls", usage=_report(n, 44)),), _told("I look both up.", [one, two], "tool_calls", (n, 0, 44)),
             because="a reply may hold words and several calls at once"),
        Case((_body("", [one], "tool_calls", usage=_report(n, 20)),), _told(None, [one], "tool_calls", (n, 0, 20)),
             because="some servers send an empty text in the place of null; no words are None"),
        Case((_body(None, [broken], "length", usage=_report(n, 12)),), _told(None, [broken], "length", (n, 0, 12)),
             because="the arguments stay the text that came: whether it is JSON is asked later, where the model can be told"),
        Case((_body(f"Order {order} costs 59", finish="length", usage=_report(n, 7)),), _told(f"Order {order} costs 59", stop_reason="length", usage=(n, 0, 7)),
             because="finish_reason says whether the reply is whole; pass it on"),
        Case((_body(None, refusal="I cannot help with that.", usage=_report(n, 9)),), _told("I cannot help with that.", stop_reason="refusal", usage=(n, 0, 9)),
             because="a refusal has a field of its own, and its finish_reason is an innocent \"stop\""),
        Case((_body("Yes.", usage=_report(1024 + n, 5, 1024)),), _told("Yes.", usage=(n, 1024, 5)),
             because="prompt_tokens include the tokens that came from the cache: take them out, or they are paid for twice"),
        Case((_body("Yes.", usage=_report(n, 5, 0)),), _told("Yes.", usage=(n, 0, 5)), because="no token came from the cache: 0"),
        Case((_body("Yes.", tool_calls=None),), _told("Yes."), because="no usage is no report: None, and not 0; and tool_calls may be there and null"),
    ]


def _reply_variant(*changes):
    text = _REPLY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


# ---- 11-2: streamed calls ----------------------------------------------------------------------------------------------------

_ASSEMBLE_STUB = '''
def assemble(pieces):
    """The calls that these pieces are: [(id, name, arguments), ...] in the order in which they begin.

    A piece is what streams in delta["tool_calls"]: {"index", "id", "function": {"name", "arguments"}}, any of them
    missing or None. Which call does a piece belong to?
      It has an id:   to the call with this id; an id that is new begins a call.
      It has none:    to the newest call with its index; without an index, to the newest call.
    A name comes whole, once or again and again. Arguments come in parts.
    """
    ...
'''
_ASSEMBLE = '''
def assemble(pieces):
    calls = []
    for piece in pieces:
        call_id, index, function = piece.get("id"), piece.get("index"), piece.get("function") or {}
        if call_id:
            mine = [c for c in calls if c["id"] == call_id]
        else:
            mine = [c for c in calls if index is None or c["index"] == index]
        if not mine:
            mine = [{"id": call_id, "index": index, "name": "", "arguments": ""}]
            calls += mine
        call = mine[-1]
        call["name"] = call["name"] or function.get("name") or ""
        call["arguments"] += function.get("arguments") or ""
    return [(c["id"], c["name"], c["arguments"]) for c in calls]
'''


def _piece(index=None, id=None, name=None, arguments=None):
    piece = {} if index is None else {"index": index}
    if id is not None:
        piece["id"] = id
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    return {**piece, "function": function} if function else piece


def _cut(text, rng):
    """A text in pieces of one to six characters."""
    pieces = []
    while text:
        n = rng.randrange(1, 7)
        pieces.append(text[:n])
        text = text[n:]
    return pieces


def _assemble_cases(rng):
    n = rng.randrange(100, 900)
    orders = [json.dumps({"order_id": f"A{n + k}"}) for k in range(3)]
    ids = [f"call_{n + k}" for k in range(3)]
    a, b, c = ((i, "get_order", text) for i, text in zip(ids, orders))

    def pieces(k, index, repeat_id=False, repeat_name=False):
        """One call's pieces: the opening, then the arguments."""
        return [_piece(index, ids[k], "get_order", "")] + [_piece(index, ids[k] if repeat_id else None, "get_order" if repeat_name else None, part)
                                                           for part in _cut(orders[k], rng)]

    first, second = pieces(0, 0), pieces(1, 1)
    turns = [piece for pair in zip(first, second) for piece in pair] + first[len(second):] + second[len(first):]
    late = pieces(0, 1)                 # the text was block 0
    nulls = [{"index": 0, "id": ids[0], "function": {"name": "get_order", "arguments": None}},
             *({"index": 0, "id": None, "function": {"name": None, "arguments": part}} for part in _cut(orders[0], rng))]
    return [
        Case((first,), [a], because="the opening brings id and name, the rest of the pieces bring the arguments"),
        Case((first + second,), [a, b], because="two calls, one after the other"),
        Case((turns,), [a, b], because="pieces of two calls may take turns: the index says which is whose"),
        Case((late + pieces(1, 2),), [a, b], because="an index is a label, not a place in your list: it need not begin at 0"),
        Case((pieces(0, 0, repeat_name=True) + second,), [a, b], because="some servers send the name with every piece; it is one name"),
        Case((nulls,), [a], because="a field may be there and be None"),
        Case((pieces(0, None) + pieces(1, None) + pieces(2, None),), [a, b, c], because="without an index, a piece goes on with the newest call; a new id begins one"),
        Case(([p for pair in zip([_piece(None, ids[0], "get_order", ""), _piece(None, ids[0], None, orders[0])],
                                 [_piece(None, ids[1], "get_order", ""), _piece(None, ids[1], None, orders[1])]) for p in pair],), [a, b],
             because="with an id in every piece, the id says which is whose"),
        Case((pieces(0, 0) + pieces(1, 0),), [a, b], because="some servers number every call 0: there the new id begins a call, though the index is known"),
        Case(([_piece(0, ids[0], "get_order", "{}")],), [(ids[0], "get_order", "{}")], because="a call may come whole"),
        Case(([],), [], because="no pieces, no calls"),
    ]


def _assemble_variant(*changes):
    text = _ASSEMBLE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


_FIND = '''        if call_id:
            mine = [c for c in calls if c["id"] == call_id]
        else:
            mine = [c for c in calls if index is None or c["index"] == index]
'''

# ---- 11-3: find the bug in this wire log ----------------------------------------------------------------------------------------

_LOG_CASES = [Case(test=lambda value, args: None if str(value).strip().lower() == "b" else "one letter, the cause: compare what came back in request 1 with what was sent in request 2")]


def _letter(letter):
    return lambda value, args: str(value).strip().lower() == letter


EXERCISES = [
    Exercise(
        id="11-1", title="An answer becomes a reply", difficulty=2, minutes=8, name="to_reply", stub=_REPLY_STUB, solution=_REPLY, cases=_reply_cases, pure=True,
        task="From memory now, and into plain values: read one answer of Chat Completions. It never raises for what a model may write.",
        hints=["Five places: message.content, message.refusal, message.tool_calls, the finish_reason beside the message, and usage outside of choices.",
               "Every one of them may be null or missing. `x.get(\"key\") or default` covers both.",
               "What is in prompt_tokens and in cached_tokens as well must be taken out of one of them."],
        traps=[
            Trap(_reply_variant(('"text": message.get("content") or refusal or None', '"text": str(message.get("content") or refusal)')),
                 'str(None) is the word "None". It passes every check, joins the list, and some day a customer reads it.'),
            Trap(_reply_variant(('for c in message.get("tool_calls") or []]', 'for c in (message.get("tool_calls") or [])[:1]]')),
                 "Only the first call came through. The others are lost without an error, and the provider refuses the next request: they have no result."),
            Trap("import json\n" + _reply_variant(('c["function"]["arguments"])', 'json.loads(c["function"]["arguments"]))')),
                 "You parse the arguments. A reply that is cut off brings half of a JSON text; the run dies in the adapter, where the model cannot be told."),
            Trap(_reply_variant(('(report["prompt_tokens"] - cached, cached,', '(report["prompt_tokens"], cached,')),
                 "Cached tokens are counted twice. Here prompt_tokens include them, so your bill is too high as soon as a cache works."),
            Trap(_reply_variant(('message.get("content") or refusal or None', 'message.get("content") or None'), ('"refusal" if refusal else choice["finish_reason"]', 'choice["finish_reason"]')),
                 "A refusal came through as an empty reply that stopped normally. Its words are in message.refusal, and nothing else tells you."),
            Trap(_reply_variant(("report, usage = choice[\"message\"], body.get(\"usage\"), None", "report, usage = choice[\"message\"], body.get(\"usage\"), (0, 0, 0)")),
                 "No report became a usage of zero: a run that costs nothing never meets its budget. What is not known is None."),
            Trap(_reply_variant(('message.get("tool_calls") or []', 'message["tool_calls"]')),
                 "Your function raises where the model calls nothing: tool_calls is missing then, and with some servers it is null."),
            Trap(_reply_variant(('[(c["id"], c["function"]["name"], c["function"]["arguments"]) for', '[[c["id"], c["function"]["name"], c["function"]["arguments"]] for')),
                 "Right but for the shape: each call is a tuple, (id, name, arguments)."),
            Trap(_reply_variant(('message.get("content") or refusal or None', 'message.get("content") if refusal is None else refusal')),
                 "An empty text came through as a text. Sent back, it is refused by providers that take no empty blocks; no words are None."),
        ],
        after="Text, every call, why it stopped, and what it cost: that is all a harness needs to know of a provider."),
    Exercise(
        id="11-2", title="Calls out of a stream", difficulty=4, minutes=12, name="assemble", stub=_ASSEMBLE_STUB, solution=_ASSEMBLE, cases=_assemble_cases, pure=True,
        task="Put streamed calls together, for servers of every habit: with an index, without one, with an id in every piece, with 0 for every call.",
        hints=["Keep a list of the calls so far. For each piece, find the call it goes on with; if there is none, append a new one.",
               "Look for it from the end: with one index for all, the newest call is meant.",
               '`function.get("arguments") or ""` takes what is missing and what is None.'],
        traps=[
            Trap(_assemble_variant((_FIND, "        mine = [c for c in calls if not call_id or c[\"id\"] == call_id]\n")),
                 "Pieces that take turns end up in the wrong call: you go on with the newest one and do not look at the index."),
            Trap(_assemble_variant((_FIND, "        mine = [c for c in calls if c[\"index\"] == index]\n")),
                 "You go by the index alone. Servers that send none, or 0 for every call, have their calls glued together: {...}{...} is no JSON."),
            Trap(_assemble_variant((_FIND, "        mine = [c for c in calls if c[\"id\"] == call_id]\n")),
                 "You go by the id alone. Most servers send it once, in the opening; the pieces after it became calls without a name."),
            Trap(_assemble_variant(('call["name"] = call["name"] or function.get("name") or ""', 'call["name"] += function.get("name") or ""')),
                 "The name was added up: get_orderget_order is a tool that nobody has. A name comes whole."),
            Trap(_assemble_variant(('call["arguments"] += function.get("arguments") or ""', 'call["arguments"] += function.get("arguments", "")')),
                 'A field may be there and be None: .get("arguments", "") gives None then, and None cannot be added to a text.'),
            Trap(_assemble_variant(('            mine = [{"id": call_id, "index": index, "name": "", "arguments": ""}]\n            calls += mine\n',
                                    '            if index is not None and index != len(calls): raise IndexError(index)\n'
                                    '            mine = [{"id": call_id, "index": index, "name": "", "arguments": ""}]\n            calls += mine\n')),
                 "You took the index for a place in your list. It is a label: where a text was block 0, the first call is 1."),
        ],
        after="agentkit.streaming has the same rules and a few more, for ids that come late and calls that have none."),
    Exercise(
        id="11-3", title="Find the bug in this wire log", difficulty=3, minutes=5, stub="answer = ...      # one letter: a, b, c or d\n", solution='answer = "b"\n',
        value=True, cases=_LOG_CASES,
        task="Somebody else's adapter, two requests, and a 400 that speaks of the tool message. What has to be mended?",
        hints=["The 400 names the message where the provider noticed it. What stands in front of that message?",
               "Put the answer to request 1 beside the third message of request 2. What did the adapter keep of it?"],
        traps=[
            Trap('answer = "a"\n', "The id is right: call_7 was asked for and call_7 is answered. But where in request 2 is call_7 asked for?", when=_letter("a")),
            Trap('answer = "c"\n', "Null beside a call is right, and it came from the provider. Look at what the adapter made of it.", when=_letter("c")),
            Trap('answer = "d"\n', "A 400 is about the request itself. Sent again it is refused again; 429, 5xx and lost connections are worth a retry.", when=_letter("d")),
        ],
        after='The adapter kept str(content), the word "None", and dropped tool_calls. So the result answers a call that is nowhere in the list. '
              "The message that goes back must be the one that came."),
]
