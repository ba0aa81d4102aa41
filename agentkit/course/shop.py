"""The small shop that the notebooks share: orders, tools over them, and stand-ins for the model.

Everything here is made up and runs offline. A stand-in is a plain function in the place of a model: it shows what a
harness does with a reply; it cannot show how well a real model chooses.
"""

import ast
import json
import operator
import re

from agentkit.messages import Reply, call
from agentkit.tools import tool

ORDERS = {
    "A123": {"item": "keyboard", "unit_price": 2500, "qty": 2, "days_late": 0},
    "B456": {"item": "monitor", "unit_price": 14000, "qty": 1, "days_late": 6},
    "C789": {"item": "cable", "unit_price": 300, "qty": 4, "days_late": 0},
    "D012": {"item": "chair", "unit_price": 6200, "qty": 1, "days_late": 4},
}
CUSTOMERS = {"Mira": ["C789", "D012"], "Tom": ["A123"]}
GST_TASK = "What does order A123 cost in total with 18% GST?"
SYSTEM = "You help the staff of a small shop. Look things up with the tools. Never guess."

_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_LARGEST = 10 ** 12


@tool
def get_order(order_id: str) -> dict:
    """Look up one order by its id. Use it before answering any question about an order.

    Args:
        order_id: such as A123
    """
    if order_id not in ORDERS:
        raise LookupError(f"no order {order_id}; ids look like A123")
    return ORDERS[order_id]


@tool
def calculator(expression: str) -> float:
    """Work out arithmetic such as 2500 * 2 * 1.18. Use it for every calculation.

    Args:
        expression: numbers with + - * / and brackets
    """
    if len(expression) > 200:
        raise ValueError("the expression is longer than 200 characters; split it")
    return round(_value(ast.parse(expression, mode="eval").body), 2)


def _value(node):
    """The value of a syntax tree of plain arithmetic. Never eval(): a model's text is data."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        result = node.value
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        result = _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        result = -_value(node.operand)
    else:
        raise ValueError("only numbers, brackets and + - * / are allowed")
    if abs(result) > _LARGEST:      # the size of a value is bounded, not the look of the text
        raise ValueError(f"a value above {_LARGEST:,} is no price")
    return result


@tool
def find_orders(customer: str) -> list:
    """List the ids of a customer's orders. Use it when you know a name but no order id.

    Args:
        customer: the first name, such as Mira
    """
    if customer not in CUSTOMERS:
        raise LookupError(f"no customer {customer}")
    return CUSTOMERS[customer]


def new_shop():
    """A shop of its own for one experiment: (tools, the list of refunds that were really made)."""
    refunds: list[str] = []

    @tool
    def refund_order(order_id: str) -> dict:
        """Pay the full price of one order back to the customer. Use it only after get_order has shown that the order is late.

        Args:
            order_id: such as A123
        """
        order = ORDERS[order_id]
        refunds.append(order_id)
        return {"refunded": order["unit_price"] * order["qty"]}

    return [get_order, find_orders, calculator, refund_order], refunds


# ---- stand-ins for the model -----------------------------------------------------------------------------------------

def last_result(messages):
    """(tool name, text) of the newest tool result, or (None, None)."""
    last = messages[-1]
    return (last["name"], last["content"]) if last["role"] == "tool" else (None, None)


def order_model(messages, tools):
    """Works out the price of order A123: starts with a wrong argument name, reads the error, and mends the call."""
    name, text = last_result(messages)
    if name is None:
        return Reply(tool_calls=call("get_order", id="A123"))
    if text.startswith("ERROR"):
        return Reply(tool_calls=call("get_order", order_id="A123"))
    if name == "get_order":
        order = json.loads(text)
        return Reply(tool_calls=call("calculator", expression=f"{order['unit_price']} * {order['qty']} * 1.18"))
    return Reply(f"Order A123 costs {text} rupees with 18% GST.")


def stuck_model(messages, tools):
    """Asks for the same unknown order for ever."""
    return Reply(tool_calls=call("get_order", order_id="Z999"))


def wandering_model(messages, tools):
    """Asks for another unknown order every time."""
    return Reply(tool_calls=call("get_order", order_id=f"Z{len(messages)}"))


def refund_model(messages, tools):
    """A stand-in for "if the order is late, refund it": looks, decides by what it sees, and finds its way from a name."""
    seen = {m["name"] for m in messages if m["role"] == "tool"}
    name, text = last_result(messages)
    subject = re.search(r"[A-Z]\d{3}|Mira|Tom", messages[-1]["content"] if name is None else _task(messages))[0]
    if name is None:
        return Reply(tool_calls=call("get_order", order_id=subject))
    if name == "get_order" and text.startswith("ERROR") and "find_orders" not in seen:
        return Reply(tool_calls=call("find_orders", customer=subject))
    if name == "find_orders" and not text.startswith("ERROR"):
        return Reply(tool_calls=[call("get_order", order_id=i) for i in json.loads(text)])
    if name == "get_order" and not text.startswith("ERROR"):
        late = [i for i, order in _looked_up(messages) if order["days_late"]]
        if late:
            return Reply(tool_calls=[call("refund_order", order_id=i) for i in late])
        return Reply("Nothing is late, so nothing was refunded.")
    if name == "refund_order" and not text.startswith("ERROR"):
        return Reply(f"The late order was refunded: {json.loads(text)['refunded']} rupees.")
    return Reply(f"I could not finish this: {text}")


def _task(messages):
    return next(m["content"] for m in messages if m["role"] == "user")


def _looked_up(messages):
    """(order id, order) of every order that the list shows."""
    asked = {c["id"]: json.loads(c["function"]["arguments"]) for m in messages for c in m.get("tool_calls", ())}
    return [(asked[m["tool_call_id"]]["order_id"], json.loads(m["content"])) for m in messages
            if m["role"] == "tool" and m["name"] == "get_order" and not m["content"].startswith("ERROR")]
