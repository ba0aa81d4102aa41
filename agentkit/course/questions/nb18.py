"""The questions of notebook 18, reflection."""

from .question import Question

QUESTIONS = (
    Question(
        "18-r1", "18", "The cap on reviews is reached and no draft has passed. What do you return?", kind="recall",
        points=("the draft that met most criteria, of equals the earliest", "and say that it did not pass"),
        answer="The draft that met the most criteria, the earliest of equals, with a report that says that it did not pass."),
    Question(
        "18-r2", "18", "Why does one review alone not improve the answers?", kind="recall",
        points=("there is only one draft to choose from", "it only tells whether the draft passed"),
        answer="It judges the only draft there is. You learn whether it passed; the answer is the same."),
    Question(
        "18-r3", "18", "A critic answers \"Looks good to me!\" and not in the form you asked for. Has the draft passed?", kind="recall",
        points=("no: only a plain `true` has passed", "what cannot be read counts as a review that did not pass"),
        answer="No. What is not plainly `true` has not passed; the review is counted, and the draft is not lost."),
    Question(
        "18-1", "18", "Which criteria do you check in code, which by a model, and how do you know the critic is any good?",
        points=("amount, date, length: code, free and never wrong", "tone: a separate call that sees criteria and draft only",
                "label drafts by hand; count misses and false alarms", "the misses set the ceiling"),
        answer="""Whatever can be computed I check in code: the amount, the day, the length. It is free and does not err. For what needs
            judgement, such as tone, a separate call gets the criteria and the draft and nothing else, because whoever saw the draft come
            about finds it convincing. Then I label some drafts by hand and count two rates: bad drafts that pass, and good ones that are
            refused. With half of the drafts good, 20 % missed and 10 % refused, the ceiling is 82 % good answers, however many retries. A
            critic that tosses coins stays at 50 % for the same price.""",
        follow_up="Which of the two rates would you improve?",
        follow_up_answer="The misses. A false alarm costs a call; a bad draft that passed is looked at by nobody.",
        trap="One model as author and critic in the same call. It shares its own blind spots."),
)
