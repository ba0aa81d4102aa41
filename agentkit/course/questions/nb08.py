"""The questions of notebook 08, the trace."""

from .question import Question

QUESTIONS = (
    Question(
        "08-r1", "08", "Why does the record keep a copy of each message and not the live list?", kind="recall",
        points=("the live list goes on growing", "every old event would show the list as it was at the end"),
        answer="The list grows on. Without a copy every step would show the list as it looked at the end of the run."),
    Question(
        "08-r2", "08", "An order id first appears in a reply of the model, in no message and no result. What does that tell you?", kind="recall",
        points=("the model made it up", "search the record for where a value was first seen"),
        answer="The model invented it. Looking for the first event that holds a value says who brought it into the run."),
    Question(
        "08-r3", "08", "Why one JSON object a line, and not one JSON array?", kind="recall",
        points=("a crash tears the end of the file", "with lines all whole events before it can still be read"),
        answer="A crash tears off the end. Of an array nothing can be read then; of lines everything but the torn one."),
    Question(
        "08-1", "08", "What do you log of a run?",
        points=("one append-only event for each thing that happens", "call before it runs, result after it",
                "ids, arguments, tokens, seconds, stop reasons, decisions", "what was really sent, if something stands in between",
                "secrets are redacted before they are written"),
        answer="""One append-only list of events: the start with task, tools and limits; each reply with usage, stop reason and seconds;
            each call before it runs and its result after; each person's decision; how the run ended. Every event has run, step and call id.
            Message list, trace, timeline and bill are then views on it, so they cannot disagree. Where a trimmer or adapter stands between
            the list and the provider, I also record what was really sent: for two of our four patients that was the diagnosis. Secrets are
            redacted before writing, and somebody decides how long it is kept.""",
        follow_up="Two calls ran at the same time. How do you read their lines?",
        follow_up_answer="By call id. Results come in any order, so position and time join nothing.",
        trap="Logging only errors and the final answer. Two of our stuck agents ended with `done`."),
    Question(
        "08-2", "08", "You changed a tool's description. What can a replay of old runs tell you, and what not?",
        points=("it feeds the recorded replies and compares what the model would be sent", "it names the first step that differs",
                "it cannot say what the model would have answered", "with real tools it repeats their effects, so give it stand-ins"),
        answer="""A replay takes the replies from the record and lets the harness do the rest anew. If everything the model is sent stays
            the same, the change did not touch this run. If not, it shows the first difference and stops there. A changed description
            differs at step 1, since definitions go with every call; a changed error text only from the call that fails. What it cannot say
            is how the model would have answered to the new list: from that point it would be another run, and for that I need new runs and
            an eval. Tools that change the world are replaced by stand-ins.""",
        follow_up="And when nothing differs?",
        follow_up_answer="Then the change is without effect on this run. That is a fact about the harness, and no proof that the fix helps.",
        trap="Running the task again and calling that a replay. A second run may take another path."),
)
