"""The questions of notebook 23, the coding round."""

from .question import Question

QUESTIONS = (
    Question(
        "23-r1", "23", "Which two lines does a hurried loop most often forget?", kind="recall",
        points=("append the assistant message before the results", "append the result, also when it is an error"),
        answer="Appending the assistant message before its results, and appending a result for every call, errors included."),
    Question(
        "23-r2", "23", "You write `for step in range(max_steps)`. What belongs after the loop?", kind="recall",
        points=("a return for the limit, with a status", "and what was finished so far"),
        answer="The exit for the limit: a status and what was finished so far, not a silent None."),
    Question(
        "23-r3", "23", "Which small tests can you write in two minutes, to show that your loop works?", kind="recall",
        points=("a scripted model that calls once and answers", "one that never stops, and one with a bad call"),
        answer="Three scripts: one call and an answer, a model that never stops, and a call with a wrong argument."),
    Question(
        "23-1", "23", "Your loop works. Now the interviewer says: it must survive a restart. What do you change?",
        points=("state goes out of the process: an append-only record", "an event before a tool runs and one after",
                "on start: rebuild the list, do not repeat what is finished", "an unknown outcome is not rerun; ids make keys"),
        answer="""The state of a run is its message list, so I move it out of the process. Every event is appended to a file or table:
            message, reply, call before it runs, result after, end. On start I rebuild the list from the record and see what is open. Calls
            with a result are not run again, and a reply that is on record is not asked for again. A call that was begun and has no result
            is unknown: a read or a tool with an idempotency key runs again, anything else is reported. Only one process may go on with a
            run, so taking it over is a write that one can win.""",
        follow_up="Where does the key come from?",
        follow_up_answer="From run id and call id, which are on record before the first attempt. So the second process sends the same one.",
        trap="Pickling the object in memory every now and then: what happened since the last time is lost, or is done twice."),
    Question(
        "23-2", "23", "Now two calls come in one reply. What in a one-call loop breaks?",
        points=("one result per call, in call order, with its id", "one failing call must not cost its siblings",
                "limits count calls, not only steps", "run them together only if they are safe; others are barriers"),
        answer="""The line that takes `tool_calls[0]`. The second call stays without a result, and a strict provider refuses the next
            request. So I loop over all calls and append one result each, with its id, in call order. Each is parsed, checked and run inside
            its own error handling: a bad one costs one error text. A tool-call limit has to look inside the reply, and a call that no
            longer runs still gets a result that says so. Running them at once is a second step and optional: only tools marked as safe,
            with every other call as a barrier.""",
        follow_up="The first call fails and the second needed it. What then?",
        follow_up_answer="Each gets its own result, and the model decides anew. Where order matters, make it one tool or check inside the second.",
        trap="A dictionary from id to result, while the ids may be missing or the same."),
)
