"""The questions of notebook 04, the loop."""

from .question import Question

QUESTIONS = (
    Question(
        "04-r1", "04", "Say the four moves of a pass, and who makes each.", kind="recall",
        points=("the model decides; the harness appends the reply", "the tool runs, called by your code; the harness appends the result"),
        answer="The model writes a reply, the harness appends and reads it, the tool runs, and the harness appends the result."),
    Question(
        "04-r2", "04", "In a trace the model is sent two messages at every step and makes the same call each time. What is broken?", kind="recall",
        points=("the results are never appended", "so the model sees the same list each time"),
        answer="Nothing is ever appended. The model is shown the same list, so it decides the same thing."),
    Question(
        "04-r3", "04", "Why is searching the model's prose for a tool's name no protocol?", kind="recall",
        points=("a sentence that says not to act mentions the tool as well", "a decision must be data: a call, or a final answer"),
        answer="\"I would not refund it\" contains the word refund. A decision has to come as data that is either a call or an answer."),
    Question(
        "04-1", "04", "How do you test an agent loop without a model?",
        points=("a scripted model that returns prepared replies", "scripts for the bad cases: never stops, broken JSON, unknown tool",
                "it refuses a list that a provider would refuse", "injected clock and counter, so that every run is the same"),
        answer="""With a model that is a script: a list of replies, returned in turn. The loop cannot tell the difference, so I can write
            down every awkward case: a call that never ends, broken JSON, an unknown tool, two calls in one reply, an exception in the place
            of a reply. I assert the status, the exact message list and what the tools really did. The script also checks each list that it
            is sent, as a strict provider would, so a missing result fails in my test. Clock, ids and token counter are arguments. That
            tests the harness; how well a real model chooses, only an eval tells.""",
        follow_up="What do you do with a failure from production?",
        follow_up_answer="I take its recorded replies as the script, replay the run, and keep it as a test.",
        trap="Testing the loop with live model calls: slow, dear, different each time, and the rare cases never come up."),
)
