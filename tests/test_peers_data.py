"""What benchmarks/peers/behave.py has stored: whole, dated and small; and agentkit's own row is what agentkit does today."""

import json
import sys
from datetime import date

import pytest
from places import CHECKOUT

sys.path.insert(0, str(CHECKOUT / "benchmarks" / "peers"))

import adapters
import behave

DATA = json.loads(behave.DATA.read_text("utf-8"))
SYSTEMS = DATA["systems"]


def test_the_file_is_small_and_says_how_it_was_made():
    assert behave.DATA.stat().st_size <= 150 * 1024
    assert all(DATA[said] for said in ("what", "python", "how", "api", "telemetry_off", "trimmed", "tokens", "task", "system", "answer"))
    assert DATA["cases"].keys() == behave.CASES.keys()


@pytest.mark.parametrize("name", ["agentkit", *behave.DISTRIBUTIONS])
def test_every_system_has_every_case_or_a_reason(name):
    row = SYSTEMS[name]
    assert date.fromisoformat(row["recorded"]) <= date.today() and row["made_with"]
    if "missing" in row:
        assert row["missing"].strip()
        return
    assert row["version"][0].isdigit() and (name == "agentkit" or row["openai"][0].isdigit())
    assert row["cases"].keys() == behave.CASES.keys()
    for case, kept in row["cases"].items():
        assert kept["observed"] == behave.sentence(kept), case
        assert kept["model_calls"] >= 1 and 0 < kept["tokens"]["first"] <= kept["tokens"]["all"], case
        assert kept["ended"] in ("returned", "raised", "stopped from outside", "died") and ("answer" in kept) == (kept["ended"] == "returned"), case
        assert len(kept["executed"]) == min(kept["ran"], 6), case
        assert "reached" not in kept, f"{case}: it tried to reach {kept['reached']}; switch that off in environments.py"
    sent = row["cases"]["task"]["sent"]
    assert len(sent) == row["cases"]["task"]["model_calls"] and sent[0]["list"] and sent[0]["tools"]
    assert sum(request["tokens"]["messages"] + request["tokens"]["tools"] for request in sent) == row["cases"]["task"]["tokens"]["all"]


@pytest.mark.parametrize("name", [name for name, row in SYSTEMS.items() if "cases" in row])
def test_the_plain_task_is_done_by_all(name):
    kept = SYSTEMS[name]["cases"]["task"]
    assert (kept["answer"], kept["ran"], kept["model_calls"]) == (DATA["answer"], 2, 3), kept["observed"]


@pytest.mark.parametrize("case", behave.CASES)
def test_agentkits_row_is_true_today(case):
    today = json.loads(json.dumps(behave.observe(case, lambda url: adapters.ask("agentkit", url))))
    assert today == SYSTEMS["agentkit"]["cases"][case], "run `python benchmarks/peers/behave.py agentkit` and look at what has changed"
