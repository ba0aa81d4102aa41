"""The questions of notebook 21, evals."""

from .question import Question

QUESTIONS = (
    Question(
        "21-r1", "21", "Outcome and path: what does each say, and which decides?", kind="recall",
        points=("outcome: what became of the world; path: how the run got there", "the outcome decides, the path explains"),
        answer="Outcome: the state of the world at the end. Path: the tools, their order, steps and cost. The outcome decides, the path explains."),
    Question(
        "21-r2", "21", "A run of your eval crashed in the harness. Pass, failure, or left out?", kind="recall",
        points=("neither pass nor failure: it stands in no rate", "but the report names it beside them"),
        answer="It stands in no rate and is named beside them. Left out in silence it flatters, since what breaks is often what is hard."),
    Question(
        "21-r3", "21", "Ten of ten tasks passed. What can the true rate be?", kind="recall",
        points=("anywhere between about 72 and 100 %", "ten tasks prove little"),
        answer="Wilson's interval reaches from 72 % to 100 %: an agent of 72 % can look like that."),
    Question(
        "21-1", "21", "How do you know that your agent got better?",
        points=("a fixed task set from real traffic and past failures", "a fresh world for every task, and a check of that world",
                "old and new on the same tasks, compared in pairs", "a p-value or an interval, not an impression",
                "by kind of task; read the failures"),
        answer="""By a fixed set of tasks, as data, from real traffic and from every failure so far. Each task starts in a fresh world and
            ends with a check of that world, not of the answer's words. Old and new version run on the same tasks and are compared pair by
            pair: wins, losses, a sign test, an interval for the difference. In our set B, which its author showed in three good demos, wins
            5 tasks of 40 and loses 20: p = 0.0041, it is worse. I look at kinds of tasks, because an average hides a regression, and at
            path and cost. Then I read the failures.""",
        follow_up="The model answers differently each time.",
        follow_up_answer="Run each task several times. But 30 tasks stay 30 tasks: the interval goes by tasks, not by runs.",
        trap="Tuning on the set until it passes. Then you need a second one that nobody has tuned on."),
    Question(
        "21-2", "21", "30 tasks: 24 passed before, 27 pass now. Do you ship?",
        points=("the totals do not say; look at the pairs", "3 wins and no loss: p = 0.25; 7 and 4: p = 0.55", "so nothing is shown",
                "read the losses, add tasks", "decide by what a loss costs"),
        answer="""Those totals do not tell me. I need the tasks on which the versions differ. At best it is three wins and no loss, and
            three coins fall alike in one of four tries: p = 0.25. It may be seven wins and four losses, p = 0.55. Neither shows that the
            new one is better, and neither shows that it is not; thirty tasks are too few. For a true gain of ten points 132 tasks would
            find it four times in five. So I read the losses one by one, add tasks, and ship on other grounds only where a loss is cheap and
            can be undone.""",
        follow_up="Your manager wants it today.",
        follow_up_answer="Then to a small share of the traffic, with the old version beside it and a number that stops it.",
        trap="\"Ten points better.\" The difference without its uncertainty."),
)
