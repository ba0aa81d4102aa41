"""The questions of notebook 24, the design round."""

from .question import Question

QUESTIONS = (
    Question(
        "24-r1", "24", "What do you ask before you draw anything in a design round?", kind="recall",
        points=("what counts as success, and what a mistake costs", "volume, latency, who may approve, which systems exist"),
        answer="What a good result is and how it is measured, what a mistake costs, volume and latency, and which systems and people there are."),
    Question(
        "24-r2", "24", "Above which amount should a person look at a refund? Say the formula.", kind="recall",
        points=("the cost of a look", "divided by the share that is wrong times the share that a person catches"),
        answer="Where the money saved pays for the look: the cost of a look, divided by the share that is wrong times the share that is caught."),
    Question(
        "24-r3", "24", "Run and call made a good idempotency key. Why does the support desk use the order instead?", kind="recall",
        points=("a queue may deliver a ticket twice, as another run", "the key must name the debt, not the call"),
        answer="A ticket delivered twice is another run with another key, and pays again. One order is refunded once, so the key names that."),
    Question(
        "24-1", "24", "What would change in your design at a hundred times the traffic?",
        points=("measure first: where do money and waiting go", "known paths into a workflow, small models for simple steps",
                "state outside the process, workers beside each other", "rate limits, jitter, circuit breakers, a queue",
                "people are the bottleneck: fewer approvals, by rule"),
        answer="""Less of the loop than one thinks. A run keeps its state in a record, so workers can be added beside each other; what they
            share is the provider's rate limit and my own databases. So a queue in front, retries with jitter, a breaker when a service is
            down. Then the bill: the bulk of the tickets goes down paths that can be drawn, so a workflow takes those, and the agent what
            leaves the path. A still front for the cache, small results. The real bottleneck is people: approvals and hand-overs grow with
            traffic, so amounts below a line are decided by rule. The sample that is judged for evals does not grow.""",
        follow_up="What would you not change?",
        follow_up_answer="The limits of a single run, the record, and judging by the books. They do not depend on the traffic.",
        trap="Starting with Kubernetes. The first question is what a ticket costs and who approves."),
    Question(
        "24-2", "24", "How would you write the cost sheet of an agent before it exists?",
        points=("tickets a day, by kind, with steps and sizes per kind", "the sum over steps, not a price per step",
                "prices with a date, marked as assumed", "retries, failures, evals and people's time", "the worst case a limit allows"),
        answer="""Per kind of ticket: how many a day, how many model calls, what the first call sends, what each step adds, what is written.
            From that the sum over the steps, because the list is sent again; a price per step times the steps is too low. Times a dated
            price, with and without a cache. Then what sheets forget: failed runs are paid for too, and so are retries and the eval runs; on
            our sheet model calls are 20 of 1,377 USD a day, the rest is looks by people and wrong refunds. Beside the usual day I put the
            worst case, which is a decision: step limit, cap on results, money budget. I check it against a few measured runs.""",
        follow_up="The sheet says the agent is cheaper than people. Done?",
        follow_up_answer="No: compare per solved ticket, and add what a wrong one costs.",
        trap="Multiplying the tokens of one call by the number of tickets."),
)
