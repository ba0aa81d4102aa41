"""The questions of notebook 06, the exits."""

from .question import Question

QUESTIONS = (
    Question(
        "06-r1", "06", "Why is a step limit alone not enough?", kind="recall",
        points=("a step may hold many calls, a giant result, long thinking or a slow tool", "so calls, tokens, money and time need limits too"),
        answer="A step is no unit of anything you pay for: within ten steps one stand-in made 120 tool calls, another took 270 seconds."),
    Question(
        "06-r2", "06", "At which four places does the harness ask its limits?", kind="recall",
        points=("before a reply is paid for, before a tool runs", "after a tool, after a step"),
        answer="Before a reply is paid for, before a tool runs, after a tool has run, and after a step."),
    Question(
        "06-r3", "06", "A reply was cut off at the length limit and holds a refund call. What do you run?", kind="recall",
        points=("nothing of it", "a cut reply may hold half a call"),
        answer="Nothing. The reply may contain half a call, so the run ends as truncated and the report says that the call was not run."),
    Question(
        "06-1", "06", "How do you choose `max_steps` and the other limits?",
        points=("measure what good runs need", "twice the middle run, or the 99th percentile",
                "say how many good runs it cuts off and what a lost run then costs", "limits in several dimensions, each with a reason"),
        answer="""From runs that worked. I take the recorded good runs of this task and look at steps, tokens, seconds. Two rules can be
            defended: twice the middle run, or what 99 of 100 runs need. In our sample of 200 good runs the middle one took 3 steps. A limit
            of 6 cut off three of them, a limit of 7 one; a round 20 cut off none, and let a lost model spend about four times as much as 6
            did. Then the other dimensions from the same runs: tool calls, tokens, money, time. The repeat and error limits are on
            everywhere.""",
        follow_up="The limit fires on one run in five. Raise it?",
        follow_up_answer="First read those traces. A limit that fires often usually points at a tool, an error text or a prompt.",
        trap="A round number that nobody measured, copied from the last project."),
    Question(
        "06-2", "06", "What should a run that was stopped return?",
        points=("a status: one word for the exit", "what was done and what was not", "why it stopped, with the number",
                "made from the record, not by the model", "every open call is answered"),
        answer="""A status and a report. The status is one word, so that programs can act on it: step limit, token budget, repeated call and
            so on. The report is a sentence for people: what succeeded, what failed, which tools were never called, and the number at which
            it stopped. Both are made from the record of the run, so they cannot claim what did not happen; I would not ask the model to
            write them. The list must stay valid too: a call that no longer ran gets a result that says so, or the run cannot be continued.""",
        follow_up="Would you show the report to the customer?",
        follow_up_answer="A version of it: what was finished and that a person takes over. Better than a confident answer that nobody worked out.",
        trap="An exception, or None. The user learns nothing, and half of the work that was done is lost."),
)
