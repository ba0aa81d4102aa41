"""The questions of notebook 03, the registry."""

from .question import Question

QUESTIONS = (
    Question(
        "03-r1", "03", "Which two jobs does the registry do?", kind="recall",
        points=("it is rendered for the model: what is offered", "it is the allow-list: what runs"),
        answer="It tells the model which tools there are, and it decides what may run. One dictionary, so the two cannot disagree."),
    Question(
        "03-r2", "03", "What is wrong with `globals()[name](**arguments)`?", kind="recall",
        points=("everything the program knows by name can be called", "a list of forbidden names never gets complete"),
        answer="A text written by a model can call anything in the program. A list of forbidden names only stops what was known that day."),
    Question(
        "03-r3", "03", "In which runs are tool definitions most of the bill?", kind="recall",
        points=("short runs with many tools", "definitions are sent with every call, used or not"),
        answer="In short runs with many tools: definitions go out with every call. With 40 tools and 3 steps they were 85 % of the input."),
    Question(
        "03-1", "03", "The model asks for a tool that does not exist. What happens?",
        points=("nothing runs", "the error becomes the result of that call, with its id", "it lists the tools there are",
                "a near name is offered, never taken", "it counts as an error, so a limit ends the run"),
        answer="""Nothing runs. The name is looked up in the registry of this run; what is missing there does not exist, whatever else my
            program contains. The call gets a result like every call: no such tool, and these are the ones there are. For a near misspelling
            I add an offer. I never take the offer myself: to a spelling measure `remove_order` is close to `refund_order`. Among 240
            stand-ins the list alone brought 198 to the right end, the bare sentence 16. It counts as an error, so the error limit ends a
            run that insists.""",
        follow_up="Why not answer that access is denied?",
        follow_up_answer="It tells the model that the tool is there and invites another try. In this run it is not there.",
        trap="Reaching for `getattr`, `eval` or `globals()`. Each turns a model's text into a call of anything."),
    Question(
        "03-2", "03", "You have sixty tools. What do you do?",
        points=("count what the definitions cost on every call", "merge what overlaps, drop what is never called",
                "a small registry for each kind of task, which is also least privilege", "the rest behind a search tool or a sub-agent"),
        answer="""First I count. In our catalogue forty tools were about 3,200 tokens with every call, so sixty are some five thousand a
            step. The larger harm is choice: each lookalike takes requests from its neighbour. So I merge tools that overlap and drop those
            that the traces never show. Then I split by task: a refund run gets the few tools of a refund. That saves tokens, and it is the
            permission list as well. What is still large goes behind a tool that searches for tools, or to a sub-agent with a registry of
            its own.""",
        follow_up="Would a cache settle the cost?",
        follow_up_answer="It makes the repeated part cheaper, not free, and it does nothing for the wrong picks.",
        trap="Deciding by cost alone. The registry says what may happen in a run; that is the first question."),
)
