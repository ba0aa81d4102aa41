"""Compaction: what a model is sent when the list no longer fits. The run's own list stays whole; only what is sent gets shorter."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from ..gates import View
from ..tokens import Meter
from ..tools import describe, running
from .notes import as_step, blocks, head_line, note_body, stays

MIN_RESULT = 200        # characters of a result that are always sent
_SLACK = 200            # a result is not cut where the sentence about the cut would be as long as what is saved


@dataclass(frozen=True)
class Plan:
    """Where the lists of a run are cut: the blocks before `cut` are dropped (but for what always stays); `cuts` are all cuts so far."""

    head: list[dict]
    blocks: list[list[dict]]
    cuts: tuple[int, ...]

    @property
    def cut(self) -> int:
        return self.cuts[-1] if self.cuts else 0

    def dropped(self, cut: int | None = None, start: int = 0) -> list[list[dict]]:
        return [b for b in self.blocks[start:self.cut if cut is None else cut] if not stays(b)]


class Compaction:
    """A before_model hook that keeps what is sent under `max_tokens` (messages and tool definitions) where that is possible.

    Word for word, always: the system text, the task, every later message of the user. Whole or not at all: each step, an
    assistant message with all its results. Above the mark the oldest steps go, down to `target` (0.6 of the mark), and
    one note says what they did; then nothing moves until the mark is met again, so that a provider's cache fits in between.
    The last `keep_steps` stay while they fit. A result of more than `max_result` characters is cut in what is sent.

    Where to cut depends on the list alone: no state, so a resumed or replayed run is cut in the same places.
    `summarise` is a Summaries(model), which writes the note in the place of the rules. Tokens are counted as the run counts.
    """

    name = "compaction"

    def __init__(self, max_tokens: int, *, target: int | None = None, keep_steps: int = 3, max_result: int | None = None, summarise=None,
                 count_tokens: Callable[[str], int] | None = None):
        for what, value, least in (("max_tokens", max_tokens, 1), ("target", target, 0), ("keep_steps", keep_steps, 1),
                                   ("max_result", max_result, MIN_RESULT)):
            optional = value is None and what in ("target", "max_result")
            if not optional and (isinstance(value, bool) or not isinstance(value, int) or value < least):
                raise ValueError(f"Compaction: {what} must be a whole number of at least {least}, not {value!r:.80}")
        if target is not None and target > max_tokens:
            raise ValueError(f"Compaction: target ({target}) is the lower mark and max_tokens ({max_tokens}) the upper one")
        self.max_tokens, self.keep_steps, self.summarise, self.count = max_tokens, keep_steps, summarise, count_tokens
        self.target = max_tokens * 6 // 10 if target is None else target
        self.max_result = max(MIN_RESULT, max_tokens) if max_result is None else max_result      # about a quarter of the mark
        self._scale: Scale | None = None                        # of the last list: it only saves time
        self._written: dict[tuple, str] = {}                    # notes of a model, by run and by what they cover
        self._notes: tuple = ()                                 # the last notes, each with what it was made of

    # ---- the hook ----------------------------------------------------------------------------------------------------

    def before_model(self, messages: list[dict], tools: list[dict] = ()) -> View | None:
        """What is sent in the place of the list; None where the list fits as it is."""
        run = running()
        scale = self._scale = Scale(messages, tools, self.count or (run.options["count_tokens"] if run else None), self.max_result, self._scale)
        view = self.build(self.plan(messages, scale), scale)
        same = len(view.messages) == len(messages) and all(a is b for a, b in zip(view.messages, messages))
        return None if same else view

    def plan(self, messages: list[dict], scale: Scale) -> Plan:
        """Walk along the list as the run did and cut where the mark was passed. What a cut was made for stays cut."""
        head, rest = blocks(messages)
        size, fixed = [scale.sum(b) for b in rest], [stays(b) for b in rest]
        base, room = scale.definitions + scale.sum(head), self._note_room(scale)
        cuts, cut, tail = [], 0, 0      # tail: tokens of the blocks that were not dropped
        for end in range(1, len(rest) + 1):
            tail += size[end - 1]
            if base + (room if cuts else 0) + tail <= self.max_tokens:
                continue
            starts = [i for i in range(cut, end) if not fixed[i]]
            if len(starts) < 2:         # the last step is never dropped
                continue
            total, far, left = {}, starts[-self.keep_steps:][0], base + room + tail
            for start in starts:        # what is sent when this step is the first that stays
                total[start] = left
                left -= size[start]
            cut = next((s for s in starts[1:] if s <= far and total[s] <= self.target), None) \
                or next((s for s in starts if s >= far and total[s] <= self.max_tokens), starts[-1])
            tail = total[cut] - base - room
            cuts.append(cut)
        return Plan(head, rest, tuple(cuts))

    def build(self, plan: Plan, scale: Scale) -> View:
        """The head, what the user wrote since, the note on what was dropped, and the last steps; with a word on what is missing."""
        before = [*plan.head, *(m for b in plan.blocks[:plan.cut] if stays(b) for m in b)]
        kept = [m for b in plan.blocks[plan.cut:] for m in b]
        gone, after, limit = plan.dropped(), [scale.sent(m) for m in kept], self.max_result
        taken = {c["id"] for m in (*before, *after) for c in m.get("tool_calls", ())} if gone else set()
        note = as_step(head_line(gone), sum(map(len, gone)), taken) if gone else []
        while scale.of([*before, *note, *after]) > self.max_tokens and limit > MIN_RESULT:
            limit = max(MIN_RESULT, limit // 2)     # one step alone is larger than the mark: its results are cut further
            after = [cut_result(m, limit) for m in kept]
        spent, why = None, ""
        if gone:
            needs = scale.of([*before, *after])
            room = min(self._note_room(scale), self.max_tokens - needs)
            text, spent, why = self.note(plan, room, scale.meter, needs + room)
            note = as_step(text, sum(map(len, gone)), taken)
        sent = [*before, *note, *after]
        size, shorter = scale.of(sent), sum(a is not m for a, m in zip(after, kept))
        said = [f"{len(gone)} of {sum(not stays(b) for b in plan.blocks)} steps dropped" if gone else "",
                f"{shorter} results cut" if shorter else "", f"{scale.whole:,} tokens became {size:,}",
                f"still {size - self.max_tokens:,} above the mark: nothing more can go" if size > self.max_tokens else "", why]
        return View(sent, "; ".join(filter(None, said)), spent)

    # ---- the note ----------------------------------------------------------------------------------------------------

    def note(self, plan: Plan, room: int, meter: Meter, needs: int = 0) -> tuple[str, object, str]:
        """(the note on what was dropped, what writing it has used, why no model wrote it). The same cut has the same note."""
        gone = plan.dropped()
        first = head_line(gone)

        def fits(body: str) -> bool:
            return meter.measure(as_step(f"{first}\n{body}", 0, set()), []) <= room

        spent, why = None, ""
        known = next((n for n in self._notes if n[0] is gone[-1][-1] and n[1:3] == (plan.cut, room)), None)
        if known:
            body = known[3]
        elif self.summarise is None:
            body = note_body(gone, fits)
        else:
            body, spent, why = self.summed_up(plan, gone, fits, meter, room, needs)
        self._notes = known and self._notes or ((gone[-1][-1], plan.cut, room, body), *self._notes[:3])
        return f"{first}\n{body}" if body else first, spent, why

    def summed_up(self, plan: Plan, gone: list, fits: Callable, meter: Meter, room: int, needs: int) -> tuple[str, object, str]:
        """(a model's summary or, where it fails, the note by rule; what it has used; why it failed). Made once for each cut."""
        key = _key(gone)
        if key in self._written:
            return self._written[key], None, ""
        start = plan.cuts[-2] if len(plan.cuts) > 1 else 0      # what has been summed up before is not read again
        earlier, fresh = plan.dropped(start), plan.dropped(start=start)
        previous = self._written.get(_key(earlier)) or (note_body(earlier, fits) if earlier else "")
        try:
            body, spent, why = self.summarise(previous, fresh, meter=meter, room=room, needs=needs)
        except Exception as error:
            body, spent, why = None, None, describe(error)
        if body and not fits(body):
            body, why = None, f"the summary does not fit into {room:,} tokens"
        if not body:        # by rule, then; an earlier summary stays in it
            body = note_body(fresh, fits, previous) if previous and fits(previous) else note_body(gone, fits)
        self._written = {**dict(list(self._written.items())[-63:]), key: body}
        return body, spent, why and f"the note was made by rule: {why}"

    def _note_room(self, scale: Scale) -> int:
        """Tokens that are kept free for the note: its first line, and a fifth of the mark for what it says."""
        return scale.first_line + self.max_tokens // 5


class Scale:
    """Tokens of a run's messages, and of what is sent in their place. What the last list's scale knows is not counted again."""

    def __init__(self, messages: list[dict], tools: list[dict], count, max_result: int, last: Scale | None = None):
        self.meter, self.count = Meter(count, tools), count
        self.definitions = self.meter.prompt
        known, self._known = last._known if last and last.count is count else {}, {}
        for m in messages:
            old = known.get(id(m))      # it keeps its message alive, so no other can have got its id
            if old is None:
                short, whole = cut_result(m, max_result), self.meter.measure([m], [])
                old = m, short, whole if short is m else self.meter.measure([short], []), whole
            self._known[id(m)] = old
        self.whole = self.definitions + sum(known[3] for known in self._known.values())
        self._tokens = {id(short): tokens for _, short, tokens, _ in self._known.values()}
        self.first_line = self.meter.measure(as_step(head_line([[{}] * 1000] * 1000), 0, set()), [])

    def sent(self, message: dict) -> dict:
        """A message of the list as it is sent: itself, or a copy with its result cut."""
        return self._known[id(message)][1]

    def sum(self, block: list[dict]) -> int:
        """Tokens of messages of the list, as they are sent."""
        return sum(self._known[id(m)][2] for m in block)

    def of(self, messages: list[dict]) -> int:
        """Tokens of any list, the tools' definitions included."""
        return self.definitions + sum(self._tokens[id(m)] if id(m) in self._tokens else self.meter.measure([m], []) for m in messages)


def _key(steps: list[list[dict]]) -> tuple:
    """What a summary is known by: the run, and all that it covers."""
    run = running()
    return run and run.key.rpartition(":")[0], len(steps), hashlib.sha256(json.dumps(steps).encode()).hexdigest()


def cut_result(message: dict, limit: int) -> dict:
    """The message; a tool's result of more than `limit` characters as a copy that is cut, with a sentence that says so."""
    text = message.get("content")
    if message["role"] != "tool" or len(text) <= limit + _SLACK:
        return message
    cut = f"[cut to fit: {len(text):,} characters in all, the first {limit:,} are shown; ask for less at a time]"
    return {**message, "content": f"{text[:limit]}\n{cut}"}
