"""The questions of notebook 10, retries."""

from .question import Question

QUESTIONS = (
    Question(
        "10-r1", "10", "Backoff, cap, Retry-After, jitter: in which order are they applied?", kind="recall",
        points=("backoff, then the cap, then Retry-After as a floor", "jitter last, and it only adds"),
        answer="Backoff, the cap on it, Retry-After as a floor above both, and jitter last. Jitter only adds, so nobody comes early."),
    Question(
        "10-r2", "10", "Three layers each try a call four times. How many calls reach a server that is down?", kind="recall",
        points=("64: layers multiply", "an exhausted retry must count as permanent for the next layer"),
        answer="Four times four times four: 64. So an exhausted retry counts as permanent, and then it stays at four."),
    Question(
        "10-r3", "10", "From what is an idempotency key made, and when?", kind="recall",
        points=("from the run and the call, not from the arguments", "once, before the first attempt, and kept"),
        answer="From run and call id, once, before the first attempt. From the arguments, two payments that are both meant become one."),
    Question(
        "10-1", "10", "A tool call times out. What do you do?",
        points=("the loop goes on; the hung thread is left behind and counted", "a time-out says nothing about what happened",
                "a read, or a write with a key, is tried again", "a write without a key: find out first, or ask a person",
                "backoff, cap, jitter, few attempts, then one error text"),
        answer="""The loop goes on: it stops waiting, though Python cannot kill the thread. Then I ask whether repeating is safe, because a
            time-out does not say that nothing happened; the answer may have been lost after the money moved. A naive retry over a network
            that loses one call in three paid 191 of 1,000 refunds more than once. A read I repeat. A write only with an idempotency key,
            the same at each attempt. Four attempts with backoff, a cap and jitter. Without a key I look at the bank's own record or ask a
            person. In the end the model reads one error that says how often it was tried.""",
        follow_up="Why jitter?",
        follow_up_answer="""Those who fail together come back together. Of 500 clients at one server, 227 were answered with plain backoff
            and all 500 with jitter, with fewer requests.""",
        trap="Retrying a write blindly."),
    Question(
        "10-2", "10", "Who should try again, the harness or the model?",
        points=("transient failures: the harness", "permanent ones: the model, which has to change the call",
                "a model's retry costs a step and the whole list, and it cannot wait", "decide by status and type, unknown is permanent"),
        answer="""Both, for different failures. What may pass by itself, such as a time-out, a lost connection, 429 or most 5xx, the harness
            tries again, after a wait. What stays wrong, a bad argument or an id that does not exist, goes to the model at once, since only
            it can change the call. Over a network that lost one call in three the harness finished 300 of 300 runs with 32 % fewer tokens
            than the model, which finished 260: 38 of its runs looked like a loop to the repeat check. I decide by status and type, never by
            the words of a message, and what I do not know is permanent.""",
        follow_up="The service is really down. Does retrying help?",
        follow_up_answer="""No, it adds load. A failed call counts as one error however often it was tried, so a low error limit ends the
            run; across runs a circuit breaker stops asking for a while.""",
        trap="A 429 that means that the account has no money left. No waiting mends it."),
)
