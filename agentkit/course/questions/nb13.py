"""The questions of notebook 13, hooks, skills and sub-agents."""

from .question import Question

QUESTIONS = (
    Question(
        "13-r1", "13", "A fraud check is a gate before a tool, and its server is down. Does the call run?", kind="recall",
        points=("no: a gate that could not look has not let it pass", "an observer that breaks is only noted"),
        answer="No. Otherwise whoever wants an unchecked payment only has to break the checker. An observer that fails is noted, no more."),
    Question(
        "13-r2", "13", "What of a skill is always in the context, and when does the rest come?", kind="recall",
        points=("one line that says what it is for", "the text is loaded by a tool when a task needs it"),
        answer="Only its name and one line. A tool loads the text when the task needs it; ten texts became ten lines."),
    Question(
        "13-r3", "13", "A sub-agent used 5,000 tokens. Where do they count?", kind="recall",
        points=("against the parent's budget, exactly once", "its results stay out of the parent's list"),
        answer="In the parent's account, once, with the result. Only its short report enters the parent's list."),
    Question(
        "13-1", "13", "When is a sub-agent cheaper, and when is it not?",
        points=("a result in the list is sent again in every later call", "saved: the size of the results times the calls that still come",
                "not with few steps after it, small results or one call", "its spending is charged to the parent once"),
        answer="""A result that enters my list is sent again with each later call. A sub-agent reads the large texts into a list of its own,
            which ends with it, and my list carries a summary. So the saving is the size of the results times the calls that come after.
            With six mails of 800 tokens and four steps after them it cost 49 % less; with no step after them it saved nothing; one short
            mail cost 81 % more, for its own prompt and two extra calls. Its whole usage is charged to the parent, once, and it gets at most
            what the parent has left.""",
        follow_up="What do you give up?",
        follow_up_answer="Whatever its report leaves out. It cannot ask back, and the parent's trace shows one row, so its own record is kept.",
        trap="\"Sub-agents save tokens.\" They move them; what is saved is sending them again."),
    Question(
        "13-2", "13", "What may a hook never do?",
        points=("let a call pass because it broke", "make a tool run twice", "change a call unseen: check it again, show the changed one",
                "end the run when it only observes"),
        answer="""Four things. A gate that breaks must not let the call through. An observer that breaks must not make it happen again: when
            observers ran inside a retry, a full disk paid one refund three times. So the result goes on record first, and each observer
            stands alone. A gate that changes a call must not do so unseen: the changed call is checked against the schema again, the person
            approves the changed one, and model and record say what really ran. And an observer decides nothing, so its failure is a note in
            the record and no end of the run.""",
        follow_up="In which order do gates stand?",
        follow_up_answer="First what denies, then what changes, the person last. Else somebody approves 500 and 1,000 is paid.",
        trap="Skipping a hook's exception so that business goes on."),
)
