"""The questions of notebook 00, start here."""

from .question import Question

QUESTIONS = (
    Question(
        "00-r1", "00", "Who does what in a run: what can the model not do by itself?", kind="recall",
        points=("the model only reads text and writes text", "it cannot run anything, remember between calls, or stop itself"),
        answer="The model reads text and writes text. Running a tool, keeping the list and ending the run are the harness's work."),
    Question(
        "00-r2", "00", "A run had five steps and five tool calls, but one reply asked for two orders at once. How is that possible?", kind="recall",
        points=("a step is one model call, a tool call is counted apart", "another step made no tool call: it answered"),
        answer="Steps are model calls. One reply held two tool calls and the last reply held none, because it was the answer."),
    Question(
        "00-r3", "00", "What can a stand-in model show, and what can it not?", kind="recall",
        points=("it shows what a harness must do with a good, bad or endless reply", "it cannot show how well a real model chooses"),
        answer="It shows how the harness behaves on good, bad, broken and endless replies. How well a real model chooses, it cannot show."),
    Question(
        "00-1", "00", "An agent reports that the refund has been made. How do you know that it is true?",
        points=("look into the books: which refunds exist now", "compare with what should have happened, also what should not",
                "the answer's words are no evidence, and neither is the status done"),
        answer="""I do not read the answer, I read the world. Every refund leaves a row in the ledger, so I compare the rows with what
            should be there: the late order paid once, nothing else paid. In the first notebook four programs handle three customers, and
            they are judged by refunds made. The single call only talks, so it is right for one of three, the customer for whom doing
            nothing was right. The fixed workflow pays a customer whose order was on time. Both could have produced a friendly sentence.""",
        follow_up="And where there is no ledger, as for a letter?",
        follow_up_answer="""Then I write down what must hold, check by code what code can check (the amount, the length), and let a person
            or a measured critic judge the rest.""",
        trap="Taking status `done` for success. It says that the model stopped asking, not that the work is right."),
)
