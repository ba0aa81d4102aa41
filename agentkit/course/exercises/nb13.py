"""The exercises of notebook 13, hooks, skills and sub-agents."""

from ..exercise import Case, Exercise, Trap

TITLE = "Hooks, skills and sub-agents"

# ---- 13-1: gates -----------------------------------------------------------------------------------------------------

_GATES_STUB = '''
def pass_gates(arguments, gates):
    """What comes of a call: (its arguments, None) if it may run, (None, why) if not.

    A gate is called with the arguments as the gates before it left them. It returns None to let
    pass, a dict to put new arguments in their place, or a text to deny: nobody after it is asked.
    A gate that raises, or returns anything else, has not let the call pass.
    """
    ...
'''
_GATES = '''
def pass_gates(arguments, gates):
    for gate in gates:
        try:
            said = gate(arguments)
        except Exception as error:
            return None, f"a gate failed: {error}"
        if said is None:
            continue
        if isinstance(said, dict):
            arguments = said
        elif isinstance(said, str):
            return None, said
        else:
            return None, f"a gate said {said!r}"
    return arguments, None
'''


class _Gate:
    """A gate that says what it is told to say, and remembers what it was shown."""

    def __init__(self, name, says):
        self.name, self.says, self.seen = name, says, []

    def __call__(self, arguments):
        self.seen.append(dict(arguments))
        if isinstance(self.says, Exception):
            raise self.says
        return self.says(arguments) if callable(self.says) else self.says

    def __repr__(self):
        return f"<gate {self.name}>"


def _gates_case(arguments, gates, expect, because, shown):
    """`expect` is the arguments, or a text for the reason, or None for any reason; `shown` is what each gate must have seen."""
    def test(result, args):
        if not isinstance(result, tuple) or len(result) != 2:
            return "a pair: (arguments, None) or (None, why)"
        if isinstance(expect, dict):
            if result != (expect, None):
                return f"({expect!r}, None)"
        elif result[0] is not None or not isinstance(result[1], str) or not result[1].strip() or expect not in (None, result[1]):
            return f"(None, {expect!r})" if expect else "(None, a text that says why)"
        for gate, seen in zip(args[1], shown):
            if gate.seen != seen:
                return f"that {gate!r} is shown {seen[0]!r}" if seen else f"that {gate!r} is not asked any more"
        return None

    return Case((arguments, gates), test=test, because=because)


def _double(arguments):
    return {**arguments, "amount": arguments["amount"] * 2}


def _gates_cases(rng):
    n, order = rng.randrange(10, 400), f"B{rng.randrange(100, 999)}"
    call, twice, four = ({"order_id": order, "amount": n * k} for k in (1, 2, 4))
    return [
        _gates_case(call, [], call, "no gate, nothing to ask", []),
        _gates_case(call, [_Gate("quiet", None)], call, "None lets pass", [[call]]),
        _gates_case(call, [_Gate("no", f"{order} is closed")], f"{order} is closed", "a text denies, and it is the reason", [[call]]),
        _gates_case(call, [_Gate("double", _double), _Gate("double again", _double), _Gate("quiet", None)], four,
                    "each gate is shown what the ones before it made of the call", [[call], [twice], [four]]),
        _gates_case(call, [_Gate("double", _double), _Gate("no", "too much"), _Gate("quiet", None)], "too much",
                    "after a no nobody is asked, and there is nothing left to run", [[call], [twice], []]),
        _gates_case(call, [_Gate("broken", ConnectionError("no answer")), _Gate("quiet", None)], None, "a gate that could not look has not let pass", [[call], []]),
        _gates_case(call, [_Gate("empty", {}), _Gate("quiet", None)], {}, "an empty dict is a dict: the tool is called without arguments", [[call], [{}]]),
        _gates_case(call, [_Gate("false", False), _Gate("quiet", None)], None, "False is not None: nobody has said that the call may run", [[call], []]),
        _gates_case(call, [_Gate("seven", 7)], None, "what cannot be understood has not let pass", [[call]]),
    ]


def _variant(old, new, source=_GATES):
    assert old in source
    return source.replace(old, new)


# ---- 13-2: what a sub-agent may use ----------------------------------------------------------------------------------

_LIMITS_STUB = '''
def child_limits(own, left):
    """The limits of a sub-agent: the stricter of its own and of what its parent has left.

    Both are dicts such as {"steps": 8, "tokens": None}. None is unlimited, 0 is none at all, and a
    key that is not there is unlimited too. The result has every key that stands in one of them.
    """
    ...
'''
_LIMITS = '''
def child_limits(own, left):
    limits = {}
    for key in {**own, **left}:
        set_here = [d[key] for d in (own, left) if d.get(key) is not None]
        limits[key] = min(set_here) if set_here else None
    return limits
'''


def _limits_cases(rng):
    a, b = sorted(rng.sample(range(2, 90), 2))
    scope = {}
    exec(_LIMITS, scope)

    def case(own, left, because):
        return Case((own, left), scope["child_limits"](own, left), because=because)

    return [
        case({"steps": a}, {"steps": b}, "its own limit is the stricter one"),
        case({"steps": b}, {"steps": a}, "the parent has less left than the sub-agent may use"),
        case({"steps": a, "tokens": None}, {"steps": None, "tokens": b}, "None is no limit: the other one holds"),
        case({"steps": a}, {"steps": 0}, "0 left is nothing left, not no limit"),
        case({"tokens": 0}, {"tokens": None}, "0 is a limit, None is none"),
        case({"steps": None}, {"steps": None}, "two times unlimited is unlimited"),
        case({"steps": a}, {"usd": b / 100}, "a key that stands in one of them only"),
        case({}, {"steps": b, "tokens": a * 1000}, "no limits of its own: it still may not use more than is left"),
        case({"steps": a, "seconds": b}, {}, "a parent without limits leaves the sub-agent its own"),
    ]


# ---- 13-3: find the bug ----------------------------------------------------------------------------------------------

def _is(letter):
    return lambda value, args: str(value).strip().lower() == letter


EXERCISES = [
    Exercise(
        id="13-1", title="Pass the gates", difficulty=3, minutes=8, name="pass_gates", stub=_GATES_STUB, solution=_GATES, cases=_gates_cases, pure=True,
        task="Write `pass_gates(arguments, gates)`. The call runs only if every gate has let it pass.",
        hints=["Four things can come of asking a gate. Which of them lets the call go on?", "Begin with `said is None`. What is left when it is no dict and no text?"],
        traps=[
            Trap(_variant('            return None, f"a gate failed: {error}"\n', "            continue\n"),
                 "A gate that fails is skipped here, and the call runs unchecked. That is the day on which the fraud service is down."),
            Trap("def pass_gates(arguments, gates):\n    for gate in gates:\n        said = gate(arguments)\n        if isinstance(said, dict): arguments = said\n"
                 "        elif said is not None: return None, said if isinstance(said, str) else 'no'\n    return arguments, None\n",
                 "An error in a gate comes out of your function and ends the whole run. Denying this one call is enough."),
            Trap(_variant("            arguments = said\n", "            return said, None\n"),
                 "You stop at the first change. The gates after it are never asked, and one of them might have denied."),
            Trap("def pass_gates(arguments, gates):\n    new = arguments\n    for gate in gates:\n        try: said = gate(arguments)\n"
                 "        except Exception as e: return None, f'failed: {e}'\n        if said is None: continue\n        if isinstance(said, dict): new = said\n"
                 "        elif isinstance(said, str): return None, said\n        else: return None, 'what?'\n    return new, None\n",
                 "Every gate is shown the first arguments. What a later gate allows is then not what runs: that is the clash from the start of the notebook."),
            Trap(_variant("if said is None:", "if not said:"), "You ask whether the answer is true or false. An empty dict and False are not None, and mean something else."),
            Trap(_variant('        else:\n            return None, f"a gate said {said!r}"\n', ""), "What is neither None nor a dict nor a text passes here. A gate that says False surely did not mean yes."),
            Trap(_variant("            return None, said\n", "            return arguments, said\n"), "A denied call has no arguments to run with: the first place is None."),
            Trap("def pass_gates(arguments, gates):\n    why = None\n    for gate in gates:\n        try: said = gate(arguments)\n        except Exception as e: said = f'failed: {e}'\n"
                 "        if isinstance(said, dict): arguments = said\n        elif said is not None: why = said if isinstance(said, str) else 'what?'\n"
                 "    return (None, why) if why else (arguments, None)\n",
                 "You go on asking after a no. Later gates may ask a person, or count, for a call that never runs."),
        ],
        after="This is the whole of agentkit's ask_gates, but for the record that it writes."),
    Exercise(
        id="13-2", title="What a sub-agent may use", difficulty=2, minutes=6, name="child_limits", stub=_LIMITS_STUB, solution=_LIMITS, cases=_limits_cases, pure=True,
        task="Write `child_limits(own, left)`: never more than its own limits, never more than its parent has left.",
        hints=["Which keys does the result have? Look at both dicts.", "None and 0 are both false. Only one of them means that there is no limit."],
        traps=[
            Trap("def child_limits(own, left):\n    return {k: min(v) if (v := [d[k] for d in (own, left) if d.get(k)]) else None for k in {**own, **left}}\n",
                 "0 is lost: you drop it with the Nones. A parent that has nothing left would hand out an unlimited sub-agent."),
            Trap("def child_limits(own, left):\n    return {k: own.get(k) if own.get(k) is not None else left.get(k) for k in {**own, **left}}\n",
                 "Its own limit wins whenever there is one, also where the parent has less left. The child can then spend what is not there."),
            Trap("def child_limits(own, left):\n    return {**own, **left}\n", "What the parent has left simply replaces the sub-agent's own limits, None included."),
            Trap("def child_limits(own, left):\n    return {k: min(own[k], left[k]) for k in own}\n", "None cannot be compared, and a key may stand in one of the two only."),
            Trap("def child_limits(own, left):\n    return {k: min(v) if (v := [d[k] for d in (own, left) if d.get(k) is not None]) else None for k in own}\n",
                 "You go through the sub-agent's own keys. What only the parent limits is then unlimited for the child."),
            Trap("def child_limits(own, left):\n    return {k: max(v) if (v := [d[k] for d in (own, left) if d.get(k) is not None]) else None for k in {**own, **left}}\n",
                 "The stricter limit is the smaller one."),
        ],
        after="agentkit writes it as limits.at_most(running().left())."),
    Exercise(
        id="13-3", title="Find the bug in this trace", difficulty=2, minutes=4, stub="answer = ...      # one letter: a, b, c or d\n", solution='answer = "c"\n',
        value=True, cases=[Case(test=lambda value, args: None if _is("c")(value, args) else "one letter, the cause: add the numbers up, row by row")],
        task="Somebody else's harness. The run was stopped at its budget of 12,000 tokens; the provider's bill says 6,800. What is wrong?",
        hints=["Add up the first row: what should the total be?", "How much too high is the total after each step?"],
        traps=[
            Trap('answer = "a"\n', "Then the model calls of the later steps would be large. They are 300 and 400 tokens: nothing has come into the list.", when=_is("a")),
            Trap('answer = "b"\n', "Its spending would be part of what the sub-agent reports. The error is exactly the reported number.", when=_is("b")),
            Trap('answer = "d"\n', "The model calls add up: 300 and 400 are in the totals once. The error sits in another column.", when=_is("d")),
        ],
        after="300 + 5,200 is 5,500, and the total says 10,700: the sub-agent's 5,200 are in it twice. The provider's 6,800 is the true sum. "
              "Here the sub-agent shared its parent's account while it ran, and its result was charged as well."),
]
