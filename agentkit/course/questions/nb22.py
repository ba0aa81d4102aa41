"""The questions of notebook 22, read a framework."""

from .question import Question

QUESTIONS = (
    Question(
        "22-r1", "22", "You open an unknown framework's source. What do you look for first?", kind="recall",
        points=("the place where the model is called again", "and what stands between its reply and that call"),
        answer="The loop: where the reply is read, where tools run, and where the model is called again. The rest hangs on it."),
    Question(
        "22-r2", "22", "How do you find out what a framework sends, without trusting its documentation?", kind="recall",
        points=("point it at a local server that records requests", "with a script behind it instead of a model"),
        answer="Point it at a local server that speaks the provider's API, plays a script and records every request."),
    Question(
        "22-r3", "22", "Why is \"An error occurred, please try again\" a poor text for a failed tool call?", kind="recall",
        points=("it does not say what was wrong", "nor what a correct call looks like"),
        answer="""The model learns neither what was wrong nor what a correct call looks like. Of seven harnesses, three left out the right
            name."""),
    Question(
        "22-1", "22", "You have to judge an agent framework in an afternoon. How?",
        points=("one scripted task against a recording server: messages, tools, tokens sent", "the same bad cases for all of them",
                "which exits there are by default, and what an exit returns", "versions and date stand beside the findings"),
        answer="""I do not start with its features, I watch its wire. A local server plays a scripted model and records each request: which
            messages, which definitions, how many tokens. Then the same awkward cases for every candidate: an unknown tool, a wrong argument
            name, a tool that raises, cut JSON, two calls of which one fails, an empty reply, a model that never stops. I write down what
            reaches the model, what ran, and whether the caller gets a value or an exception. For each part I look for the counterpart in
            the loop I know: list, registry, limits, record. Findings carry version and date. On the plain task our seven harnesses could
            not be told apart.""",
        follow_up="Which finding would make you add code of your own?",
        follow_up_answer="A missing exit: no step limit by default, no repeat check, no budget, or an exception that throws away what was done.",
        trap="Judging by the demo. All of them do the good case."),
)
