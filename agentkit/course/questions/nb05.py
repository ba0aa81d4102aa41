"""The questions of notebook 05, errors as text."""

from .question import Question

QUESTIONS = (
    Question(
        "05-r1", "05", "A tool returns nothing at all, a date, or half a megabyte. What does the model get?", kind="recall",
        points=("always text, and never a blank one", "bounded, with a sentence that says what was cut"),
        answer="Text in every case: JSON where it can be, `(no output)` for nothing, and a bounded piece that says how much was cut."),
    Question(
        "05-r2", "05", "Which three gates stand before a tool runs?", kind="recall",
        points=("the name is in the registry", "the arguments are one JSON object, and fit the schema"),
        answer="Is there such a tool, are the arguments one JSON object, do they fit the schema. Only then anything runs."),
    Question(
        "05-r3", "05", "A tool returns a text that begins with ERROR, from a log file. Does that count as an error?", kind="recall",
        points=("no: it is data", "errors are refused calls, raised exceptions, and a mapping with a truthy error"),
        answer="No, it is a result. What counts is a refused call, a function that raised, or a mapping with a truthy `error`."),
    Question(
        "05-1", "05", "Which failures do you not send back to the model?",
        points=("Ctrl-C and shutdown pass through", "the programmer's mistakes raise at the start",
                "transient failures are retried first, where repeating is safe", "tracebacks and secrets stay in the log",
                "a failed model call is no tool result"),
        answer="""Three kinds. Ctrl-C and shutdown belong to the person at the machine, so I catch `Exception` and never everything. My own
            mistakes, such as two tools of one name or a schema that is none, raise at once, before a call is paid for: no model can mend
            them. And a transient failure is tried again by the harness first, if repeating is safe; the model reads what remains. From an
            exception it gets one line, type and message. The traceback goes to my log: it is long, and in our example it quotes a line with
            a database password. A model call that fails is no tool result at all; it ends the run as a model error.""",
        follow_up="What goes wrong with a bare `except:` around the tool?",
        follow_up_answer="It swallows KeyboardInterrupt too: the run goes on, and nobody can stop it.",
        trap="Returning an empty text or `ok` from the handler. The run looks healthy, and the model reports a success that never was."),
)
