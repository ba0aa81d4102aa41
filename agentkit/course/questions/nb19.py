"""The questions of notebook 19, the cost of a run."""

from .question import Question

QUESTIONS = (
    Question(
        "19-r1", "19", "Write the sum of all prompts of a run: base b, growth g, T steps.", kind="recall",
        points=("T b for the base", "g T (T - 1) / 2 for the growth"),
        answer="T b + g T (T - 1) / 2: the base is sent T times, the growth 0 + 1 + ... + (T - 1) times."),
    Question(
        "19-r2", "19", "Two files have the same tokens, but one has its long page first. Which run costs more?", kind="recall",
        points=("the one with the long page first", "each token is sent again in every call after it"),
        answer="The long page first: each token counts once for every call that still comes. It was 22 % above the formula, the other 22 % below."),
    Question(
        "19-r3", "19", "What does a clock at the start of the system text do to a provider's cache?", kind="recall",
        points=("no prompt begins like the last one", "so nothing is found, and writes may cost extra"),
        answer="No prompt begins like the one before, so nothing is found. With dearer writes a bill that fell by 73 % rose by 23 %."),
    Question(
        "19-1", "19", "Twice the steps: what does it cost?",
        points=("the base doubles, the triangle of history quadruples", "3.5 times the tokens for 1,600 and 750, from 10 to 20",
                "the bill 3.3 times, since output only doubles", "near two with a large base, toward four for long runs"),
        answer="""More than twice. The base, system text and definitions and task, is sent with each call and doubles. The history is
            sent again and again, a triangle, and quadruples. With a base of 1,600 and 750 more a step, 10 steps send 49,750 tokens and 20
            send 174,500: 3.5 times. The bill rises 3.3 times, because what the model writes only doubles; at 3 and 15 USD per million that
            is 0.17 and 0.57 USD. With a large system text and small results it is nearer to twice, for very long runs near four times. That
            is why a step limit is a cost limit, if results are capped too.""",
        follow_up="An estimate in your head?",
        follow_up_answer="Steps times the mean of the first and the last call: exact where all steps add the same.",
        trap="\"Four times\" as a law, or a price per step times the steps."),
    Question(
        "19-2", "19", "What does prompt caching change, and what breaks it?",
        points=("the repeated front is read at a lower price", "the final list is paid once in full, the old triangle at the low price",
                "anything that changes in front breaks it", "compaction saves less with it, and may cost more"),
        answer="""Each call begins with all that the last one sent, so a provider can charge less for that front. Then the final list is
            paid once at the full price and everything sent again at the low one: still a square, with a smaller factor. At an assumed
            tenth, our 20 steps fell from 0.57 to 0.14 USD. It breaks when the front changes: a clock or a name in the first line,
            definitions in another order, an old result trimmed. It also changes other levers: compaction took off up to 41 % without a
            cache, and with one it hardly paid or made the run dearer.""",
        follow_up="How do you build a list that caches well?",
        follow_up_answer="Still things first, moving things last, append only, and cut rarely but deep.",
        trap="Adding cached tokens to a prompt count that already holds them."),
)
