"""The questions of notebook 02, tools."""

from .question import Question

QUESTIONS = (
    Question(
        "02-r1", "02", "A tool has four parts. Which of them is the model never sent?", kind="recall",
        points=("name, description and schema are sent", "the function is not"),
        answer="The function. The model is sent name, description and schema, and picks the tool by reading them."),
    Question(
        "02-r2", "02", "Why does a check of argument types need an extra line for `True`?", kind="recall",
        points=("in Python a bool is an int", "so `true` would pass as a number or as an allowed choice"),
        answer="In Python `True` is an integer and equals 1, so it slips through a check for numbers and through a list of allowed numbers."),
    Question(
        "02-r3", "02", "Why should a tool return few fields?", kind="recall",
        points=("the result is sent again at every later step", "lookalike fields get misread"),
        answer="A result is read once and paid for in every later call; and in a record of lookalike fields the wrong one is read."),
    Question(
        "02-1", "02", "The provider guarantees valid JSON arguments. What do you still check?",
        points=("parse strictly: no NaN, no infinity, no key twice", "the schema: missing, unknown, wrong type, not a choice",
                "what no schema says: does the order exist, may this be paid", "not every model or mode gives the guarantee"),
        answer="""Nearly everything. Valid JSON says nothing about my rules. First I parse strictly, since Python's reader lets NaN through
            and silently takes the last of two equal keys; a NaN amount then walks past every `if amount > limit`. Next comes the schema:
            required and unknown names, types, choices, bounds. A library does that better than my twenty lines, but it judges values, not
            texts: it calls NaN a number. Last comes what no schema can say: that the order exists, that it was late, that this run may pay.
            And I keep the check for models that promise nothing.""",
        follow_up="A check fails. Do you repair the call?",
        follow_up_answer="No. A guessed argument is my decision in the model's name. It gets an error text with the expected form and calls again.",
        trap="Treating the schema as a safeguard. A refund for an order that was on time fits every schema."),
)
