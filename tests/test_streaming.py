"""Streaming: whatever way a reply is cut and indexed, its pieces are the reply again. References are ids of failures in other harnesses."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentkit import Reply, ScriptedModel, ToolCall, Usage, call, run
from agentkit.streaming import Assembler, assemble, cut, deltas, report_of, usage_of
from harness import add, assert_rules, look_up

steady = settings(derandomize=True, deadline=None, database=None, max_examples=150)
GO = {"role": "user", "content": "go"}
CALLS = (ToolCall("a", "add", '{"a": 1, "b": [2]}'), ToolCall("b", "look_up", "{}"), ToolCall("c", "add", '{"a": '))
USAGE = Usage(90, 12, 10)
REPLY = Reply("I add, then I look.", CALLS, USAGE, "tool_calls")


def piece(index=None, id=None, name=None, arguments=None):
    """One piece of one call; what is None is not there."""
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    return {"tool_calls": [{k: v for k, v in (("index", index), ("id", id), ("function", function or None)) if v is not None}]}


def calls(*pieces):
    return [(c.id, c.name, c.arguments) for c in assemble(pieces).tool_calls]


# ---- every cut -------------------------------------------------------------------------------------------------------------------

def streamed(reply, size):
    return assemble(deltas(reply, size))


@pytest.mark.parametrize("size", range(1, 40))
def test_streamed_is_unstreamed_at_every_size(size):
    assert streamed(REPLY, size) == REPLY


def atoms(reply):
    """A reply character by character: (what it belongs to, the character)."""
    yield from (("text", ch) for ch in reply.text or "")
    for i, c in enumerate(reply.tool_calls):
        yield from (((i, "name"), ch) for ch in c.name)
        yield from (((i, "arguments"), ch) for ch in c.arguments)


def pieces_of(reply, cuts, style):
    """The reply cut before the atoms whose numbers are in `cuts`, and wherever one thing ends and the next begins."""
    runs = []
    for n, (what, ch) in enumerate(atoms(reply)):
        if n in cuts or not runs or runs[-1][0] != what:
            runs.append([what, ""])
        runs[-1][1] += ch
    opened = set()
    for what, text in runs:
        if what == "text":
            yield {"content": text}
            continue
        i, part = what
        first = i not in opened
        opened.add(i)
        call_id = reply.tool_calls[i].id if first or style == "an id each" else None
        index = {"indexed": i, "indexed from 3": 3 + 2 * i, "all index 0": 0}.get(style)
        yield piece(index, call_id, **{part: text})


TWO = Reply("ok", (ToolCall("a", "ad", '{"x":1}'), ToolCall("b", "ad", "{}")))


@pytest.mark.parametrize("style", ["indexed", "indexed from 3", "an id where a call begins", pytest.param("no index", id="agentao#117")])
def test_every_way_to_cut_a_short_reply(style):
    places = range(1, len(list(atoms(TWO))))
    for n in (0, 1, 2, 3, len(places)):
        for cuts in itertools.combinations(places, n):
            assert assemble(pieces_of(TWO, set(cuts), style)) == TWO, cuts


NAMES = st.text("abz_9", min_size=1, max_size=6)
ARGUMENTS = st.one_of(st.just("{}"), st.just(""), st.text('{}[]":,a1 \\é😀', max_size=20), st.dictionaries(st.text(max_size=4), st.integers(), max_size=3).map(str))
REPLIES = st.builds(lambda text, given: Reply(text or None, tuple(ToolCall(f"id{i}", name, arguments) for i, (name, arguments) in enumerate(given))),
                    st.text(max_size=20), st.lists(st.tuples(NAMES, ARGUMENTS), max_size=4))


@steady
@given(REPLIES, st.sets(st.integers(0, 120)), st.sampled_from(["indexed", "indexed from 3", "no index"]))
def test_any_reply_cut_anywhere(reply, cuts, style):
    assert assemble(pieces_of(reply, cuts, style)) == reply


@steady
@given(REPLIES, st.sets(st.integers(0, 120)), st.sampled_from(["an id each", "all index 0"]))
def test_with_whole_names_an_id_or_a_name_is_enough(reply, cuts, style):
    """Servers that repeat the id, or number every call 0, send the name in one piece."""
    names = {n for n, (what, _) in enumerate(atoms(reply)) if what != "text" and what[1] == "name"}
    assert assemble(pieces_of(reply, cuts - names, style)) == reply


@steady
@given(REPLIES, st.randoms(use_true_random=False), st.booleans())
def test_pieces_of_several_calls_may_take_turns(reply, random, by_id):
    """By index, or by an id with every piece."""
    queues = [[piece(None if by_id else i, c.id if by_id or not n else None, None if n else c.name, text) for n, text in enumerate(["", *cut(c.arguments, 3)])]
              for i, c in enumerate(reply.tool_calls)]
    opening = [q.pop(0) for q in queues] if by_id else []    # without an index, the order of opening says which call is first
    mixed = [{"content": reply.text}, *opening]
    while any(queues):
        mixed.append(random.choice([q for q in queues if q]).pop(0))
    assert assemble(mixed) == reply


@steady
@given(REPLIES, st.integers(1, 5))
def test_a_piece_may_hold_parts_of_several_calls(reply, size):
    parts = [d["tool_calls"][0] for d in deltas(reply, 2) if "tool_calls" in d]
    grouped = [{"tool_calls": parts[i:i + size]} for i in range(0, len(parts), size)]
    assert assemble([{"content": reply.text}, *grouped]) == reply


# ---- how servers index -------------------------------------------------------------------------------------------------------------

INDEXING = {
    "agentao#117": [piece(id="a", name="f", arguments='{"x"'), piece(arguments=": 1}"), piece(id="b", name="g", arguments="{"), piece(arguments="}")],
    "agentao#117 null": [{"tool_calls": [{"index": None, "id": "a", "function": {"name": "f", "arguments": '{"x": 1}'}}]},
                         {"tool_calls": [{"index": None, "id": "b", "function": {"name": "g", "arguments": "{}"}}]}],
    "openai-python#3201": [{"tool_calls": [*piece(0, "a", "f", "")["tool_calls"], *piece(0, None, None, '{"x": 1}')["tool_calls"]]}, piece(1, "b", "g", "{}")],
    "the second call comes first": [piece(1, "b", "g", "{}"), piece(0, "a", "f", '{"x": 1}')],
    "every call is number 0": [piece(0, "a", "f", '{"x": 1}'), piece(0, "b", "g", "{}")],
    "an id with every piece": [piece(0, "a", "f", '{"x"'), piece(0, "a", None, ": 1}"), piece(1, "b", "g", "{"), piece(1, "b", "", "}")],
    "a new id with every piece": [piece(0, "a", "f", '{"x"'), piece(0, "zz", None, ": 1}"), piece(1, "b", "g", "{"), piece(1, "yy", None, "}")],
    "a name with every piece": [piece(0, "a", "f", ""), piece(0, None, "f", '{"x"'), piece(0, None, "f", ": 1}"), piece(1, "b", "g", "{}"), piece(1, None, "g", "")],
    "id and name with every piece": [piece(0, "a", "f", ""), piece(0, "a", "f", '{"x": 1}'), piece(1, "b", "g", ""), piece(1, "b", "g", "{}")],
    "the id comes late": [piece(0, None, "f"), piece(0, "a", None, '{"x": 1}'), piece(None, None, "g"), piece(None, "b", None, "{}")],
    "empty ids and names": [piece(0, "a", "f", ""), piece(0, "", "", '{"x": 1}'), piece(1, "b", "g", ""), piece(1, "", "", "{}")],
    "an object for arguments": [{"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": {"x": 1}}}]}, piece(1, "b", "g", "{}")],
}


@pytest.mark.parametrize("pieces", INDEXING.values(), ids=INDEXING)
def test_two_calls_however_they_are_indexed(pieces):
    assert calls(*pieces) == [("a", "f", '{"x": 1}'), ("b", "g", "{}")]


def test_calls_without_any_id_or_index():
    assert calls(piece(name="f", arguments='{"x": 1}'), piece(name="f", arguments='{"x": 2}'), piece(name="g", arguments="{")) == [
        (None, "f", '{"x": 1}'), (None, "f", '{"x": 2}'), (None, "g", "{")]


@pytest.mark.parametrize("ids", [("a", "a"), (None, None), ("", "")], ids=["smolagents#2683 the same", "missing", "empty"])
def test_whole_calls_are_calls_of_their_own(ids):
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": i, "function": {"name": "f", "arguments": f'{{"x": {n}}}'}} for n, i in enumerate(ids)]}
    assert [c.arguments for c in assemble([{"choices": [{"index": 0, "message": message}]}]).tool_calls] == ['{"x": 0}', '{"x": 1}']


def test_a_chunk_is_as_good_as_the_delta_in_it():
    chunks = [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas(REPLY) if "usage" not in d and "finish_reason" not in d]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}], "usage": None}, {"choices": [], "usage": report_of(USAGE)}]
    assert assemble(chunks) == REPLY


def test_only_the_first_of_several_choices_counts():
    assert assemble([{"choices": [{"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"content": "yes"}}]}]).text == "yes"


# ---- what else a stream says ---------------------------------------------------------------------------------------------------------

def test_an_empty_stream_is_an_empty_reply():
    assert assemble([]) == Reply() == assemble([{"role": "assistant", "content": None}, {"content": ""}, {}])


def test_contents_decide_and_not_labels():
    """mastra#14187"""
    assert assemble([{"content": "hi"}, {"finish_reason": "tool_calls"}]).final_text == "hi"
    assert assemble([piece(0, "a", "f", "{}"), {"finish_reason": "stop"}]).tool_calls


def test_a_refusal_is_kept_and_marked():
    reply = assemble([{"refusal": "I can"}, {"refusal": "not."}, {"finish_reason": "stop"}])
    assert (reply.text, reply.refused) == ("I cannot.", True)


@pytest.mark.parametrize("said", ["length", "max_tokens"])
def test_a_cut_reply_is_marked(said):
    assert assemble([*deltas(Reply("hm", CALLS[:1], stop_reason=said))]).truncated


def test_parts_of_text_are_text():
    assert assemble([{"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]}]).text == "ab"


def test_thoughts_travel_with_the_calls_they_led_to():
    told = [{"reasoning_content": "hm"}, {"reasoning_content": "m"}, piece(0, "a", "f", "{}"), {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "g"}, "extra_content": {"s": 1}}]}]
    assert assemble(told).extra == {"chat": {"reasoning_content": "hmm", "calls": [None, {"s": 1}]}}
    assert assemble([{"reasoning_content": "hm"}, {"content": "x"}]).extra is None


def test_what_is_no_piece_is_refused():
    with pytest.raises(TypeError, match="a piece of a reply is a dict, not 'x'"):
        Assembler().add("x")


NOTHING, FULL = {"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 30}}
USAGES = {
    "hermes-agent#12023": ([NOTHING], None), "swarms#2159": ([{**NOTHING, "total_tokens": 0}] * 3, None), "nothing": ([], None), "null": ([None], None),
    "zeros, then the truth": ([NOTHING, FULL], Usage(70, 7, 30)), "the truth, then zeros": ([FULL, NOTHING], Usage(70, 7, 30)),
    "growing": ([{"prompt_tokens": 100, "completion_tokens": 1}, {"prompt_tokens": 100, "completion_tokens": 7}], Usage(100, 7)),
    "only the prompt": ([{"prompt_tokens": 100, "completion_tokens": 0}], Usage(100, None)), "only the reply": ([{"completion_tokens": 7}], Usage(None, 7)),
    "litellm#9812": ([FULL], Usage(70, 7, 30)), "all of it cached": ([{**FULL, "prompt_tokens_details": {"cached_tokens": 100}}], Usage(0, 7, 100)),
    "more cached than there is": ([{**FULL, "prompt_tokens_details": {"cached_tokens": 400}}], Usage(0, 7, 100)), "DeepSeek's name": ([{"prompt_tokens": 100, "completion_tokens": 7, "prompt_cache_hit_tokens": 30}], Usage(70, 7, 30)),
    "no numbers": ([{"prompt_tokens": "many", "completion_tokens": True}], None), "a cost": ([{**FULL, "cost": 0.5}], Usage(70, 7, 30, 0.5)),
}


@pytest.mark.parametrize("reports, usage", USAGES.values(), ids=USAGES)
def test_a_usage_of_zeros_is_unknown_and_buckets_are_disjoint(reports, usage):
    assert assemble([{"content": "hi"}, *({"usage": r} for r in reports)]).usage == usage


def test_an_empty_reply_may_have_cost_nothing_to_write():
    assert usage_of({"prompt_tokens": 5, "completion_tokens": 0}, wrote=False) == Usage(5, 0)


# ---- the scripted model, streamed ------------------------------------------------------------------------------------------------------

ENTRIES = ["hello", call("add", a=1, b=2), [call("add", a=1, b=2), call("look_up", item="lamp")], ["let me see", call("look_up", item="é😀")],
           Reply("no", stop_reason="refusal"), Reply("x", CALLS, USAGE, "length"), Reply(None, CALLS, extra={"messages": [{"type": "thinking"}]}), Reply()]


@pytest.mark.parametrize("entry", ENTRIES, ids=range(len(ENTRIES)))
def test_a_scripted_model_answers_streamed_too(entry):
    plain, pieces = ScriptedModel([entry])([GO]), ScriptedModel([entry]).stream([GO], [])
    again = assemble(pieces)
    assert again.as_message() == plain.as_message() and (again.usage, again.stop_reason, again.extra) == (plain.usage, plain.stop_reason, plain.extra)


def test_streamed_or_not_it_is_as_strict_and_counts_the_same():
    model = ScriptedModel(["one"])
    with pytest.raises(ValueError, match="must be the user's or a tool's"):
        model.stream([])
    assert model.calls == 0 and assemble(model.stream([GO])).text == "one" and model.calls == 1 and model.sent == [[GO]]
    with pytest.raises(IndexError):
        model.stream([GO])


def test_a_run_over_a_stream_is_the_run():
    script = [["I add.", call("add", a=1, b=2), call("look_up", item="lamp")], "3"]
    streaming = ScriptedModel(script)
    results = [run(model, [add, look_up], "go") for model in (ScriptedModel(script), lambda m, t: assemble(streaming.stream(m, t)))]
    assert results[0].messages == results[1].messages and results[1].status == "done"
    assert_rules(results[1])
