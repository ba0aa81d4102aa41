"""The questions of notebook 15, workflow or agent."""

from .question import Question

QUESTIONS = (
    Question(
        "15-r1", "15", "A workflow with an agent as its last step still loses some tickets that the agent alone would solve. Which?", kind="recall",
        points=("those that look like known ones", "they go down the fixed path and never reach the agent"),
        answer="Those that look known. An order that was replaced by another goes down the fixed path and never reaches the agent."),
    Question(
        "15-r2", "15", "The error rate is the same. Why did the workflow solve more of the known tickets than the agent?", kind="recall",
        points=("it makes one decision that counts", "the agent makes several, and each can go wrong"),
        answer="Its code decides nothing wrongly; only the classification can fail. The agent takes two to four decisions in a row."),
    Question(
        "15-r3", "15", "Where does a model-filled step of a workflow break most easily?", kind="recall",
        points=("at the seam: the model writes what the `if` does not compare with", "check it against choices and ask again"),
        answer="Where text meets code: \"Late order.\" is not \"late order\". The step is checked against its choices and asked again."),
    Question(
        "15-1", "15", "A workflow waits overnight for a person and goes on in another process. What does that demand of its code?",
        points=("results of steps are on record, the function is driven again from the start", "between two steps it must be deterministic",
                "and have no effect outside", "time, chance and payments belong in tools"),
        answer="""Nothing of the process survives, so the function is driven again from its first line, and each step that already ran gets
            its result from the record. Nothing is asked twice: our two-day run made two model calls in all. The price is one rule. Between
            two steps the code must be deterministic and touch nothing outside, because that code runs again at each pass. A clock in a
            prompt makes another step than the one on record, and the harness stops. A payment in plain code would be made at each pass. So
            time, chance and payments go into tools, whose results are recorded.""",
        follow_up="And if you deploy a new version of the workflow in between?",
        follow_up_answer="Driven again it may want other steps than are on record; that is noticed and ends the run. Finish old runs with old code.",
        trap="Calling the bank directly in the workflow function, because it worked in the test."),
)
