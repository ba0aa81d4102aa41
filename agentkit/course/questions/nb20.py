"""The questions of notebook 20, the compound error."""

from .question import Question

QUESTIONS = (
    Question(
        "20-r1", "20", "How reliable must a step be, for 95 % of the tasks of 20 steps to arrive?", kind="recall",
        points=("the 20th root of 0.95", "99.74 %, one mistake in about 390"),
        answer="0.95 to the power of 1/20: 99.74 %, one wrong step in 390."),
    Question(
        "20-r2", "20", "A step is right with p, a check sees a share c of the bad ones, a repair works with r. How often does it end right?",
        kind="recall",
        points=("p + (1 - p) c r", "what the check does not see is not mended by any number of repairs"),
        answer="p + (1 - p) c r. What the check does not see stays bad, however often a repair is tried."),
    Question(
        "20-r3", "20", "An approval of the last step raises success from 36 % to 37 %. Why have it?", kind="recall",
        points=("it prevents harm, not failure", "wrong actions fall from 64 to 6 tasks of 100"),
        answer="It buys harm that does not happen: 6 of 100 tasks are carried out wrongly in place of 64."),
    Question(
        "20-1", "20", "Your 20-step agent arrives in 36 % of the cases. What do you buy first?",
        points=("compare by calls per task that arrives", "fewer steps: more success for less money",
                "checks that see mistakes, with readable errors to repair by", "a retry sees only what crashes",
                "a person on the step that cannot be taken back"),
        answer="""I compare offers by model calls for each task that arrives, because a failed task is paid for too. Fewer steps first: 15
            in place of 20 give 46 % and cost less. Then a check. One that sees 80 % of the bad steps, with a repair that works nine times
            in ten, makes 75 % for 9 % more calls, and 81 % on the shorter task. A blind retry only sees what crashes and gave 53 %.
            Detection is the ceiling: even with a hundred repairs that check stays at 80 %. A person on the last step buys little success
            and prevents nearly all the harm. The rates are assumed; mine I would measure.""",
        follow_up="Would a better model do it?",
        follow_up_answer="It helps, but from 95 to 99 % a step is only 82 % over 20 steps. A mistake that is seen is cheaper.",
        trap="\"Add retries.\" Somebody has to notice first, and the mistakes that hurt do not crash."),
    Question(
        "20-2", "20", "Somebody says: 19 of 20 runs passed, so we are at 95 %. What do you answer?",
        points=("an interval: the truth may be about 76 to 99 %", "the schoolbook formula breaks on few runs near 100 %",
                "more runs, of the kind and length that matter", "a rate worked back to steps misleads for other lengths"),
        answer="""That twenty runs say little. Wilson's interval for 19 of 20 goes from about 76 % to 99 %; even 20 of 20 leaves room down
            to 84 %. The schoolbook formula, share plus and minus 1.96 standard errors, goes beyond 100 % here, and over many counts it held
            the truth 65 % of the time where it promises 95 %. So I would run more, and on tasks of the length we will have. From such a
            rate I would not work back a p for each step: tasks are easy or hard, so a p taken at 20 steps is too hopeful for short tasks
            and too dark for long ones.""",
        follow_up="How many runs do you want?",
        follow_up_answer="As many as the decision needs: say which difference would change it, and compute the number before running.",
        trap="Quoting a share without its n."),
)
