"""The questions of notebook 16, ReAct."""

from .question import Question

QUESTIONS = (
    Question(
        "16-r1", "16", "What does a thought cost in a run of many steps?", kind="recall",
        points=("it is written once, as output", "and sent again in every later call"),
        answer="It is paid once when it is written and again in each later call: 240 tokens written were 1,080 sent again in eight steps."),
    Question(
        "16-r2", "16", "Is it worth letting a model think aloud? How would you find out?", kind="recall",
        points=("a thought is paid for in every later call", "run the task set with and without, compare success and cost"),
        answer="By running the same task set with and without thoughts and comparing success with cost. A stand-in cannot tell you."),
    Question(
        "16-r3", "16", "A text reply holds two actions. What does the harness run?", kind="recall",
        points=("nothing of it runs", "it answers with a sentence: one action, or a final answer"),
        answer="Nothing. It answers that a step has one action with its input or a final answer; a guess might charge somebody's card."),
    Question(
        "16-1", "16", "A model writes Thought, Action and then its own Observation. What happens, and what do you do?",
        points=("it believes its invention and acts on it", "a stop word saves the tokens, but do not rely on it",
                "cut at the first observation: it is not the model's to write", "at most one action a step, the rest is an error text",
                "the invention does not join the list"),
        answer="""It answers for my tools: in our case it invented a time-out, charged a declined card again and reported that it was paid.
            A prompt that forbids it is a wish, and a stop word is ignored by some servers, though it saves the tokens. What holds is the
            parser. It reads up to the first observation, since that is my harness's to write, and takes one action or one answer. Anything
            else, two actions, an action beside an answer, no JSON, becomes an error text and runs nothing. The list keeps only the part
            that was the model's own. Native tool calls end the invention of observations.""",
        follow_up="Can a model with native calls still make things up?",
        follow_up_answer="In its prose, yes: it can claim a refund that no tool made. So judge a run by the world.",
        trap="Searching the whole text so far for the last action, and running an old one again."),
)
