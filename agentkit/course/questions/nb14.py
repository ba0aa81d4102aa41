"""The questions of notebook 14, MCP."""

from .question import Question

QUESTIONS = (
    Question(
        "14-r1", "14", "Host, client, server: who is who in MCP?", kind="recall",
        points=("the host is the app, with one client for each server", "the server offers tools, resources and prompts"),
        answer="The host is the app. It keeps one client per server; the server stays with the owner and offers tools, resources, prompts."),
    Question(
        "14-r2", "14", "In JSON-RPC, what tells a request from a notification?", kind="recall",
        points=("a request has an id and gets one answer with that id", "a notification has none and gets none"),
        answer="The id. A request has one and gets an answer with it; a client that gives a notification an id waits for ever."),
    Question(
        "14-r3", "14", "Tools, resources, prompts: who decides when each is used?", kind="recall",
        points=("the model asks for tools", "the application reads resources, a person picks prompts"),
        answer="The model asks for tools, the application reads resources, and a person picks prompts."),
    Question(
        "14-1", "14", "What can a malicious MCP server do, and which defence stops what?",
        points=("it runs with your rights, and its texts reach the model", "orders in a description, in a result, or in a later change",
                "allow-list: its other tools; pin: a changed description", "an order in a result: only a person who reads, or the design"),
        answer="""A local server is a program with my rights, and its texts go to the model word for word. It can hide an order in a
            description, change one after I approved it, or write an order into a result; the aim is mostly another tool that pays or sends.
            An allow-list keeps its other tools out. A pin, a hash of what I approved, catches a change. Nothing in that list helps against
            an order in a result: of our four attacks three got past each of these alone. A person who read the calls stopped all four, one
            who clicked yes none.""",
        follow_up="And if nobody can read that much?",
        follow_up_answer="Then no run both reads strangers' texts and may pay or send without a person. That is design, not filtering.",
        trap="Believing `readOnlyHint`. The stranger wrote it."),
)
