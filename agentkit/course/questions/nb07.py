"""The questions of notebook 07, approval."""

from .question import Question

QUESTIONS = (
    Question(
        "07-r1", "07", "Why is `input()` inside the tool no approval?", kind="recall",
        points=("a process and its memory must live until somebody answers", "when it is killed, the run is gone"),
        answer="The process has to stay alive until a person answers, perhaps days later. If it dies, nothing of the run is left."),
    Question(
        "07-r2", "07", "An approver's page sends the text \"yes\" where `True` is expected. Does the refund run?", kind="recall",
        points=("no: only an explicit True is a yes", "guessing what a text means is guessing with money"),
        answer="No. A text is taken as the reason for a no; guessing what it means is guessing with somebody's money."),
    Question(
        "07-r3", "07", "A reply asks for a mail and for a refund, and the refund needs a person. When may the mail go out?", kind="recall",
        points=("after every waiting call of the reply is decided", "before that nothing of the batch runs"),
        answer="After all calls that wait are decided. A no could not call the mail back, so nothing of the reply runs before."),
    Question(
        "07-1", "07", "The process was killed in the middle of a refund. What does your harness do next?",
        points=("one event before the tool, one after it", "both there: done; neither: it may run", "only the first: the outcome is unknown",
                "unknown is never rerun silently: ask the bank, ask a person", "an idempotency key makes a second try safe"),
        answer="""It reads the record. There is an event before each tool runs and one after. Both present: done, never again. Neither: the
            call never began and may run. Only the first: unknown. We killed one process just before the money moved and one just after, and
            the records were identical, so no log can decide it. Then the harness does not guess. It tells the model and the person that the
            outcome is unknown, the ledger is looked at, and a second attempt waits for approval again. If the tool takes an idempotency
            key, it runs again with the same key.""",
        follow_up="Could you write the result before paying?",
        follow_up_answer="Then a crash in between loses the payment. The gap moves from paying twice to paying never; it does not close.",
        trap="Promising exactly once. It is at least once, plus a key that the other side checks."),
)
