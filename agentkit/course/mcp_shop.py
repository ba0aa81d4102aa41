"""The shop as an MCP server on the official `mcp` package. Notebook 14 talks to it over a pipe and over HTTP.

`python -m agentkit.course.mcp_shop` speaks over stdin and stdout; with `--http` over Streamable HTTP on 127.0.0.1, at a
free port that it prints. `start()` and `over_http()` say and do the same for a notebook.
"""

import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from agentkit.course import shop

ROOT = str(Path(__file__).resolve().parents[2])
POLICY = "An order that is more than 3 days late may be refunded in full. Anything above 5,000 rupees needs a person."


def build():
    """The server: a tool, a resource and a prompt."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    server = MCPServer("shop", version="1.0", log_level="CRITICAL")

    @server.tool()
    def get_order(order_id: str) -> dict:
        """Look up one order by its id, such as A123."""
        if order_id not in shop.ORDERS:
            raise ToolError(f"no order {order_id}; ids look like A123")     # the text of any other exception is kept back
        return shop.ORDERS[order_id]

    @server.tool()
    def find_orders(customer: str) -> list[str]:
        """List the ids of a customer's orders, by first name."""
        return shop.CUSTOMERS.get(customer, [])

    @server.resource("shop://returns", name="returns")
    def returns() -> str:
        """What the shop promises about late orders."""
        return POLICY

    @server.prompt()
    def late_order(order_id: str) -> str:
        """Ask whether an order is late and what the customer is owed."""
        return f"Is order {order_id} late? Say what the customer is owed by the returns policy."

    return server


def start() -> dict:
    """What connect() takes to start it: connect(**start(), prefix="shop")."""
    return {"command": sys.executable, "args": ["-m", "agentkit.course.mcp_shop"], "env": {"PYTHONPATH": ROOT}}


@contextmanager
def over_http():
    """The server in a process of its own, on a free port of 127.0.0.1; gives its URL."""
    how = start()
    process = subprocess.Popen([how["command"], *how["args"], "--http"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT)
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def main(arguments) -> None:
    if "--http" not in arguments:
        build().run()
        return
    import uvicorn

    door = socket.socket()
    door.bind(("127.0.0.1", 0))
    door.listen()               # whoever reads the port may knock at once
    print(door.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(build().streamable_http_app(), log_level="critical")).run(sockets=[door])


if __name__ == "__main__":
    main(sys.argv[1:])
