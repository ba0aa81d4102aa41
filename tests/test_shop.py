"""The shop that the notebooks share, the three shapes, the demo and the player."""

import pytest

from agentkit import Limits, Registry, ScriptedModel, call, run
from agentkit.course import demo, player, shapes, shop
from agentkit.course.moves import frame, moves

calculator = Registry([shop.calculator])


@pytest.mark.parametrize("expression, value", [("2500 * 2 * 1.18", "5900.0"), ("-(3 - 5) / 4", "0.5"), ("7", "7")])
def test_the_calculator_calculates(expression, value):
    assert calculator.execute("calculator", {"expression": expression}).text == value


@pytest.mark.parametrize("expression", [
    pytest.param("9**9**9", id="atlas-ui-3#771"), pytest.param("(9**9)**9", id="samples#296"), "9" * 150, "99999999 * 99999999 * 99999999",
    "1 / 0", "__import__('os')", "a + 1", "1 +", "True + 1", "'a' * 9", "(" * 120 + "1" + ")" * 120, "1 if 1 else 2", "1 " + "+ 1 " * 60,
])
def test_the_calculator_refuses_what_is_no_small_sum(expression):
    result = calculator.execute("calculator", {"expression": expression})
    assert result.error and result.text.startswith("ERROR: calculator failed")


def test_the_order_stand_in_recovers():
    result = run(shop.order_model, [shop.get_order, shop.calculator], shop.GST_TASK)
    assert (result.status, result.steps, result.answer) == ("done", 4, "Order A123 costs 5900.0 rupees with 18% GST.")


@pytest.mark.parametrize("model, status, steps", [(shop.stuck_model, "repeated_call", 3), (shop.wandering_model, "step_limit", 10)])
def test_the_lost_stand_ins_are_stopped(model, status, steps):
    result = run(model, [shop.get_order], "Find it.")
    assert (result.status, result.steps) == (status, steps)


def test_a_new_shop_shares_no_refunds():
    (first, refunds), (second, others) = shop.new_shop(), shop.new_shop()
    next(t for t in first if t.name == "refund_order")(order_id="B456")
    assert refunds == ["B456"] and others == []


def test_the_shapes_are_judged_by_what_they_did():
    right = {shape: [shapes.attempt(shape, case)[2] for case in shapes.CASES] for shape in shapes.SHAPES}
    assert right == {"single call": [True, False, False], "workflow": [False, True, False],
                     "workflow with an if": [True, True, False], "agent": [True, True, True]}


def test_the_demo_prints_the_whole_trace(capsys):
    assert demo.main() == 0
    printed = capsys.readouterr().out
    assert "missing required argument 'order_id'" in printed and "5900.0" in printed and "done after 4 steps" in printed


def a_run():
    script = [[call("get_order", order_id="A123"), call("drop_table")], "", "It is on time."]
    return run(ScriptedModel(script), [shop.get_order], "Is A123 late?", system="Be brief.", limits=Limits(max_steps=5))


def test_the_player_shows_every_message_once_and_in_order():
    result = a_run()
    assert [m.message for m in moves(result.journal) if m.message] == result.messages


def test_the_player_says_who_acts():
    actors = [m.actor for m in moves(a_run().journal)]
    assert actors == ["harness", "you", "model", "harness", "tool", "harness", "model", "harness", "model", "harness"]


def test_a_frame_shows_the_list_so_far_and_escapes_what_tools_say():
    result = run(ScriptedModel([call("get_order", order_id="<b>x</b>"), "Done <i>."]), [shop.get_order], "Go & see.")
    steps = moves(result.journal)
    first, last = frame(steps, 1), frame(steps, len(steps))
    assert "1 message)" in first and "Go &amp; see." in first and "Tokens of each model call" not in first
    assert f"{len(result.messages)} messages)" in last and "<b>x</b>" not in last and "&lt;b&gt;x" in last
    assert last.count("step ") >= result.steps


def test_the_player_starts_at_the_first_move_and_rests_at_the_last():
    lab = player(a_run(), "A run")
    assert lab.settings() == {"move": 1} and lab.still_at == {"move": 10}
