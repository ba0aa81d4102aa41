"""The questions of notebook 17, plan and execute."""

from .question import Question

QUESTIONS = (
    Question(
        "17-r1", "17", "What is the worker of a plan sent for its step?", kind="recall",
        points=("the task, the plan with what came of it, its own messages", "not the results of all earlier steps"),
        answer="The task, the plan with a line on what came of each step, and the messages of its own step; earlier results stay behind."),
    Question(
        "17-r2", "17", "What can a person do with a plan that step by step work does not offer?", kind="recall",
        points=("read and refuse it before anything has happened", "the plan is a call like any other, so it can wait for approval"),
        answer="Read it, and refuse it, before anything has happened. The plan is a tool call, so it can be approved like one."),
    Question(
        "17-r3", "17", "What did ten fetches cost as a plan, beside ReAct, with results of 200 tokens?", kind="recall",
        points=("about twice the calls: 22 for 11", "about a quarter fewer tokens: 9,715 for 13,262"),
        answer="Twice the calls, 22 for 11, and a quarter fewer tokens, 9,715 for 13,262: a result is sent once and left behind."),
    Question(
        "17-1", "17", "The world changes while a plan is being worked off. How do you notice, and what keeps replanning in bounds?",
        points=("each step says what it expects; a check looks before it begins", "a failed step is on record, with the reason",
                "the planner plans what is left; done steps are never run again", "replans are counted before they are tried"),
        answer="""No step fails by itself when the world moves: our stale plan refunded a chair that had arrived, without an error. So each
            step states what it expects, and code looks before it begins. If it does not hold, the step is given up and put on record with
            the reason. The planner is told what is done and why it failed, and plans only the rest; whatever it proposes, done steps do not
            run again. Replans are counted before they are tried, so a planner that is down or writes rubbish uses them up, and past the
            limit the run ends and names the step. All other limits hold too.""",
        follow_up="When is planning first the wrong choice?",
        follow_up_answer="""When the world moves often. ReAct takes a surprise with one call more, a plan with three. Where one reach in
            five meets a move, the formula lets 56 % of our plans with two replans arrive.""",
        trap="\"It replans until it works.\""),
)
