"""The questions of notebook 01, the message list."""

from .question import Question

QUESTIONS = (
    Question(
        "01-r1", "01", "Name the four roles of the message list and whose words each carries.", kind="recall",
        points=("system: the rules, from you; user: the person's task", "assistant: what the model said; tool: what one call returned"),
        answer="`system` carries your rules, `user` the person's task, `assistant` the model's text or calls, `tool` the result of one call."),
    Question(
        "01-r2", "01", "Name three message lists that a strict provider refuses.", kind="recall",
        points=("a result without its call before it, or under another id", "a call without a result, an id used twice, or an empty text"),
        answer="A result that answers no open call, a call that has no result yet, an id used twice; some refuse an empty text as well."),
    Question(
        "01-r3", "01", "Your first call sends 1,600 tokens and every step adds 750. What do ten calls send together?", kind="recall",
        points=("10 x 1,600 plus 750 x 45", "49,750 tokens, far more than the last call's 8,350"),
        answer="Ten times 1,600 plus 750 times 45, which is 49,750 tokens, although the last call alone sends 8,350."),
    Question(
        "01-1", "01", "How many tokens is this prompt? How do you count before a call, and how after it?",
        points=("after the call: the usage in the reply", "before it: a tokenizer, with tool definitions and calls counted too",
                "characters divided by four is near for English prose only", "it counts JSON, numbers and other scripts too low"),
        answer="""After the call I believe the usage in the reply. Before it I need an estimate, to ask whether the call still fits, and
            there a tokenizer of the right family is best. I count the calls' names and arguments and the tool definitions too, because they
            are sent every time. Characters divided by four will do for English prose. On what an agent's list is made of it is short: in
            our table it says 34 for the 57 tokens of a JSON result, 10 for 14 of a long number, 5 for 17 of a Chinese sentence. It errs on
            the side on which budgets break.""",
        follow_up="The counter fails on a text that holds `<|endoftext|>`. Why?",
        follow_up_answer="""The tokenizer takes it for a control token and refuses it. Anybody can type that text, so it must be counted as
            plain text: seven tokens in place of one.""",
        trap="Writing 0 where the usage is missing. Unknown is not free, and a budget that counts zeros never fires."),
)
