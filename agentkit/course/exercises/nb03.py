"""The exercises of notebook 03, the registry."""

import copy
import json

from ..exercise import Case, Exercise, Trap

TITLE = "The registry"


def _tool(description, **properties):
    return {"description": description, "schema": {"properties": {k: {"type": v} for k, v in properties.items()}, "required": list(properties)},
            "fn": len}


# ---- 03-1: the other provider's shape ------------------------------------------------------------------------------------

_DEFINITIONS_STUB = '''
def anthropic_tools(registry):
    """The registry as a list of {"name", "description", "input_schema"}, one for each tool."""
    ...
'''
_DEFINITIONS = '''
def anthropic_tools(registry):
    return [{"name": name, "description": tool["description"], "input_schema": {"type": "object", **tool["schema"]}}
            for name, tool in registry.items()]
'''


def _definitions_case(registry, because):
    def make():
        return (copy.deepcopy(registry),)

    def test(result, args):
        if args[0] != registry:
            return "the registry left as it was: build new dicts, do not change the ones you are given"
        if not isinstance(result, list):
            return "a list"
        if [d.get("name") for d in result] != list(registry):
            return f"one definition for each tool, in order, with these names: {list(registry)}"
        for d in result:
            tool = registry[d["name"]]
            if set(d) != {"name", "description", "input_schema"}:
                return f"the keys name, description and input_schema; {d['name']} has {', '.join(d)}"
            if d["description"] != tool["description"]:
                return f"the description of {d['name']}: {tool['description']!r}"
            if d["input_schema"] != {"type": "object", **tool["schema"]}:
                return f'an input_schema that is the tool\'s schema and says "type": "object"; that of {d["name"]} is {d["input_schema"]}'
            try:
                json.dumps(d)
            except TypeError:
                return "only what JSON can hold: it is sent over a network"
        return None

    return Case(make, test=test, because=because)


def _definitions_cases(rng):
    n = rng.randrange(100, 999)
    look = _tool(f"Look up order {n}.", order_id="string")
    add = _tool(f"Add up to {n} numbers.", a="number", b="number")
    typed = {"description": "List what there is.", "schema": {"type": "object", "properties": {}}, "fn": len}
    return [
        _definitions_case({f"look_{n}": look}, "name, description and schema go out; the function stays here"),
        _definitions_case({f"b_{n}": look, f"a_{n}": add, "c": typed}, "one entry for each tool, in the order of the registry"),
        _definitions_case({}, "no tools, no definitions: an empty list"),
    ]


# ---- 03-2: look a name up --------------------------------------------------------------------------------------------------

_LOOKUP_STUB = '''
import difflib
import json

def safe_lookup(registry, name):
    """(tool, None) for a name of the registry, else (None, text).

    The text says that there is no such tool and shows the name, offers "Did you mean ...?" where one
    name is at least 0.8 alike, lists all names, and has at most 300 characters beside that list.
    Never raises, whatever `name` is.
    """
    ...
'''
_LOOKUP = '''
import difflib
import json

def safe_lookup(registry, name):
    if isinstance(name, str) and name in registry:
        return registry[name], None
    text = name if isinstance(name, str) else json.dumps(name)
    near = difflib.get_close_matches(text[:64], registry, 1, 0.8)
    offer = f" Did you mean {near[0]}?" if near else ""
    return None, f"there is no tool {text[:64]!r}.{offer} Available tools: {', '.join(registry)}."
'''


def _lookup_known(registry, name, because):
    def test(result, args):
        return None if isinstance(result, tuple) and len(result) == 2 and result[0] == registry[name] and result[1] is None else \
            "(the tool, None): this name is in the registry"
    return Case((registry, name), test=test, because=because)


def _lookup_unknown(registry, name, offer, because):
    def test(result, args):
        if not isinstance(result, tuple) or len(result) != 2 or result[0] is not None or not isinstance(result[1], str):
            return "(None, a text): no tool of exactly this name is in the registry"
        text = result[1]
        if "no tool" not in text.lower():
            return 'a text that says so in these words: "there is no tool ..."'
        if isinstance(name, str) and name[:20] not in text:
            return f"a text that shows the name, {name[:20]!r}, so that the model knows which call is meant"
        if any(known not in text for known in registry):
            return f"a text that lists every name: {', '.join(registry)}"
        offered = text.lower().partition("did you mean ")[2]
        if offer and not offered.lstrip("'\"`").startswith(offer.lower()):
            return f'an offer: "Did you mean {offer}?"'
        if not offer and offered:
            return "no offer: nothing in the registry is spelled nearly like it"
        if len(text) > 300 + sum(len(known) + 4 for known in registry):
            return f"a bounded text; this one has {len(text):,} characters, and it is sent again with every later call"
        return None
    return Case((registry, name), test=test, because=because)


def _lookup_cases(rng):
    thing = rng.choice(["order", "parcel", "ticket"])
    registry = {f"get_{thing}": _tool("Look it up.", id="string"), f"refund_{thing}": _tool("Pay it back.", id="string"),
                "calculator": _tool("Work it out.", expression="string")}
    return [
        _lookup_known(registry, f"get_{thing}", "a known name gives its tool and no text"),
        _lookup_known(registry, "calculator", "a known name gives its tool and no text"),
        _lookup_unknown(registry, f"get_{thing}s", f"get_{thing}", "difflib.get_close_matches(name, registry, 1, 0.8) finds the nearest name"),
        _lookup_unknown(registry, "send_email", None, "nothing is spelled like it, so there is nothing to offer"),
        _lookup_unknown(registry, f"delete_{thing}", None, f"delete_{thing} and get_{thing} share an ending, not a meaning: at 0.8 nothing is offered"),
        _lookup_unknown(registry, "", None, "an empty name is a name that nobody has"),
        _lookup_unknown(registry, None, None, "the name may be null: make a text of it before difflib sees it"),
        _lookup_unknown(registry, 5, None, "the name may be a number"),
        _lookup_unknown(registry, ["x", 1], None, "a list cannot be looked up in a dict; ask isinstance(name, str) first"),
        _lookup_unknown(registry, "x" * 5_000, None, "the name may be very long: show the start of it"),
    ]


def _lookup_variant(old, new):
    assert old in _LOOKUP
    return _LOOKUP.replace(old, new)


# ---- 03-3: least privilege ---------------------------------------------------------------------------------------------------

_RIGHT = {"get_order", "get_refund", "hand_over"}
_ALL = _RIGHT | {"refund_order", "cancel_order", "search_customers", "run_sql", "send_email"}


def _names(value):
    return {str(name).strip().partition("(")[0] for name in value} if isinstance(value, (list, tuple, set, frozenset)) else set()


def _privilege_test(value, args):
    names = _names(value)
    if names - _ALL:
        return f"names from the table; {sorted(names - _ALL)[0]!r} is not one"
    if names - _RIGHT:
        return f"fewer tools: what could go wrong with {sorted(names - _RIGHT)[0]}, and does the task need it?"
    return None if names == _RIGHT else f"one more tool ({len(_RIGHT)} in all)"


EXERCISES = [
    Exercise(
        id="03-1", title="The other provider's shape", difficulty=1, minutes=5, name="anthropic_tools", stub=_DEFINITIONS_STUB, solution=_DEFINITIONS,
        cases=_definitions_cases,
        task="Anthropic's API takes the tools flat, with `input_schema` in the place of `parameters`. Write `anthropic_tools(registry)` for it. The registry is a dict "
             'from name to `{"description", "schema", "fn"}`; a schema without "type" gets `"type": "object"`. Leave the registry as it is.',
        hints=["registry.items() gives name and tool together.", "{\"type\": \"object\", **schema} makes a new dict with the type in it."],
        traps=[
            Trap('def anthropic_tools(registry):\n    return [{"name": n, **t} for n, t in registry.items()]\n',
                 "You send the whole entry, the function too. The model never sees a function, and JSON cannot hold one."),
            Trap('def anthropic_tools(registry):\n    return [{"name": n, "description": t["description"], "input_schema": t["schema"]} for n, t in registry.items()]\n',
                 'The schema goes out without "type": "object" where the registry leaves it out, and the provider refuses the request.'),
            Trap('def anthropic_tools(registry):\n    for t in registry.values():\n        t["schema"]["type"] = "object"\n'
                 '    return [{"name": n, "description": t["description"], "input_schema": t["schema"]} for n, t in registry.items()]\n',
                 "The result is right, but the registry has changed on the way. Rendering must not change what is rendered."),
            Trap('def anthropic_tools(registry):\n    return [{"type": "function", "function": {"name": n, "description": t["description"], '
                 '"parameters": {"type": "object", **t["schema"]}}} for n, t in registry.items()]\n',
                 "That is OpenAI's shape. Here the three keys lie flat: name, description, input_schema."),
        ],
        after="Two shapes, one registry. Notebook 11 holds both against a server that speaks them."),
    Exercise(
        id="03-2", title="Look a name up", difficulty=2, minutes=7, name="safe_lookup", stub=_LOOKUP_STUB, solution=_LOOKUP, cases=_lookup_cases,
        task="Write `safe_lookup(registry, name)` so that it survives every name that a model or a broken client may send: None, 5, an empty text, a list, 5,000 letters.",
        hints=["Two of these cannot be asked with `name in registry`, and difflib wants a text. Which question comes first?",
               "Make a text of whatever is no text with json.dumps, and cut it before you show it.",
               "Return the offer as text. Do not return the tool that you would have meant."],
        traps=[
            Trap(_lookup_variant("    if isinstance(name, str) and name in registry:", "    if name in registry:"),
                 "A list cannot be looked up in a dict: `[...] in registry` raises TypeError, and the run dies with it. Ask isinstance(name, str) first."),
            Trap(_lookup_variant("    text = name if isinstance(name, str) else json.dumps(name)\n", "    text = name\n"),
                 "difflib and slices want a text. null and 5 are names too, once a client is broken enough."),
            Trap(_lookup_variant('    offer = f" Did you mean {near[0]}?" if near else ""\n',
                                 '    if near:\n        return registry[near[0]], None\n    offer = ""\n'),
                 "You return the nearest tool as if the model had asked for it. Spelling is not meaning: say what is near, and let the model ask again."),
            Trap(_lookup_variant("1, 0.8)", "1)"),
                 "difflib's default is 0.6, and at 0.6 names that share an ending count as near: delete_order is offered get_order."),
            Trap(_lookup_variant("{text[:64]!r}", "{text!r}"),
                 "You show the name in full, however long it is. It stays in the message list and is paid for at every later step."),
            Trap(_lookup_variant(" Available tools: {', '.join(registry)}.", ""),
                 "The text does not list what exists, so a model whose name was far off has nothing to choose from."),
        ],
        after="This is the gate through which every call goes. Notebook 05 builds the two that come after it: the arguments, and the function itself."),
    Exercise(
        id="03-3", title="Least privilege", difficulty=2, minutes=4, stub="answer = [...]      # the names of the tools\n",
        solution='answer = ["get_order", "get_refund", "hand_over"]\n', value=True, cases=[Case(test=_privilege_test,
            because="For each tool: does the task need it, and what is the worst call that a confused or misled model could make with it?")],
        task="An agent answers customers in a chat: has my refund been paid, when, how much, for which items? Everything else goes to a person. Eight tools "
             "exist. Which would you put into its registry, and which not?",
        hints=["Go through the table with two questions: does the task need it? What is the worst call?",
               "The agent answers in the chat, so it needs no other way to send text. What does it do with a customer who asks for more?"],
        traps=[
            Trap('answer = ["get_order", "get_refund", "hand_over", "run_sql"]\n',
                 "run_sql can do everything that the other tools were cut down to prevent. One tool that can do anything makes the registry no list at all.",
                 when=lambda value, args: "run_sql" in _names(value)),
            Trap('answer = ["get_order", "get_refund", "hand_over", "refund_order"]\n',
                 "The task is to report on refunds, not to make them. With a tool that moves money, one persuasive customer is enough.",
                 when=lambda value, args: _names(value) & {"refund_order", "cancel_order"}),
            Trap('answer = ["get_order", "get_refund", "hand_over", "search_customers"]\n',
                 "search_customers reads everybody's data. A customer in this chat is one person, with one order id.",
                 when=lambda value, args: "search_customers" in _names(value)),
            Trap('answer = ["get_order", "get_refund", "hand_over", "send_email"]\n',
                 "The agent answers in the chat. A tool that writes to any address is a way out for whatever the agent has read.",
                 when=lambda value, args: "send_email" in _names(value)),
            Trap('answer = ["get_order", "get_refund"]\n',
                 "What becomes of a customer who wants more than an answer? Without hand_over the agent has to refuse, or to invent.",
                 when=lambda value, args: _names(value) == {"get_order", "get_refund"}),
            Trap('answer = ["get_refund", "hand_over"]\n',
                 "Which items and what they cost stands in the order. Reading one order by its id is a small permission, and the task needs it.",
                 when=lambda value, args: _names(value) == {"get_refund", "hand_over"}),
        ],
        after="Each kind of run gets a registry of its own. What a model cannot call, nobody can talk it into."),
]
