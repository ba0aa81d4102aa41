"""The questions that the articles ask or raise, each with the notebook that answers it."""

from .question import Question

QUESTIONS = (
    Question(
        "art-01", "04", "Walk me through the agent loop. What happens between the model's reply and the next model call?",
        points=("the whole list and the tool definitions go to the model", "no call in the reply: it is the answer, the run ends",
                "the assistant message is appended before the results", "each call is parsed, checked, run through an allow-list",
                "one result per call with its id; limits are asked; then again"),
        answer="""The state is one list of messages. I send all of it with the tool definitions. If the reply holds no call, it is the
            answer and the run is done. Otherwise I append the reply first, since a result without its call is refused. Then, call by call:
            parse the arguments, check them against the schema, look the name up in the allow-list, run the function, and append exactly one
            result with the call's id; whatever fails becomes text for the model. Before I pay for the next call I ask the limits. Then the
            longer list goes out again. The model asks for things; only my code does them.""",
        follow_up="Which exit is the normal one, and who owns the others?",
        follow_up_answer="A reply without a tool call is the normal end. All others are limits, and the harness owns every one of them.",
        trap="`while True`, with the end left to the model. Name the step limit before you are asked for it."),
    Question(
        "art-02", "01", "How does the context change from step to step?",
        points=("it only grows unless the harness removes something", "a step adds the reply and one result per call",
                "each call sends all of it again", "one large result stays in every later call", "cut by whole steps only"),
        answer="""It grows. A step adds the assistant message and one tool message for each call in it, and the next call sends all that
            stands there, together with the tool definitions. So the size rises about evenly with the steps, and the tokens sent in all rise
            with their square. A run of ours ended with a list a few hundred tokens long and was billed for 1,405. A large result is not a
            single event: it is sent in each call that follows. Order matters as well, calls before their results. What I take out is
            gone for the model, so I keep rules and task and remove whole steps.""",
        follow_up="How do you keep it bounded?",
        follow_up_answer="Smaller results first, then compaction with a note of what was done, files or search for facts, a sub-agent to read.",
        trap="\"The model remembers.\" Your list does, and whoever can edit it edits the past."),
    Question(
        "art-03", "16", "What is ReAct, and what has it to do with tool calling?",
        points=("thought, action, observation, repeated", "each action stands on the latest observation",
                "first as text that the harness parsed", "tool calls are the same loop with fields of their own",
                "the pattern is the loop, not the wording"),
        answer="""Reasoning and acting in turn: a thought, one action, what came of it, and again. The point is that each action stands on
            the newest fact, so a surprise can change the direction: where our stand-in expected a time-out and read that the card had no
            funds, it paged a team and did not charge again. At first it was a text format; the harness parsed the action and wrote the
            observation. With native calls the action is a field, the observation is the tool message, and the thought is text beside the
            call or stays inside the model. Both ways gave the same transcript here.""",
        follow_up="Does the model have to show its thoughts?",
        follow_up_answer="No. They cost tokens, again in each later call, and a written thought need not be the reason for what was done.",
        trap="Taking the four labels for the pattern, or calling it obsolete: tools in a loop are ReAct."),
    Question(
        "art-04", "06", "Which stopping conditions does a production loop need?",
        points=("the answer without a call", "steps, tool calls, tokens, money, time", "the same call again, too many errors",
                "a call that waits for a person; refused, cut, empty, failed replies", "asked before the call"),
        answer="""In layers, because each sees what the others cannot. The normal end is a reply without a call. Around it budgets in what I
            pay for: steps, tool calls, tokens, money, seconds. Then two that notice early that it goes nowhere: the same call with the same
            result three times, and too many tool errors. Then what replies bring: refused, cut off, empty, or no reply at all. And one that
            is a pause: a call that needs a person. We ran ten stand-ins, most of them confused, under each limit alone; every single one
            let runs go far past what is allowed, and all together stopped every one in time.""",
        follow_up="Which of them fires most?",
        follow_up_answer="""Often the step limit and the repeat check, but count your own statuses. And set a spending cap at the provider
            too, for the day when your code has a bug.""",
        trap="Leaving the end to the model. That is one exit, and no guarantee."),
    Question(
        "art-05", "19", "Why does an agent cost more than a single call, and what do you do about it?",
        points=("many calls, and each sends the whole list again", "T b + g T (T - 1) / 2: it grows with the square of the steps",
                "output is paid once, then again as input", "a still front for the cache, small results, fewer steps",
                "a workflow, if the path is known"),
        answer="""It makes many calls, and each one sends everything again: rules, definitions, task, all replies and results so far. With
            base b, growth g and T steps that is T b + g T (T - 1) / 2, so the history is soon most of the bill; in our run of 20 steps it
            was 68 %. What the model writes is paid as output and then as input in each later call. What I do, in this order: keep the front
            still so that a cache fits, return small results, take fewer steps (several calls per reply, or a workflow), compact. Results of
            200 tokens in place of 600 took 36 % off the tokens sent in ten steps.""",
        follow_up="And latency?",
        follow_up_answer="Calls wait for each other, so it is the number of steps times a round trip. Several calls in one reply save round trips.",
        trap="Quoting the length of the final list, or thinking that more steps make better answers."),
    Question(
        "art-06", "06", "How do you stop an agent that goes in circles?",
        points=("a signature: name, canonical arguments, result", "the same block of one to three steps, three times over",
                "a changed result is progress; polling tools are exempt", "the step limit for one that wanders", "then mend the cause"),
        answer="""I keep a signature of each call: the name, the arguments in one spelling, and the result. If the last steps are the same
            block of one, two or three, three times over, it is a loop, and the run stops with a report of what it repeated. The result
            belongs to it, or waiting for a parcel that moves would count. Spelling does not: key order and white space hide a loop
            otherwise. A tool made for asking again is exempt. A model that wanders, with new arguments each time, is not seen by this; the
            step limit ends it. Afterwards I look for the cause in the trace.""",
        follow_up="What are usual causes?",
        follow_up_answer="An error text that says nothing, results that never reach the model, two tools that send it to and fro, no way to a goal.",
        trap="Raising the step limit. It buys more of the same call, each dearer than the one before."),
    Question(
        "art-07", "08", "An agent gave a wrong answer. How do you debug it?",
        points=("from the record, not by running it again", "last step, first error, first wrong call and where its arguments came from",
                "what exactly was the model sent at that step", "change one thing, replay, keep the run as a test"),
        answer="""From its record. I read how it ended and what it knew then; then the first error and whether it was repaired; then the
            first call that I would not have made, and who brought its arguments in. The deciding question is what the model was sent at
            that step. If the fact was in there, look at the prompt and the model; if not, at the harness, the tool or what trims the list.
            One case here had the same wrong answer on two days with two different faults, which no answer could have told. Then one change,
            a replay of the recorded run, and the first difference.""",
        follow_up="How do you keep it from coming back?",
        follow_up_answer="The run becomes a test with its replies fixed, and the task joins the eval set before anything is mended.",
        trap="\"I would improve the prompt\", before anybody has looked at what the model saw."),
    Question(
        "art-08", "09", "What can go wrong when a reply holds several tool calls?",
        points=("a lost, missing or repeated id", "results in the order of finishing", "one failure that takes its siblings along",
                "races: two writes, or a write and a read of one thing", "limits that count steps only"),
        answer="""Five things. Ids: each call needs exactly one result under its id, and some servers leave ids out or repeat them. Order:
            results join in call order; matched by position, our list was valid and named the wrong order as late. Failure: a bad call must
            cost one error text and not the others' results. Races: two payments that read one balance of 100 together paid out 80 and left
            50 in the books, without any error. So only tools marked as safe run beside each other, and each other call is a barrier.
            Limits: one reply may hold fifty calls, so they are counted too.""",
        follow_up="How do you enforce an order between two calls?",
        follow_up_answer="Not by hoping. Make them one tool, check inside the second, or allow one call per reply in that task.",
        trap="Believing that the model understands the order. It wrote a list, it promised nothing."),
    Question(
        "art-09", "02", "What exactly does the model return when it calls a tool, and who runs it?",
        points=("an id, a name, arguments as text", "it never saw the function", "your code parses, checks, looks up, runs, appends",
                "every failure becomes the result of that call"),
        answer="""Data, and nothing has happened yet. The reply carries for each call an id, the name of a tool and its arguments, in
            OpenAI's shape as JSON text. The model chose by name, description and schema; the function itself it never saw. My code parses
            the text strictly, checks it against the schema and my own rules, looks the name up in the registry, perhaps asks a person, and
            only then calls the function. The result goes back under the same id. If any of this fails, the error is the result. That gap
            between asking and doing is where every safety rule lives.""",
        follow_up="May there be text as well as calls?",
        follow_up_answer="Yes, and several calls. So look for calls first; a reply is final when it has none.",
        trap="\"The model calls the API.\" It writes a request."),
    Question(
        "art-10", "05", "A tool call fails. What does the harness do, and does the wording of the error matter?",
        points=("the call gets exactly one result: a text", "the text says what was wrong and what a correct call looks like",
                "a raised exception becomes one line, the traceback goes to the log", "it is counted, and the loop goes on",
                "the wording decides whether it is repaired"),
        answer="""The loop goes on. A name that does not exist, arguments that do not fit, a function that raises: each becomes one text,
            the result of that call. It says what was wrong, shows the input in short, and says what a correct call looks like. Tracebacks
            stay in the log. The error is counted, so a limit ends a run of them. The wording decides: of 120 stand-ins a bare code let 7
            repair their call, the plain fault 73, and the fault with what is expected 119, for about half the tokens, since a wrong guess
            costs a whole call. An error text is a prompt.""",
        follow_up="When do you not ask the model at all?",
        follow_up_answer="When waiting may mend it: a time-out or a rate limit the harness tries again itself, if repeating is safe.",
        trap="An empty text or `ok` from the exception handler: the model reports a success that never was."),
    Question(
        "art-11", "00", "Two products use the same model and behave very differently. Why?",
        points=("agent = model + harness", "other tools and descriptions, other context", "other limits, errors, approvals",
                "so mend the harness before you change the model"),
        answer="""Because the model is the smaller part of what differs. A product is the model plus a harness: the system text, which tools
            are offered and how they are described, what of the history is sent, how an error is worded, what is retried, which limits end a
            run, where a person is asked. The model reads one text and writes one; what it reads, the harness decides. In this course a
            better description, a better error text or a smaller result changes the outcome with the same stand-in. So with a weak agent I
            look at what the model was sent before I pay for a larger one.""",
        follow_up="How would you find out which part it is?",
        follow_up_answer="Record what each of them sends for the same task, exchange one part at a time, and run the same task set.",
        trap="Explaining each failure by the model."),
    Question(
        "art-12", "23", "Write an agent loop without a framework, in 45 minutes. In which order do you work, and what do you say?",
        points=("say the limits and the message list first", "a scripted model, then the loop that answers and stops",
                "errors as text, allow-list and schema", "ids and several calls", "a run that is stopped and says why"),
        answer="""I say the contract first: a list of messages, a dictionary of tools, a model that is a function, and a run that ends with
            a status. Then a scripted model, so that I can run from the first minute. Then the loop in four moves with a step limit, and a
            test that it stops. Then `execute`, which never raises: unknown name, bad JSON, schema, exception. Then all calls of a reply
            with their ids. Then the budget, asked before the call, and the repeat check. I keep the last minutes for one run that goes
            wrong on purpose, and say what I left out: retries, approval, a record on disk.""",
        follow_up="What would you cut if the time runs out?",
        follow_up_answer="Parallel running, streaming, nice classes. Never the step limit, the error texts, or the order of the messages.",
        trap="Beginning with classes and configuration, and never running anything."),
    Question(
        "art-13", "24", "Design a customer support agent.",
        points=("requirements first: tasks, volume, cost of a mistake, measure of success", "workflow for known tickets, agent for the rest",
                "few tools with schemas; approval where money moves", "limits with reasons, memory, failure table", "an eval set and a cost sheet"),
        answer="""First what it must do, how often, and what a mistake costs; then how I would know that a ticket is solved, from the books.
            Tickets whose path can be drawn go to a workflow, the rest to an agent, and both can hand over to a person. Tools: read an
            order, find orders, read a rule, refund, change an address, answer, hand over; each with one job and typed arguments. The agent
            can only read and ends in a proposal; money moves in one place, behind rules in code and a person above an amount. Limits come
            from good runs. Then a table of failures, an eval set and a cost sheet. In our example wrong refunds cost 400 times what the
            model did.""",
        follow_up="What do you build in the first week?",
        follow_up_answer="""The task set and the check of the books, then the workflow for the most frequent kind, with a person behind
            every refund.""",
        trap="Drawing five agents that talk to each other before anybody has asked what a ticket looks like."),
    Question(
        "art-14", "15", "Workflow or agent: how do you decide, and when do you build neither?",
        points=("can the steps be drawn in advance", "workflow: cheaper, faster, testable, fewer decisions",
                "agent: the next step depends on what the last found", "mostly both: an agent for what leaves the path",
                "neither: one prompt does it, or a bad result cannot be told or reviewed"),
        answer="""I try to draw the steps. If they can be drawn, code is the path and a model fills in checked steps: cheaper, faster,
            testable. If the next step depends on what the last one found, it is an agent, with limits. On our queue the agent took 22 times
            the tokens and solved 88 % where the workflow solved 72 %; on known paths the workflow was better, since it makes fewer
            decisions. The two together solved as many as the agent for a third of the price, with more done wrong. I build none when one
            prompt is enough, when a mistake is dear and nobody looks, when the answer must come at once, or when nobody can tell a good
            result from a bad one.""",
        follow_up="Your workflow now has forty branches.",
        follow_up_answer="Then it no longer fits on the board. Keep the branches that carry traffic, and send the rest to an agent or a person.",
        trap="Choosing an agent because the task sounds hard. Hard steps on a known path are still a workflow."),
    Question(
        "art-15", "07", "An action needs a person's approval, and the person answers tomorrow. How does the agent wait?",
        points=("it does not wait: stopping is an exit with a checkpoint", "the exact call is shown; the decision is bound to it, used once",
                "nothing of the batch runs before all are decided", "a no goes back as the result, with its reason",
                "any process resumes from the record"),
        answer="""It does not wait, it stops. Asking is an exit: the run is on record with the call that waits, and the process may end. The
            person sees name and arguments. The decision is bound to exactly those, is used once, and whatever is not a plain yes is a no.
            If the reply holds several calls, nothing runs before all that wait are decided: a mail that announces the refund could not be
            called back. Then any process reads the record and goes on. A yes runs the call; a no becomes its result, with the reason, and
            the model looks for another way: in our run, a voucher.""",
        follow_up="Somebody clicks twice, or two people click at once.",
        follow_up_answer="Going on is a write that only one can make. The second is told so, and nothing is paid twice.",
        trap="Binding the decision to the call's id alone, so that other arguments can run than were shown."),
    Question(
        "art-16", "20", "Each step is right 95 % of the time. Why does a 20-step agent mostly fail?",
        points=("a task needs all its steps; probabilities multiply", "0.95 to the power of 20 is 36 %; 10 steps: 60 %",
                "better steps alone do not get there: 99.74 % would be needed", "a bad step that is seen can be repaired",
                "p^n assumes independent, fatal errors"),
        answer="""Because a task needs every step, and probabilities multiply: 0.95 to the power of 20 is 36 %, of 10 it is 60 %. Even 99 %
            a step gives 90 % over ten. To have 95 % of the tasks arrive over 20 steps, a step would need 99.74 %, and no prompt gets there.
            So I do not ask for perfect steps but that bad ones are noticed and mended: schema checks, readable errors, tests. In our run on
            the real loop one readable error text in place of `400` took 300 tasks from 106 that arrived to 223. And I make the task
            shorter.""",
        follow_up="Does p^n hold for real agents?",
        follow_up_answer="""Roughly. Steps are not independent, and easy tasks carry the average, so more tasks arrive than it says; the
            failures crowd into the hard ones.""",
        trap="Reporting the reliability of a step as if it were that of the task."),
    Question(
        "art-17", "11", "You have a loop of 150 lines. What is still missing for production?",
        points=("real token counts from the reply", "several calls in a reply, by id", "time-outs and retries that pay once",
                "a saved record of every step", "an eval set"),
        answer="""The loop stays as it is; things come around it. Counts come from the usage in the reply, cached tokens in a bucket of
            their own, and an estimate only asks whether the next call fits. A reply may hold several calls, so there is one result per call
            under an id that the harness has made unique. Tools get time-outs; transient failures are tried again with backoff and jitter,
            writes only with an idempotency key. Every event is on record, so runs can be read, resumed and replayed. And there is a set of
            tasks with checks of the outcome. Then approval for what moves money, and a cap at the provider.""",
        follow_up="Which of them first?",
        follow_up_answer="The record: without it the other four cannot be seen to fail.",
        trap="Beginning with a larger model or a second agent."),
    Question(
        "art-18", "17", "When would you let the model plan first?",
        points=("the steps can be known before the first result", "the world holds still meanwhile", "a person or a strong planner gains from it",
                "results stay out of later prompts: fewer tokens, more calls", "else ReAct: one call more for a surprise"),
        answer="""When the steps can be known before the first result, when the world holds still while I work, and when somebody gains from
            seeing the plan: a person who approves it, or a strong model that plans for a cheap one. It also keeps results out of later
            prompts. Ten fetches with results of 200 tokens took 22 calls and 9,715 tokens, where step by step took 11 calls and 13,262.
            Where the next step hangs on what was found, or things move, I decide step by step: a surprise costs one call there, and in a
            plan a failed step and a new plan.""",
        follow_up="And with short results?",
        follow_up_answer="Then step by step is cheaper as well: there is little to keep out of the prompts, and the plan has twice the calls.",
        trap="Calling a list in the prompt a plan. It must be data that can be checked, counted and resumed."),
    Question(
        "art-19", "18", "Does it help to let the model review its own work?",
        points=("as much as the critic sees", "criteria written down, in code where possible",
                "a cap, the best draft kept, and said whether it passed",
                "the second draft buys most, a coin buys nothing"),
        answer="""As much as the reviewer sees. I write criteria down, check in code what code can check, and give the rest to a separate
            call that sees only criteria and draft. Half of the drafts good, a critic that misses 20 % and doubts 10 %: three reviews make
            75 % of the answers good, for 3.3 calls in place of one. One that decides like a coin leaves it at 50 % for the same price. The
            number of reviews is capped, the best draft is kept, not the last, and a draft that did not pass is reported as such: our
            endless one went on for 30 drafts, and the second had been the best.""",
        follow_up="How many rounds?",
        follow_up_answer="Two or three. A single review changes nothing but what you know, and each further one buys less than the one before.",
        trap="\"Until it is satisfied.\" It shares the author's blind spots, and passed is not good."),
    Question(
        "art-20", "00", "What is an agent, in two sentences? And what is it not?",
        points=("a model in a loop with tools; it chooses the next step by what it sees", "the harness keeps list, permissions and exits",
                "a workflow with a model in one step is none", "a chatbot that describes work is none"),
        answer="""A model in a loop with tools: it reads the list, answers or asks for a tool, my code checks and runs that, appends the
            result and asks again. So an agent is a model plus a harness, and the harness owns memory, permissions and every exit. What it
            is not: a chat that describes what should be done, since nobody does it; and a workflow in which a model fills in one step,
            since there my code chooses the path. The difference shows with the customer who gave no order id: the fixed path fails, while
            the agent looks for her orders, reads both and refunds the late one.""",
        follow_up="Does more autonomy make it a better product?",
        follow_up_answer="Only where the path cannot be known. Elsewhere it costs tokens, time and tests.",
        trap="Saying that the model acts. It asks, and your code decides."),
    Question(
        "art-21", "06", "Do you check the budget before the model call or after it?",
        points=("after: no counter needed, but the run overshoots by a call", "before: count the list and refuse what no longer fits",
                "with a reserve for the reply: never over", "the price is what stays unspent; the provider gets the same maximum"),
        answer="""Before, with a reserve. After the call I know the exact price and have paid it: all of our 200 runs with a budget of
            10,000 tokens ended over it. Before it I count the list and do not send what no longer fits; then a run can only go over by its
            last reply, as a few of the 200 did. If I also keep back room for the largest reply, it never goes over. The price is what stays
            unspent, 1,662 tokens on average. The promise is as good as my counter, and the provider must get the same maximum. A second cap
            stands outside my code, at the provider.""",
        follow_up="You have no token counter. What do you do?",
        follow_up_answer="Ask after the call, and set the budget lower by the largest call you expect.",
        trap="A step limit as the only budget. A single result can be larger than all steps together."),
    Question(
        "art-22", "02", "What makes a good tool for a model?",
        points=("one clear job", "a description that says when to use it", "typed arguments with choices and bounds",
                "short results with what is needed", "errors that say how to fix the call"),
        answer="""It is an interface for a reader who guesses. One job, so that its arguments can be required. A description that says when
            to use it, in the words of the request: among 240 stand-ins 191 picked right where it said when, 129 where it said what. Typed
            arguments with choices and bounds, so that a bad call is refused and does not do something else. A short result: it is sent
            again in every later step, and lookalike fields get misread. Errors that name the argument and show the form. And few of them,
            far apart. Then I count on real requests, since the stand-ins show how a rule works and not how much a model gains.""",
        follow_up="Two tools keep being mixed up. What do you change?",
        follow_up_answer="Merge them, or make the descriptions differ where the requests differ. More text in both seldom helps.",
        trap="Describing what the code does inside. Customers do not speak the words of the back office."),
    Question(
        "art-23", "14", "What does MCP change in an agent, and when is it worth it?",
        points=("nothing in the loop; tools come from elsewhere", "list, schema and calls over one protocol, by pipe or HTTP",
                "worth it when several apps share tools or others own them", "its descriptions reach the model: trust is a decision"),
        answer="""In the loop, nothing. It changes where tools come from. The owner of a system runs a server; my app keeps a client for
            each and asks for the list of names, descriptions and schemas. They go into my registry under a prefix, and the function behind
            each sends the call and turns the answer into text. Limits, errors, approvals and record stay mine. It is worth it when several
            apps use the same tools, or when somebody else owns them: ten apps and twenty systems are 200 integrations, or 30 with one
            agreement in the middle. For one app with a few functions, plain functions are simpler.""",
        follow_up="What do you look at before you connect a stranger's server?",
        follow_up_answer="Each description and what each tool may do. Then an allow-list, pins against changes, and approval for all that writes.",
        trap="\"MCP lets the model call tools.\" The host still runs them, and answers for it."),
    Question(
        "art-24", "12", "The model forgets everything between calls. Which kinds of memory do you build, and what does each forget?",
        points=("the list itself, cut by whole steps", "summaries in place of old steps: details go", "files: what is worth keeping, but read whole",
                "retrieval: what matches the words asked for", "send what the next step needs, little else"),
        answer="""The list is the first memory, and it ends at the window. Then three kinds. A summary takes the place of old steps: it
            keeps what its writer found important. Files outlive the run: the model reads and writes them through tools, inside one folder,
            and a long one is cut at the cap on a result. Retrieval keeps thousands of notes and inserts those that match; ours searched
            words and missed every fourth old fact, which was asked for in other words. Of 36 facts under one window, the last steps alone
            answered 15, a summary 25, files 29, retrieval 30. More is not better: long lists cost, and real models lose facts in them.""",
        follow_up="Where do you put a rule that must never be lost?",
        follow_up_answer="In the system text, which no cut may touch, or in code. Not in a summary and not in a note.",
        trap="Believing that a larger window is a memory. It ends too, and is paid for in every call."),
    Question(
        "art-25", "22", "Which mistakes does no framework take off your hands?",
        points=("bad descriptions and schemas", "results that are too large or say too little", "limits that nobody set",
                "deciding what may run: the permission is yours"),
        answer="""Those of content. A framework can send my schemas, but a vague description still gets the wrong tool picked. It can carry
            results, but a record of two hundred tokens still hides the one field that was needed, and is paid for in each later call. It
            may have limits, but the numbers are mine, and so is the default: of seven harnesses that we recorded with their defaults, two
            were not stopped within 150 calls, and some answer a limit with an exception and some with a value. And it runs what it is
            given: which tools exist in this run, which arguments are allowed, who is asked, is a decision about my business that no library
            can take.""",
        follow_up="Would you still use one?",
        follow_up_answer="Yes, for adapters, streaming, storage, tracing. After I have seen what it sends and what it does in the bad cases.",
        trap="Debugging the framework before reading the list that was sent."),
)
