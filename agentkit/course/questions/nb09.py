"""The questions of notebook 09, several calls in one reply."""

from .question import Question

QUESTIONS = (
    Question(
        "09-r1", "09", "In which order do the results of one reply join the list?", kind="recall",
        points=("in the order of the calls", "whatever finishes first"),
        answer="In call order, whichever tool finishes first. Then the same reply always gives the same list."),
    Question(
        "09-r2", "09", "What do six calls in one reply save, and what does running them together save?", kind="recall",
        points=("fewer replies save round trips and tokens", "running together saves seconds and no token"),
        answer="One reply instead of six saves model calls and the tokens of sending the list again. Threads save waiting time only."),
    Question(
        "09-r3", "09", "A streamed reply holds two calls whose pieces alternate. How do you put the arguments together?", kind="recall",
        points=("by the index of each piece", "parse when the end has come"),
        answer="Each piece carries an index; there is one slot per index. It is parsed when the reply is complete, not before."),
    Question(
        "09-1", "09", "A local server sends tool calls without ids, or starts again at `call_0` in every reply. What breaks, and what do you do?",
        points=("results kept by id overwrite each other or answer the wrong call", "a strict provider refuses the list",
                "the harness gives each call an id unique in the run", "before the reply joins the list, so call and result agree"),
        answer="""Everything that looks a result up by id. With missing or repeated ids a dictionary keeps one result of two. With ids that
            start again it may hand out an old result: the model reads about step 1 and believes that the refund of step 2 was made. A
            strict provider refuses such lists, and a lenient one lets the lie pass. So my harness looks at each id before the reply joins
            the list. What is missing or was used in this run is replaced by a new one, in the call and in its result. Then the rest may
            rely on ids.""",
        follow_up="Why not match results by position?",
        follow_up_answer="Results come in the order in which tools finish. By position the late order and the one on time can change places.",
        trap="Trusting ids because the large providers send good ones. The loop will meet other servers."),
)
