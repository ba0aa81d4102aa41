"""The small shop that the notebooks share: orders, tools over them, and stand-ins for the model.

Everything here is made up and runs offline. A stand-in is a plain function in the place of a model: it shows what a
harness does with a reply; it cannot show how well a real model chooses.
"""

import ast
import json
import operator

from agentkit.messages import Reply, call
from agentkit.tools import tool

ORDERS = {
    "A123": {"item": "keyboard", "unit_price": 2500, "qty": 2, "days_late": 0},
    "B456": {"item": "monitor", "unit_price": 14000, "qty": 1, "days_late": 6},
    "C789": {"item": "cable", "unit_price": 300, "qty": 4, "days_late": 0},
}
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

    return [get_order, calculator, refund_order], refunds


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


def refund_model(order_id):
    """A stand-in for "if the order is late, refund it": looks first, then decides by what it saw."""
    def model(messages, tools):
        name, text = last_result(messages)
        if name is None:
            return Reply(tool_calls=call("get_order", order_id=order_id))
        if name == "refund_order":
            return Reply(f"Order {order_id} was late; {json.loads(text)['refunded']} rupees were refunded.")
        late = json.loads(text)["days_late"]
        if late:
            return Reply(tool_calls=call("refund_order", order_id=order_id))
        return Reply(f"Order {order_id} is not late, so nothing was refunded.")
    return model
