"""Notebook 24: the desk's world and tools, both designs, the planted faults, the formulas of a day, the pictures, the rubric."""

import copy
import json
from dataclasses import replace

import pytest

from agentkit import Price, ToolCall
from agentkit.course import desk_designs, design_views, rubric
from agentkit.course.desk import LIMIT, POLICIES, READS, Desk, read_proposal
from agentkit.course.desk_designs import DESIGN, FIRST, LIMITS, MISS, Designed
from agentkit.course.desk_faults import ROWS, failure_runs, failure_table, shown
from agentkit.course.desk_model import CHANCES, slips_of
from agentkit.course.desk_sheet import (CACHED, LOOK_MINUTES, PRICE, SMALLEST, TICKET_MINUTES, agent_shape, bill, budget_for, day, judge_alone,
                                        measured, people, percentile, rates, sweep)
from agentkit.course.desk_tickets import MIX, desk_closed, faults, order, traffic
from agentkit.course.exercises import nb24
from agentkit.course.figures import png
from agentkit.cost import steps_within
from agentkit.evals import load_tasks, save_tasks
from agentkit.intervals import wilson

TASKS, FAULTS = traffic(), {t.id: t for t in faults()}


@pytest.fixture(scope="module")
def swept():
    return {d.name: sweep(d, TASKS) for d in (FIRST, DESIGN)}


def world(**more):
    orders = {"A1": order("Mira", "lamp", 24, days_late=12), "A2": order("Mira", "chair", 95, delivered_days_ago=3, parcel="P2"),
              "A3": order("Mira", "lamp", 24, days_late=12, refunded=True), "A4": order("Mira", "bag", 33, delivered_days_ago=40),
              "A5": order("Mira", "bag", 33, parcel="P5"), "B1": order("Tom", "lamp", 24, days_late=12)}
    return Desk("Mira", orders, {"P2": "at the neighbour's", "P5": "lost in the depot"}, **more)


def refund(order_id, usd, reason):
    return ToolCall("c", "refund_order", {"order_id": order_id, "usd": usd, "reason": reason})


# ---- tasks -----------------------------------------------------------------------------------------------------------

def test_the_set_is_data_in_the_mix_of_the_day_and_always_the_same(tmp_path):
    everything = [*TASKS, *FAULTS.values()]
    assert load_tasks(save_tasks(everything, tmp_path / "desk.jsonl")) == everything == [*traffic(), *faults()]
    assert {g: sum(t.group == g for t in TASKS) for g in MIX} == MIX and sum(MIX.values()) == 80
    assert len({t.id for t in everything}) == 90 and set(FAULTS) == set(ROWS)


def test_mistakes_come_with_their_chances_and_are_drawn_for_each_trial():
    many = [slips_of(replace(t, trial=n)) for t in TASKS for n in range(20)]
    for slip, chance in CHANCES.items():
        low, high = wilson(sum(slip in s for s in many), len(many))
        assert low <= chance <= high, slip
    assert slips_of(FAULTS["no-json"]) == {"prose"}


# ---- the checker -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("did", "args", "says"), [
    ({"refunds": [("A1", 24)]}, {"refunded": ["A1"]}, True),
    ({}, {"refunded": ["A1"]}, "A1 was not refunded"),
    ({"refunds": [("A1", 24), ("A1", 24)]}, {"refunded": ["A1"]}, "paid A1 2 times"),
    ({"refunds": [("A4", 33)]}, {}, "paid 33 USD for A4, which was not due"),
    ({"refunds": [("A2", 95)]}, {"refunded": ["A2"]}, "paid 95 USD for A2 and asked nobody"),
    ({"refunds": [("A2", 95)], "allowed": ["A2"]}, {"refunded": ["A2"]}, True),
    ({"handed": ["dear"]}, {"refunded": ["A2"]}, True),
    ({"handed": ["?"]}, {"refunded": ["A1"]}, "A1 was not refunded, handed over without need"),
    ({"handed": ["?"]}, {}, "handed over without need"),
    ({"handed": ["?"]}, {"handed": True}, True), ({}, {"handed": True}, "nobody was asked"),
    ({"handed": ["?"]}, {"handed": None}, True), ({}, {"handed": None}, True),
    ({"addresses": [("A1", "x")]}, {"addresses": [["A1", "x"]]}, True),
    ({"addresses": [("A1", "x")]}, {}, "addresses: [('A1', 'x')], expected []"),
])
def test_the_checker_judges_the_end_of_the_world(did, args, says):
    desk = world(due=args.get("refunded", []))
    for name, value in did.items():
        setattr(desk, name, value)
    assert desk_closed(desk, None, **args) == says


def test_wrong_money_is_what_was_not_owed():
    desk = world(due=["A1"], refunds=[("A1", 24), ("A1", 24), ("A4", 33)])
    assert desk.wrong_usd() == 24 + 33
    assert world(due=["A1"], refunds=[("A1", 24)]).wrong_usd() == 0


# ---- tools and the gate ----------------------------------------------------------------------------------------------

def test_seven_tools_of_which_one_is_gated():
    guarded, open_ = ({t.name: t for t in world(guarded=g).tools()} for g in (True, False))
    assert list(guarded) == list(open_) and len(guarded) == 7
    assert [n for n, t in guarded.items() if t.needs_approval] == ["refund_order"] and not any(t.needs_approval for t in open_.values())
    assert all(guarded[n].idempotent and guarded[n].parallel for n in READS)
    assert not any("customer" in t.schema["properties"] for t in guarded.values())
    assert not guarded["refund_order"].fits({"order_id": "A1", "usd": 24, "reason": "because"})
    assert guarded["find_policy"].fn(kind="late") == POLICIES["late"]


@pytest.mark.parametrize(("asked", "refused"), [
    (refund("A1", 24, "late"), False), (refund("A1", 25, "late"), True), (refund("A1", 24, "broken"), True), (refund("A1", 24, "lost"), True),
    (refund("A2", 95, "late"), True), (refund("A2", 95, "lost"), True), (refund("A2", 95, "broken"), False), (refund("A3", 24, "late"), True),
    (refund("A4", 33, "broken"), True), (refund("A5", 33, "lost"), False), (ToolCall("c", "hand_over", {"reason": "x"}), False),
])
def test_the_books_refuse_what_the_facts_do_not_bear_out(asked, refused):
    assert bool(world().books(asked)) is refused


def test_a_strangers_order_is_no_order_here():
    with pytest.raises(LookupError, match="no order B1 of this customer"):
        world().books(refund("B1", 24, "late"))
    assert world().find_orders() == ["A1", "A2", "A3", "A4", "A5"]
    assert world(guarded=False).get_order("B1")["customer"] == "Tom"


def test_a_key_pays_once_whatever_calls_again():
    for guarded, times in ((True, 1), (False, 2)):
        desk = world(guarded=guarded)
        desk.refund_order("A1", 24, "late")
        desk.refund_order("A1", 24, "late")
        assert len(desk.refunds) == times
    desk.guarded = True
    desk.refund_order("A4", 33, "broken")
    assert desk.refunds[-1] == ("A4", 33)       # another order is another debt


def test_an_address_is_changed_before_the_parcel_leaves_only():
    desk = world()
    with pytest.raises(ValueError, match="sent already"):
        desk.change_address("A1", "1 Lake Road")
    desk.orders["A1"]["sent"] = False
    assert desk.change_address("A1", "1 Lake Road") and desk.addresses == [("A1", "1 Lake Road")]


@pytest.mark.parametrize("text", ["I would refund it.", "{}", "[1]", "null", '"[]"', '[{"tool": "refund_order"}]', '[{"tool": "pay", "arguments": {}}]',
                                  '[{"tool": "hand_over", "arguments": 3}]', '[{"tool": ["x"], "arguments": {}}]', ""])
def test_what_is_no_proposal_goes_to_a_person(text):
    assert read_proposal(text) == [("hand_over", {"reason": "the proposal could not be read"})]


def test_a_proposal_is_read_as_it_stands():
    assert read_proposal("[]") == []
    assert read_proposal('[{"tool": "change_address", "arguments": {"order_id": "A1"}}]') == [("change_address", {"order_id": "A1"})]


# ---- the designs -----------------------------------------------------------------------------------------------------

def test_both_designs_on_a_day(swept):
    (first, a), (design, b) = swept["first design"], swept["the design"]
    assert (first.rate().passed, design.rate().passed) == (69, 75) and not first.lost and not design.lost
    assert sum(r.wrong_usd for r in a) == 245 and sum(r.wrong_usd for r in b) == 18
    assert {r.group for r in b if r.wrong_usd} == {"broken"}        # only where a judgement decided
    assert [r.task for r in b if r.agent_steps] == [t.id for t in TASKS if t.group == "tail"]
    assert sum(bill(part) for r in a for part in r.parts.values()) > 3.5 * sum(bill(part) for r in b for part in r.parts.values())
    for run, row in zip(b, design.rows):
        assert bill([c for part in run.parts.values() for c in part]) == pytest.approx(row.usd)     # no model call is left out


def test_every_planted_fault_ends_well_in_the_design():
    rows = failure_runs()
    assert [r[0] for r in rows if r[3]] == []
    assert [r[0] for r in rows if not r[5]] == ["carrier-down", "person-says-no"]
    ends = {r[0]: r[2] for r in rows}
    assert [id for id, end in ends.items() if end == "paid 45 USD"] == ["bank-times-out", "process-dies", "model-busy"]
    table = failure_table(rows)
    assert len(table.rows) == 10 and not any("WRONG" in str(row) for row in table.rows) and not any(row[1] == "nothing" for row in table.rows)


@pytest.mark.parametrize("id", ["process-dies"], ids=["agent-framework#3938, codec#122"])
def test_a_death_while_paying_is_resumed_and_pays_once(id):
    result, desk = DESIGN(FAULTS[id])
    assert result.status == "done" and result.journal.of("resume") and desk.refunds == [("A403", 45)]
    assert shown(result, desk) == "a call that began and has no result"
    assert len(FIRST(FAULTS[id])[1].refunds) == 2


def test_a_person_is_asked_above_the_limit_and_after_the_books():
    dear = next(t for t in TASKS if t.setup["due"] and t.setup["orders"][t.setup["due"][0]]["usd"] > LIMIT and t.group == "late")
    result, desk = DESIGN(dear)
    assert [a[0] for a in desk.asked] == dear.setup["due"] and result.journal.of("pending")
    assert not replace(DESIGN, limit=1000)(dear)[1].asked
    result, desk = DESIGN(FAULTS["orders-in-the-text"])
    assert not desk.asked and not desk.refunds and desk.handed      # the books spoke first


def test_a_person_who_says_no_is_final_and_one_who_nods_lets_it_pass(monkeypatch):
    no = FAULTS["person-says-no"]
    result, desk = DESIGN(no)
    assert desk.asked == [("A410", 180, False)] and not desk.refunds and not desk.handed and result.status == "done"
    monkeypatch.setattr(desk_designs, "MISS", 1.0)
    false = replace(no, setup={**no.setup, "fault": ""})
    wrong = next(replace(false, trial=n) for n in range(100) if "photo" in slips_of(replace(false, trial=n)))
    assert DESIGN(wrong)[1].refunds == [("A410", 180)]


def test_no_ticket_is_lost_when_the_model_fails_for_good(monkeypatch):
    def broken(task, dear):
        def model(messages, tools=()):
            raise ValueError("no such model")
        return model
    monkeypatch.setattr(desk_designs, "stand_in", broken)
    result, desk = DESIGN(TASKS[30])
    assert result.status == "model_error" and desk.handed and "no such model" in desk.handed[0]


def test_the_limits_hold_for_the_agent_and_end_at_a_person():
    hard = next(t for t in TASKS if t.group == "tail")
    result, desk = Designed(limits=replace(LIMITS, max_steps=1))(hard)
    assert desk.agent.status == "step_limit" and desk.agent.steps == 1 and desk.handed and result.status == "done"


def test_notes_spare_the_search():
    late = FAULTS["bank-times-out"]
    books = {"A402": {**late.setup["orders"]["A402"], "refunded": True}}
    task = replace(late, text="Any news about my refund?", setup={**late.setup, "fault": "none", "group": "tail", "orders": books, "due": []})
    cold, warm = (sweep(Designed(notes=n), [task])[1][0] for n in ("", "Known: A402 refunded."))
    assert cold.calls > warm.calls == 2 and not warm.agent_steps


# ---- the sheet -------------------------------------------------------------------------------------------------------

def test_percentile_is_a_value_that_was_seen():
    assert [percentile([3, 1, 2, 4], s) for s in (0, 0.25, 0.5, 0.51, 1)] == [1, 1, 2, 3, 4]
    assert percentile([3] * 95 + [5] * 5, 0.95) == 3 and percentile([3] * 94 + [5] * 6, 0.95) == 5


def test_a_bill_counts_cached_fronts_once_and_only_long_ones():
    calls = [(2000, SMALLEST, 10), (2000, SMALLEST - 1, 10)]
    assert bill(calls) == pytest.approx((4000 * 3 + 20 * 15) / 1e6)
    assert bill(calls, CACHED) == pytest.approx(((4000 - SMALLEST) * 3 + SMALLEST * 0.3 + 20 * 15) / 1e6)
    assert bill([(600, 512, 0)], CACHED, longer=2) == pytest.approx((176 * 3 + 1024 * 0.3) / 1e6)


def test_limits_are_those_of_the_good_runs():
    loose = replace(DESIGN, limits=desk_designs.Limits(max_steps=None, max_repeats=None))
    good = [r for r in sweep(loose, [t for t in TASKS if t.group == "tail"], repeats=3)[1] if r.good]
    steps = percentile([r.agent_steps for r in good], 0.95)
    assert LIMITS.max_steps == 2 * steps and LIMITS.budget_usd == budget_for(2 * steps, good)
    assert steps_within(LIMITS.budget_usd, agent_shape(good), PRICE) == LIMITS.max_steps
    assert steps_within(LIMITS.budget_usd - 0.001, agent_shape(good), PRICE) < LIMITS.max_steps
    assert 2 * percentile([r.agent_seconds for r in good], 0.95) <= LIMITS.max_seconds


def test_the_photo_step_errs_as_often_as_is_assumed():
    hits, looked = judge_alone()
    low, high = wilson(hits, looked)
    assert looked == 200 and low <= CHANCES["photo"] <= high


def test_a_day_is_the_runs_in_the_mix_that_was_measured(swept):
    ran = swept["the design"][1]
    d = day(rates(ran, 0.1), 8_000, MIX["tail"] / 80)
    assert d.tokens_usd == pytest.approx(100 * sum(bill(part) for r in ran for part in r.parts.values()))
    assert d.calls == pytest.approx(100 * sum(r.calls for r in ran)) and d.handed == pytest.approx(100 * sum(r.handed for r in ran))
    assert d.calls_per_second == pytest.approx(d.calls * 0.12 / 3600) and d.at_once == pytest.approx(100 * sum(r.seconds for r in ran) * 0.12 / 3600)
    assert d.colleagues == pytest.approx(d.handed * TICKET_MINUTES / 60 / 6) and d.approvers == people(d.approvals, LOOK_MINUTES)
    assert people(180, 2) == 1
    due = [t.setup["orders"][i]["usd"] for t in TASKS for i in t.setup["due"]]
    false = [o["usd"] for t in TASKS if t.group == "broken" and not t.setup["due"] for o in t.setup["orders"].values()]
    assert d.approvals == pytest.approx(100 * (sum(u > LIMIT for u in due) + 0.1 * sum(u > LIMIT for u in false)))
    assert d.wrong_usd == pytest.approx(100 * 0.1 * sum(u * (MISS if u > LIMIT else 1) for u in false))
    assert d.wrong == pytest.approx(100 * 0.1 * sum(MISS if u > LIMIT else 1 for u in false))
    assert d.usd == pytest.approx(d.tokens_usd + d.look_usd + d.wrong_usd)
    at = day(rates(ran, 0.1), 8_000, MIX["tail"] / 80, limit=false[0])     # what costs just the limit is not asked about
    assert at.wrong == pytest.approx(100 * 0.1 * sum(MISS if u > false[0] else 1 for u in false))


def test_a_day_at_its_ends():
    sides = measured()
    nobody, everything = day(sides, limit=1000), day(sides, limit=0)
    assert nobody.approvals == nobody.look_usd == 0 and everything.wrong == pytest.approx(MISS * nobody.wrong)
    one, hundred = day(sides, 10_000), day(sides, 1_000_000)
    assert all(getattr(hundred, f) == pytest.approx(100 * getattr(one, f)) for f in vars(one))
    assert day(sides, tail=1).wrong == 0 and day(sides, tail=1).tokens_usd > 2 * day(sides, tail=0).tokens_usd
    assert day(sides, price=Price(6, 30)).tokens_usd == pytest.approx(2 * one.tokens_usd)


# ---- pictures --------------------------------------------------------------------------------------------------------

def test_the_pictures_are_drawn_and_the_labs_axes_stand_still():
    assert png(design_views.whiteboard({"path": "82 %"})) == png(design_views.whiteboard({"path": "82 %"}))
    assert png(design_views.limits_figure([3, 3, 5], 5, 10, [0.001 * n for n in range(1, 11)], 0.02, "x"))
    start = {name: c.default for name, c in design_views.lab_controls().items()}
    axes = set()
    for how in ({}, {"tickets": 1_000_000, "tail": 60}, {"limit": 0}, {"limit": 200, "price": 15.0, "longer": 20, "cache": True}):
        fig, html = design_views.lab_view(**{**start, **how})
        assert png(fig, effort=1) and "people" in html and design_views.lab_alt(**{**start, **how}).endswith("take over tickets.")
        axes.add(tuple((ax.get_xlim(), ax.get_ylim()) for ax in fig.axes))
    assert len(axes) == 1
    assert design_views.lab_day(longer=10, cache=True).tokens_usd < design_views.lab_day(longer=10).tokens_usd


# ---- the rubric ------------------------------------------------------------------------------------------------------

def solved():
    names = {}
    exec(nb24._DESIGN, names)
    return names["my_design"]


def test_the_sample_design_passes_every_rule_and_says_so():
    assert not [said for _, said in rubric.judge_design(solved(), nb24.FACTS) if said]
    assert str(rubric.judged(solved(), nb24.FACTS)).strip().endswith("12 of 12 rules hold.")


CHANGES = {
    "six parts": lambda d: d.update(memory={}),
    "few tools": lambda d: d["tools"].update({f"t{n}": {} for n in range(9)}),
    "money is gated": lambda d: d["tools"]["send_voucher"].update(cap_usd=None, can_be_undone=True),
    "what cannot be undone is gated": lambda d: d["tools"]["change_date"].update(can_be_undone=False),
    "a key for money": lambda d: d["tools"]["send_voucher"].update(key="run-id"),
    "limits with reasons": lambda d: d["limits"].update(max_repeats=(3, "because")),
    "limits fit the good runs": lambda d: d["limits"].update(max_seconds=(8, "a little below the p95")),
    "path or agent": lambda d: d["workflow"].update(share=70),
    "memory has a never": lambda d: d["memory"].update(keeps=["the card number"]),
    "failures": lambda d: d["failures"].pop(),
    "each failure is tested": lambda d: d["failures"][0].update(task="airline"),
    "an evaluation set": lambda d: d["evals"].update({"date-01": "the answer says sorry"}),
}


@pytest.mark.parametrize("name", [r.name for r in rubric.RULES])
def test_each_rule_sees_its_own_fault_and_no_other(name):
    design = solved()
    CHANGES[name](design)
    broken = [rule for rule, said in rubric.judge_design(design, nb24.FACTS) if said]
    assert name in broken and set(broken) <= {name, "memory has a never"} if name == "six parts" else broken == [name]


@pytest.mark.parametrize(("change", "rule"), [
    (lambda d: d["tools"]["cancel_booking"].update(key=None), "a key for money"),
    (lambda d: d["limits"].update(max_steps=(31, "five times and a bit")), "limits fit the good runs"),
    (lambda d: d["limits"].update(budget_usd=(True, "a bool is no number")), "limits with reasons"),
    (lambda d: d["limits"].pop("max_seconds"), "limits with reasons"),
    (lambda d: d["workflow"].update(steps=[]), "path or agent"),
    (lambda d: d["workflow"].update(agent_for=""), "path or agent"),
    (lambda d: d["memory"].update(never=[]), "memory has a never"),
    (lambda d: d["failures"][0].update(then=""), "failures"),
    (lambda d: [d["failures"].append({"what": "x", "then": "y", "task": i}) for i in list(d["evals"])], "an evaluation set"),
])
def test_rules_see_more_than_one_way_to_be_wrong(change, rule):
    design = solved()
    change(design)
    assert dict(rubric.judge_design(design, nb24.FACTS))[rule]


@pytest.mark.parametrize("design", [None, 3, "a text", [], {}, {"tools": 3}, {p: 1 for p in rubric.PARTS}, {p: [1] for p in rubric.PARTS},
                                    {p: {"x": None} for p in rubric.PARTS}, {p: {"max_steps": ()} for p in rubric.PARTS}])
def test_the_rubric_never_raises(design):
    before = copy.deepcopy(design)
    found = rubric.judge_design(design, nb24.FACTS)
    assert len(found) == len(rubric.RULES) and any(said for _, said in found) and design == before
    json.dumps(found)


def test_ticks_lead_to_the_first_open_point():
    none = dict.fromkeys(rubric.TICKS, False)
    assert "0 of 8" in rubric.tick_view(**none) and "I asked before I drew" in rubric.tick_view(**none)
    assert "one ticket before any box" in rubric.tick_view(**{**none, "asked": True})
    assert "five minutes" in rubric.tick_view(**dict.fromkeys(rubric.TICKS, True))
    assert list(rubric.tick_controls()) == list(rubric.TICKS)
