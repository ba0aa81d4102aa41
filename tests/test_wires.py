"""The exchanges of notebook 11: what is shown stands on the wire, and every wire gives the same Reply."""

import json
import re

import pytest

from agentkit.course import wire_views as views
from agentkit.course import wires
from agentkit.providers import serve
from test_server import ask

each_api = pytest.mark.parametrize("api", wires.APIS)
each_kind = pytest.mark.parametrize("kind", wires.KINDS)


@each_api
@each_kind
def test_every_wire_gives_the_same_reply(api, kind):
    expected = wires.gist(wires.KINDS[kind])
    assert wires.gist(wires.exchange(api, kind).reply) == expected
    for size in range(1, 30):
        assert wires.gist(wires.exchange(api, kind, True, size).reply) == expected


@each_api
@each_kind
def test_the_server_says_the_same_to_the_same_request(api, kind):
    """The exchange is pure, and yet what really goes over the wire."""
    with serve([wires.KINDS[kind]]) as server:
        found = wires.exchange(api, kind)
        assert ask(server.url, found.path, found.request)[:2] == (200, found.answer)


@each_api
def test_smaller_pieces_are_more_events(api):
    sizes = [len(wires.exchange(api, "two calls", True, size).events) for size in (1, 8, 24)]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == 3


def test_what_stands_side_by_side_is_found_at_its_place():
    for what, way, found in wires.places():
        assert len(found) == 3 and way in ("up", "down")
        for api, (path, value) in found.items():
            body = wires.exchange(api, "a text").request if way == "up" else wires.exchange(api, "one call").answer
            assert json.dumps(value) in json.dumps(body), (what, api, path)
    assert views.side_by_side().count("<tr>") == len(wires.PLACES) + 1


@pytest.mark.parametrize("value", [{}, [], "x", {"a": [1, {"b": None}], "ü": "long " * 30}, [[[]]], {"a": {"b": {"c": ["d"] * 20}}}])
@pytest.mark.parametrize("width", [1, 20, 60, 1000])
def test_spread_is_the_same_json(value, width):
    assert json.loads(wires.spread(value, width)) == value


def test_spread_keeps_to_the_width_where_it_can():
    body = wires.exchange("Chat Completions", "two calls").answer
    assert max(map(len, wires.spread(body, 90).splitlines())) <= 90
    assert wires.spread({"a": 1}) == '{"a": 1}' and wires.spread({"a": 1, "b": 2}, 8) == '{"a": 1,\n "b": 2}'


@each_api
@each_kind
@pytest.mark.parametrize("streamed", [False, True])
def test_the_view_shows_the_reply_and_both_ways(api, kind, streamed):
    html, reply = views.view(api, kind, streamed, 3), wires.KINDS[kind]
    assert ("POST /v1/" in html) and ("events," in html) is streamed and ("one piece" in html) is not streamed
    assert ("truncated" in html) is reply.truncated and ("nothing of it runs: refused" in html) is reply.refused
    assert html.count("<div") == html.count("</div>") and html.count("<td") == html.count("</td>")
    assert views.spoken(api, kind, streamed, 3).startswith(f"The reply '{kind}' from {api}")
    assert len(views.shown(wires.exchange(api, kind, streamed, 1))) <= 14


@each_api
def test_no_piece_of_a_stream_is_counted_away(api):
    told = views.shown(wires.exchange(api, "two calls", True, 1))
    more = next(line for line in told if line.startswith("..."))
    assert len(told) - 1 + int(re.search(r"\d+", more)[0]) == len(wires.exchange(api, "two calls", True, 1).events)
