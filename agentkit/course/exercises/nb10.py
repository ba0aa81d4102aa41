"""The exercises of notebook 10, retries."""

import inspect

from ..exercise import Case, Exercise, Trap

TITLE = "Retries"

# ---- 10-1: how long to wait ------------------------------------------------------------------------------------------------

_DELAY_STUB = '''
def delay(attempt, base, cap, retry_after, random):
    """Seconds to wait when attempt number `attempt` (1, 2, 3 ...) has failed.

    base         the wait after attempt 1; it doubles with every attempt
    cap          the longest wait of your own choice, before jitter
    retry_after  seconds that the server asks for; None where it says nothing. It may be above the cap
    random       random() is a number from 0 up to 1: the share of the wait that is added as jitter
    """
    ...
'''
_DELAY = '''
def delay(attempt, base, cap, retry_after, random):
    """Seconds to wait when attempt number `attempt` has failed."""
    wait = min(cap, base * 2 ** (attempt - 1))
    wait = max(wait, retry_after or 0)
    return wait * (1 + random())
'''


class _Chance:
    """A random() that gives one number, and is shown as one would write it."""

    def __init__(self, value):
        self.value = value

    def __call__(self):
        return self.value

    def __repr__(self):
        return f"lambda: {self.value:g}"


def _delay_body(lines):
    return "def delay(attempt, base, cap, retry_after, random):\n" + "".join(f"    {line}\n" for line in lines.split("\n"))


def _delay_cases(rng):
    base, cap = rng.choice((1, 2, 3)), rng.choice((20, 25, 30))
    asked, chance = rng.randrange(45, 70), rng.choice((0.25, 0.5, 0.75))
    none, some = _Chance(0.0), _Chance(chance)
    return [
        Case((1, base, cap, None, none), base, because="the first wait is `base`: attempt 1 has doubled nothing yet"),
        Case((2, base, cap, None, none), 2 * base, because="each wait is twice the one before"),
        Case((4, base, cap, None, none), min(cap, 8 * base), because="1, 2, 4, 8 times the base: it doubles, it does not grow by steps of the base"),
        Case((12, base, cap, None, none), cap, because="nobody waits an hour: your own wait ends at the cap"),
        Case((2, base, cap, None, some), 2 * base * (1 + chance), because="jitter is a share of the wait, and it is added"),
        Case((12, base, cap, None, some), cap * (1 + chance), because="jitter comes after the cap, or everybody at the cap waits the same again"),
        Case((1, base, cap, 10, none), 10, because="the server has said when: not before that"),
        Case((12, base, cap, 2, none), cap, because="Retry-After is a floor, not the wait itself: where your own wait is longer, it stays"),
        Case((1, base, cap, asked, none), asked, because="the cap is for your own waits; coming back before the time that the server named is one more refusal"),
        Case((1, base, cap, 10, some), 10 * (1 + chance), because="everybody was told the same number of seconds: without jitter on top of it all come back together"),
        Case((1, base, cap, 0, none), base, because="a server that asks for 0 s asks for nothing"),
    ]


# ---- 10-2: worth a second try? ---------------------------------------------------------------------------------------------

class HTTPError(Exception):
    """What the HTTP clients of this course raise; most real ones look like it."""

    def __init__(self, status_code, text=""):
        super().__init__(f"{status_code} {text}".strip())
        self.status_code = status_code


_WORTH_STUB = '''
def worth_retrying(error):
    """True when the same call may work in a moment.

    `error` is an exception. One that comes from an HTTP answer has the attribute `status_code`.
    """
    ...
'''
_WORTH = '''
def worth_retrying(error):
    """True when the same call may work in a moment."""
    status = getattr(error, "status_code", None)
    if status is not None:
        return status in (408, 425, 429) or (status >= 500 and status != 501)
    return isinstance(error, (TimeoutError, ConnectionError))
'''


def _worth_body(lines):
    return "def worth_retrying(error):\n" + "".join(f"    {line}\n" for line in lines.split("\n"))


def _worth_case(make, expect, because):
    return Case(lambda: (make(),), expect, because=because)


def _worth_cases(rng):
    n = rng.randrange(100, 900)
    return [
        _worth_case(lambda: TimeoutError(f"no answer about A{n}"), True, "nobody answered in time: the next answer may come"),
        _worth_case(lambda: ConnectionResetError("reset by peer"), True, "the connection broke; a new one may hold. ConnectionError has several children"),
        _worth_case(lambda: ConnectionRefusedError("refused"), True, "a server that restarts refuses connections for a moment"),
        _worth_case(lambda: HTTPError(429, "Too Many Requests"), True, "429 is a 4xx, and it says: later"),
        _worth_case(lambda: HTTPError(rng.choice((500, 502, 503)), "Server Error"), True, "5xx: the server is unwell, and your request may be fine"),
        _worth_case(lambda: HTTPError(408, "Request Timeout"), True, "408: the server waited too long for the request; send it again"),
        _worth_case(lambda: HTTPError(400, "Bad Request"), False, "the request itself is wrong, and will be wrong next time"),
        _worth_case(lambda: HTTPError(rng.choice((401, 403)), "not allowed"), False, "no waiting gives you a permission"),
        _worth_case(lambda: HTTPError(404, f"no order A{n}"), False, "the order is not there, and asking again does not put it there"),
        _worth_case(lambda: HTTPError(501, "Not Implemented"), False, "501: this server cannot do that, today or tomorrow"),
        _worth_case(lambda: KeyError(f"A{n}"), False, "a mistake in the call: the model has to change it"),
        _worth_case(lambda: ValueError("timeout must be a number"), False, "the word timeout in a message makes no time-out: look at the type, not at the text"),
        _worth_case(lambda: FileNotFoundError(2, "No such file or directory"), False, "an OSError, like a broken connection; but a missing file stays missing"),
        _worth_case(lambda: PermissionError(13, "Permission denied"), False, "an OSError, like a broken connection; but no waiting gives you a permission"),
        _worth_case(KeyboardInterrupt, False, "Ctrl-C is a person who wants it to stop"),
    ]


# ---- 10-3: find the bug ----------------------------------------------------------------------------------------------------

def _is(letter):
    return lambda value, args: str(value).strip().lower() == letter


EXERCISES = [
    Exercise(
        id="10-1", title="How long to wait", difficulty=2, minutes=8, name="delay", stub=_DELAY_STUB, solution=_DELAY, cases=_delay_cases,
        task="Write `delay(attempt, base, cap, retry_after, random)`: backoff, cap, Retry-After as a floor, jitter that only adds. Three lines; the order of them is the exercise.",
        hints=["Three numbers, one after the other: your own wait, then what the server asks for, then chance.",
               "The cap belongs to your own wait alone, so it comes first. The floor is a `max`. Jitter comes last, so that nothing can take it away again.",
               "`retry_after or 0` is a number in every case."],
        traps=[
            Trap(_delay_body("wait = max(min(cap, base * 2 ** (attempt - 1)), retry_after or 0)\nreturn wait * (0.5 + random())"),
                 "Your jitter goes both ways: half of the crowd comes back before the time that the server named, and is refused again. Jitter only adds."),
            Trap(_delay_body("wait = max(min(cap, base * 2 ** (attempt - 1)), retry_after or 0)\nreturn wait * random()"),
                 "A wait from 0 up to the full one is a known choice (full jitter), but it ignores every floor: the server said when, and you come at once. Add to the wait."),
            Trap(_delay_body("return min(cap, base * 2 ** (attempt - 1)) * (1 + random())"),
                 "You ignore Retry-After. The server knows when it has room, you only guess; coming sooner is one more refusal and often a longer ban."),
            Trap(_delay_body("wait = retry_after or min(cap, base * 2 ** (attempt - 1))\nreturn wait * (1 + random())"),
                 "You take Retry-After instead of your own wait. It is a floor: after many failures a server that says 2 s is still asked every 2 s."),
            Trap(_delay_body("wait = min(cap, max(base * 2 ** (attempt - 1), retry_after or 0))\nreturn wait * (1 + random())"),
                 "Your cap cuts off what the server asked for, so you come back before it is ready. The cap is for your own waits: cap first, floor after it."),
            Trap(_delay_body("wait = base * 2 ** (attempt - 1) * (1 + random())\nreturn max(min(cap, wait), retry_after or 0)"),
                 "Your jitter comes before the cap and the floor, and both take it away: everybody at the cap, and everybody with the same Retry-After, comes back together."),
            Trap(_delay_body("wait = min(cap, base * 2 ** (attempt - 1)) * (1 + random())\nreturn max(wait, retry_after or 0)"),
                 "Where Retry-After wins, your jitter is gone: a thousand clients that were told 10 s come back in the same second. Add the jitter after the floor."),
            Trap(_delay_body("wait = max(min(cap, base * 2 ** attempt), retry_after or 0)\nreturn wait * (1 + random())"),
                 "Attempts count from 1, so the first wait is base * 2 ** 0. Yours starts at twice the base."),
            Trap(_delay_body("wait = max(min(cap, base * attempt), retry_after or 0)\nreturn wait * (1 + random())"),
                 "Your wait grows by the base each time. It has to double: a server in trouble needs the crowd to thin out fast."),
            Trap(_delay_body("wait = max(base * 2 ** (attempt - 1), retry_after or 0)\nreturn wait * (1 + random())"),
                 "You have no cap: after twelve attempts the wait is over half an hour."),
            Trap(_delay_body("wait = max(min(cap, base * 2 ** (attempt - 1)), retry_after)\nreturn wait * (1 + random())"),
                 "Most servers say nothing, and then retry_after is None, which cannot be compared with a number."),
            Trap(_delay_body("wait = max(min(cap, base * 2 ** (attempt - 1)), retry_after or 0)\nreturn wait + random()"),
                 "One second of jitter is little beside a wait of thirty. Make it a share of the wait, so that the spread grows with it."),
            Trap(_delay_body("return max(min(cap, base * 2 ** (attempt - 1)), retry_after or 0)"),
                 "There is no jitter in it. All who failed together come back together."),
        ],
        after="Cap, floor, jitter, in this order. Every other order loses one of the three, and each of the lost ones has been somebody's outage."),
    Exercise(
        id="10-2", title="Is it worth a second try?", difficulty=2, minutes=7, name="worth_retrying", stub=_WORTH_STUB, solution=_WORTH, cases=_worth_cases,
        setup=inspect.getsource(HTTPError),
        task="Write `worth_retrying(error)` without looking above. Transient is what may pass by itself; permanent is what somebody has to change.",
        hints=["Two kinds of errors: those with an HTTP status, and those with a type only. Ask for the status first: getattr(error, \"status_code\", None).",
               "Among the statuses: most 5xx are transient and most 4xx are not. Name the exceptions.",
               "Among the types: which two builtin ones stand for the network? isinstance() knows their children, too."],
        traps=[
            Trap(_worth_body("return True"), "Everything is tried again: a wrong id is asked for four times, the model waits for all of it, and Ctrl-C is ignored."),
            Trap(_worth_body("return isinstance(error, Exception)"),
                 "Every Exception is tried again. A wrong argument stays wrong: you spend the waits and then tell the model what you knew at once."),
            Trap(_worth_body('status = getattr(error, "status_code", None)\nif status is not None:\n    return status >= 400\nreturn isinstance(error, (TimeoutError, ConnectionError))'),
                 "Every status from 400 on counts for you. 4xx means, with few exceptions, that the request is wrong, and it will be wrong next time."),
            Trap(_worth_body('status = getattr(error, "status_code", None)\nif status is not None:\n    return status >= 500 and status != 501\nreturn isinstance(error, (TimeoutError, ConnectionError))'),
                 "429 and 408 are 4xx, and still say: later. The rate limit is the error that retries were made for."),
            Trap(_worth_body('status = getattr(error, "status_code", None)\nif status is not None:\n    return status in (408, 425, 429) or status >= 500\nreturn isinstance(error, (TimeoutError, ConnectionError))'),
                 "501 is a 5xx that no waiting mends: the server does not know how to do this."),
            Trap(_worth_body('status = getattr(error, "status_code", None)\nif status is not None:\n    return status in (408, 425, 429) or (status >= 500 and status != 501)\nreturn isinstance(error, OSError)'),
                 "OSError is too wide. Time-outs and broken connections are OSErrors, but so are a missing file and a missing permission."),
            Trap(_worth_body('return "time" in str(error).lower() or "connection" in str(error).lower() or getattr(error, "status_code", 0) in (408, 429, 500, 502, 503)'),
                 "You look for words in the message. Messages change and are translated; the type and the status are what the error is."),
            Trap(_worth_body('status = getattr(error, "status_code", None)\nif status is not None:\n    return status in (408, 425, 429) or (status >= 500 and status != 501)\nreturn type(error) in (TimeoutError, ConnectionError)'),
                 "You compare the exact type. A refused or a reset connection is a child of ConnectionError: isinstance sees that."),
            Trap(_worth_body("return error.status_code in (408, 425, 429) or (error.status_code >= 500 and error.status_code != 501)"),
                 "Not every error has a status: a time-out is no answer at all. Your function raises inside of the error handling, and hides the error that it was asked about."),
            Trap(_worth_body('status = getattr(error, "status_code", None)\nreturn status is not None and (status in (408, 425, 429) or (status >= 500 and status != 501))'),
                 "You only know errors that come with a status. The commonest transient failures have none: nobody answered."),
        ],
        after="And what you do not know is permanent: a wrong retry can cost money, a missing one costs a step of the model."),
    Exercise(
        id="10-3", title="Find the bug in this trace", difficulty=2, minutes=5, stub="answer = ...      # one letter: a, b, c or d\n", solution='answer = "c"\n',
        value=True, cases=[Case(test=lambda value, args: None if _is("c")(value, args) else "one letter, the cause: read the column of keys from top to bottom")],
        task="The bank knows idempotency keys, the time-out was retried once, after a good wait. The customer got 14,000 twice. What is wrong?",
        hints=["How does the bank tell a second try from a second payment?", "What would the second row have to say for the bank to answer: I know that one, it is paid?"],
        traps=[
            Trap('answer = "a"\n', "A longer time-out makes it rarer and does not end it: an answer can be lost after any time.", when=_is("a")),
            Trap('answer = "b"\n', "A time-out is worth a second try, and with a key that would have been safe here. Look at what was sent the second time.", when=_is("b")),
            Trap('answer = "d"\n', "Jitter spreads a crowd. This is one client, and the bank was not busy.", when=_is("d")),
        ],
        after="The key was made inside the function that is retried, so each attempt had its own. A key names the intention: it is made once, outside of the retry, and kept "
              "with the call, so that even a restart sends the same one."),
]
