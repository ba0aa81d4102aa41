"""The questions of notebook 11, real models."""

from .question import Question

QUESTIONS = (
    Question(
        "11-r1", "11", "In which form do the arguments of a call arrive in OpenAI's APIs, and in Anthropic's?", kind="recall",
        points=("OpenAI: JSON text", "Anthropic: an object"),
        answer="As JSON text in OpenAI's Chat Completions and Responses, as an object in Anthropic's Messages."),
    Question(
        "11-r2", "11", "A stream stops without a finish reason. Is what came an answer?", kind="recall",
        points=("no: the stream broke off", "half a sentence would pass for an answer"),
        answer="No. Without a finish reason there is no reply; otherwise \"Pay all of them\" is taken for the whole sentence."),
    Question(
        "11-r3", "11", "The model you call is not in your price table, and the run has a money budget. What should happen?", kind="recall",
        points=("the price is unknown, not zero", "refused at the start, before the first call"),
        answer="The cost is unknown, never 0. A money budget without a price is refused before the first call."),
    Question(
        "11-1", "11", "How do you work out what a run has cost?",
        points=("add up the usage of every reply, retries and sub-agents too", "three buckets without overlap: read, cached, written",
                "a dated price for exactly this model", "a missing or zero report is estimated and marked"),
        answer="""I add the usage of all replies in three buckets that do not overlap: tokens read at the full price, tokens read from the
            provider's cache, tokens written. Then times a dated price for that model. The buckets are where it goes wrong: OpenAI reports
            cached tokens inside the prompt tokens, Anthropic beside them. Counted twice, a reply of ours looked 173 % dearer than it was. A
            report that is missing or says zero for a reply with text is not believed; I estimate and say so. Retries and sub-agents count.
            For a stream I have to ask for the usage, and it comes last.""",
        follow_up="Why not count all of it with a tokenizer?",
        follow_up_answer="""It sees text. It does not see tokens around messages, hidden thinking or what the cache saved, and other model
            families cut words elsewhere. It is for the question before a call.""",
        trap="Taking the size of the final list for the bill. Every call has sent the list again."),
    Question(
        "11-2", "11", "Your adapter reads `choices[0].message.content`. What does it lose?",
        points=("tool calls, where the content is null", "the second of two calls", "refusals and replies cut at the length limit",
                "usage and why it stopped", "the call must go back into the list as it came"),
        answer="""Nearly all that matters. When the model calls a tool the content may be null and the call stands in `tool_calls`; there
            may be several, and text beside them. A refusal has a field of its own, and a reply cut at the length limit looks like an answer
            unless somebody reads the finish reason. Of six replies our hasty first version read one right. On the way up it fails again:
            the assistant message must go back with its calls, or the provider refuses the result that follows. So an adapter reads calls,
            text, refusal, finish reason and usage, and keeps what it does not understand.""",
        follow_up="The arguments are broken JSON. Should the adapter raise?",
        follow_up_answer="No. It hands the text on as it came; the registry answers the model with an error, and the run survives.",
        trap="Reading `tool_calls[0]`. The other calls stay open and the next request is refused."),
)
