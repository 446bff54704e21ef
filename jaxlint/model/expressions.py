"""Expressions: from a syntax node to a value."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import libcst as cst

from jaxlint.knowledge import has_row
from jaxlint.model import shapes
from jaxlint.model.objects import AT_VIEW, Objects
from jaxlint.model.state import Contents, State, fresh, join_states, join_values
from jaxlint.model.values import (
    NONE,
    UNKNOWN,
    AnyArray,
    Array,
    Class,
    Constant,
    Function,
    Imported,
    Iterator,
    Key,
    Keys,
    Library,
    NumpyArray,
    Partial,
    Ref,
    Reference,
    Scalar,
    Transformed,
    Tuple,
    Unknown,
    Value,
)

BUILTINS = frozenset(dir(builtins))
BUILTIN_CONSTANTS: dict[str, Value] = {
    "None": NONE,
    "True": Constant(value=True),
    "False": Constant(value=False),
}
MAX_CONSTANT = 1 << 62

BINARY: dict[type[cst.CSTNode], Callable[[Any, Any], Any]] = {
    cst.Add: operator.add,
    cst.Subtract: operator.sub,
    cst.Multiply: operator.mul,
    cst.Divide: operator.truediv,
    cst.FloorDivide: operator.floordiv,
    cst.Modulo: operator.mod,
    cst.BitAnd: operator.and_,
    cst.BitOr: operator.or_,
    cst.BitXor: operator.xor,
}
COMPARE: dict[type[cst.BaseCompOp], Callable[[Any, Any], Any]] = {
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
}
ORDERINGS = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
# Never None, whatever else is unknown about them.
NOT_NONE = (AnyArray, Key, Keys, Tuple, Reference, Function, Class, Scalar, Imported, Library, Iterator,
            Ref, Transformed, Partial)  # fmt: skip


# Names that are no aliases of each other: what code for both NumPy and JAX asks about.
DISTINCT = frozenset(
    {"numpy", "jax.numpy", "numpy.ndarray", "jax.Array", "builtins.list", "builtins.tuple", "builtins.dict"}
)
# Where a use of a key may hide.
MAY_CALL = (cst.Call, cst.BooleanOperation, cst.BinaryOperation, cst.UnaryOperation, cst.IfExp)
IDENTITY = (cst.Is, cst.IsNot, cst.Equal, cst.NotEqual)


class Expressions(Objects):
    """Evaluates expressions. `visit` goes to `visit_<NodeType>`."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.stars: list[str] = []
        self._visitors: dict[type[cst.CSTNode], Callable[[Any], Any]] = {}

    def visit(self, node: cst.CSTNode) -> Value:
        kind = type(node)
        visitor = self._visitors.get(kind)
        if visitor is None:
            visitor = self._visitors[kind] = getattr(self, "visit_" + kind.__name__, self.visit_other)
        value: Value = visitor(node)
        return value

    def visit_other(self, node: cst.CSTNode) -> Value:
        return UNKNOWN

    # --- what the other parts provide ---

    def kept(self, values: Iterable[Value]) -> None:
        """Something else holds these arrays from now on."""
        raise NotImplementedError

    def run_loop(
        self,
        node: cst.CSTNode,
        start: Callable[[int], None],
        body: Callable[[], None],
        passes: int,
        orelse: cst.Else | None = None,
        surely: bool = False,
    ) -> None:
        """Run `body` as the body of a loop."""
        raise NotImplementedError

    def bind(self, target: cst.CSTNode, value: Value, source: cst.CSTNode | None = None) -> None:
        """Assign `value` to a target."""
        raise NotImplementedError

    # --- leaves ---

    def visit_Name(self, node: cst.Name) -> Value:
        name = node.value
        value = self.state.names.get(name)
        if value is None:
            value = self.free_name(name)
            if value is None:
                if name in BUILTINS:
                    return BUILTIN_CONSTANTS.get(name) or Imported(path="builtins." + name)
                for module in self.stars:
                    if has_row(module, name):
                        return self.resolve(f"{module}.{name}")
                return Unknown(symbol=("global", name))
        if isinstance(value, Array) and value.identity is not None:
            self.reads[value.identity] = fresh()[0]
        return value

    def free_name(self, name: str) -> Value | None:
        """What a name is in the functions round this one, and in the module."""
        frame = self.frame.nonlocals.get(name, self.frame.parent)
        while frame is not None:
            value = frame.names.get(name)
            if value is not None:
                if self.recorders and frame is self.globals:
                    self.recorders[-1].free[name] = value
                return value
            frame = frame.parent
        return None

    def visit_Integer(self, node: cst.Integer) -> Value:
        return Constant(value=int(node.value, 0))

    def visit_Float(self, node: cst.Float) -> Value:
        return Constant(value=float(node.value))

    def visit_Imaginary(self, node: cst.Imaginary) -> Value:
        return Constant(value=node.evaluated_value)

    def visit_SimpleString(self, node: cst.SimpleString) -> Value:
        text = node.value
        quote = text[0]
        if "\\" not in text and quote in "\"'":  # most are plain, and evaluating takes its time
            size = 3 if text.startswith(quote * 3) else 1
            return Constant(value=text[size:-size])
        try:
            return Constant(value=node.evaluated_value)
        except (SyntaxError, ValueError):
            return Scalar(type="str")

    def visit_ConcatenatedString(self, node: cst.ConcatenatedString) -> Value:
        left, right = self.visit(node.left), self.visit(node.right)
        if (
            isinstance(left, Constant)
            and isinstance(right, Constant)
            and type(left.value) is type(right.value) is str
        ):
            return Constant(value=left.value + right.value)
        return Scalar(type="str")

    def visit_FormattedString(self, node: cst.FormattedString) -> Value:
        for part in node.parts:
            if type(part) is cst.FormattedStringExpression:
                self.visit(part.expression)
        return Scalar(type="str", symbol=fresh())

    visit_TemplatedString = visit_FormattedString

    def visit_Ellipsis(self, node: cst.Ellipsis) -> Value:
        return Constant(value=...)

    # --- containers ---

    def elements(self, nodes: Any) -> tuple[Value, ...] | None:
        """The values of a display's elements; None where a star hides how many."""
        values: list[Value] = []
        known = True
        for element in nodes:
            value = self.visit(element.value)
            if type(element) is cst.StarredElement:
                items = self.items(value)
                known = known and items is not None
                values.extend(items or ())
            else:
                values.append(value)
        return tuple(values) if known else None

    def visit_Tuple(self, node: cst.Tuple) -> Value:
        items = self.elements(node.elements)
        return UNKNOWN if items is None else Tuple(items=items)

    def visit_List(self, node: cst.List) -> Value:
        return self.new_list(self.elements(node.elements))

    def visit_Set(self, node: cst.Set) -> Value:
        self.elements(node.elements)
        return self.new_object("set", Contents({}, UNKNOWN))

    def visit_Dict(self, node: cst.Dict) -> Value:
        slots: dict[Any, Value] = {}
        rest: Value | None = None
        for element in node.elements:
            if type(element) is cst.DictElement:
                key, value = self.visit(element.key), self.visit(element.value)
                if isinstance(key, Constant):
                    slots[key.value] = value
                else:
                    rest = UNKNOWN
            else:
                self.visit(element.value)
                rest = UNKNOWN
        return self.new_object("dict", Contents(slots, rest))

    def visit_Subscript(self, node: cst.Subscript) -> Value:
        base = self.visit(node.value)
        indices = self.indices(node)
        if isinstance(base, Library) and base.signature is AT_VIEW:
            return base
        return self.item(base, indices)

    def indices(self, node: cst.Subscript) -> list[Value | cst.Slice]:
        """The indices between the brackets; slices stay syntax, their parts visited."""
        found: list[Value | cst.Slice] = []
        for element in node.slice:
            part = element.slice
            if type(part) is cst.Index:
                found.append(self.visit(part.value))
            elif type(part) is cst.Slice:
                for bound in (part.lower, part.upper, part.step):
                    if bound is not None:
                        self.visit(bound)
                found.append(part)
        return found

    def visit_Attribute(self, node: cst.Attribute) -> Value:
        return self.attribute(self.visit(node.value), node.attr.value, node)

    # --- operators ---

    def visit_UnaryOperation(self, node: cst.UnaryOperation) -> Value:
        value = self.visit(node.expression)
        if type(node.operator) is cst.Not:
            truth = self.truth(value)
            return Scalar(value.traced, "bool") if truth is None else Constant(value=not truth)
        if isinstance(value, Constant) and isinstance(value.value, (int, float)):
            if type(node.operator) is cst.Minus:
                return Constant(value=-value.value)
            return value if type(node.operator) is cst.Plus else Scalar(type="int", symbol=fresh())
        self.note_evidence(value)
        if isinstance(value, Array):
            return self.allocated(node, value.shape, value.dtype, value.traced)
        if isinstance(value, (NumpyArray, Scalar)):
            return replace(value, symbol=fresh()) if isinstance(value, Scalar) else value
        return Unknown(value.traced)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> Value:
        # A sum of thousands of terms is a left-leaning chain: walk down it in a loop.
        spine = [node]
        while type(spine[-1].left) is cst.BinaryOperation:
            spine.append(spine[-1].left)
        left = self.visit(spine[-1].left)
        for operation in reversed(spine):
            left = self.binary(operation, left, operation.operator, self.visit(operation.right))
        return left

    def binary(self, site: cst.CSTNode, left: Value, op: cst.CSTNode, right: Value) -> Value:
        """The value of `left op right`."""
        traced = left.traced or right.traced
        if isinstance(left, Constant) and isinstance(right, Constant):
            return self.fold(left.value, op, right.value)
        if isinstance(left, Array) or isinstance(right, Array):
            return self.binary_array(site, left, op, right)
        if traced is not None:
            for operand, other in ((left, right), (right, left)):
                if other.traced or shapes.element_dtype(other, self.x64):
                    self.note_evidence(operand)
            return Unknown(traced)
        if isinstance(left, NumpyArray) or isinstance(right, NumpyArray):
            other = right if isinstance(left, NumpyArray) else left
            return NumpyArray() if isinstance(other, (NumpyArray, Constant, Scalar)) else UNKNOWN
        return self.binary_python(left, op, right)

    def binary_array(self, site: cst.CSTNode, left: Value, op: cst.CSTNode, right: Value) -> Value:
        """An operation on a JAX array; an object may have one of its own for it."""
        traced = left.traced or right.traced
        if isinstance(left, Reference) or isinstance(right, Reference):
            return Unknown(traced)
        for operand in (left, right):
            self.note_evidence(operand)
        if type(op) is cst.MatrixMultiply:
            shape, dtype = shapes.COMPUTED["matmul"]({"a": left, "b": right}, self.items, self.x64)
        else:
            shape, dtype = shapes.elementwise([left, right], self.items, self.x64)
            if type(op) is cst.Divide and dtype is not None and shapes.CATEGORY.get(dtype, 2) < 2:
                dtype = "float32"
        return self.allocated(site, shape, dtype, traced)

    def binary_python(self, left: Value, op: cst.CSTNode, right: Value) -> Value:
        if type(op) is cst.Add:
            if isinstance(left, Tuple) and isinstance(right, Tuple):
                return Tuple(items=left.items + right.items)
            if (
                isinstance(left, Reference)
                and isinstance(right, Reference)
                and left.type == right.type == "list"
            ):
                mine, theirs = self.items(left), self.items(right)
                return self.new_list(None if mine is None or theirs is None else mine + theirs)
        if type(op) is cst.Multiply and (isinstance(left, Reference) and left.type == "list"):
            return self.new_list(None)
        if isinstance(left, (Scalar, Constant)) and isinstance(right, (Scalar, Constant)):
            types = {shapes.element_dtype(left, True), shapes.element_dtype(right, True)}
            if types == {"int64"} and not isinstance(op, (cst.Divide, cst.Power)):
                return Scalar(type="int", symbol=fresh())
            if types <= {"int64", "float64"} and ("float64" in types or type(op) is cst.Divide):
                return Scalar(type="float", symbol=fresh())
        return UNKNOWN

    def fold(self, left: Any, op: cst.CSTNode, right: Any) -> Value:
        """Constant folding, within reason."""
        numbers = all(type(side) in (int, float) for side in (left, right))
        if isinstance(op, (cst.Power, cst.LeftShift)) and numbers:
            if type(left) is type(right) is int and 0 <= right < 64 and abs(left) <= 1 << 16:
                value = left**right if type(op) is cst.Power else left << right
                return Constant(value=value) if abs(value) < MAX_CONSTANT else Scalar(type="int")
            return Scalar(type="float")
        function = BINARY.get(type(op))
        if function is None or not (numbers or (type(left) is type(right) is str and type(op) is cst.Add)):
            return UNKNOWN
        try:
            value = function(left, right)
        except (ArithmeticError, TypeError, ValueError):
            return UNKNOWN
        return (
            Constant(value=value)
            if not isinstance(value, int) or abs(value) < MAX_CONSTANT
            else Scalar(type="int")
        )

    def visit_BooleanOperation(self, node: cst.BooleanOperation) -> Value:
        spine = [node]
        while isinstance(spine[-1].left, cst.BooleanOperation):
            spine.append(spine[-1].left)
        left = self.visit(spine[-1].left)
        for operation in reversed(spine):
            goes_on = type(operation.operator) is cst.And
            truth = self.truth(left)
            if truth is None and self.state.facts:
                truth = self.implied(operation.left)
            if truth is goes_on:
                left = self.visit(operation.right)
            elif truth is not None:
                self.frame.pruned = True
            else:
                left = self.branch(operation.left, goes_on, operation.right, left)
        return left

    def branch(self, test: cst.BaseExpression, outcome: bool, node: cst.CSTNode, otherwise: Value) -> Value:
        """The value of `node` where `test` came out as `outcome`, joined with `otherwise`."""
        inner = node.left if type(node) is cst.Comparison else node
        if not isinstance(inner, MAY_CALL):
            return join_values(otherwise, self.visit(node))
        other = self.state.fork()
        self.assume_facts(test, outcome)
        value = self.visit(node)
        return self.join_paths(value, other, otherwise)

    def join_paths(self, value: Value, other: State, otherwise: Value) -> Value:
        """Go on from here, where something is `value`, and from `other`, where it is
        `otherwise`. The two go through the join as names, so that keys are joined as keys."""
        after = self.leave()
        self.enter(other)
        if after is None:
            return otherwise
        after.names["?"], self.state.names["?"] = value, otherwise
        self.enter(join_states(after, self.leave()))
        return self.state.names.pop("?")

    def visit_Comparison(self, node: cst.Comparison) -> Value:
        left = self.visit(node.left)
        result: Value = UNKNOWN
        for target in node.comparisons:
            right = self.visit(target.comparator)
            result = self.compare(node, left, target.operator, right)
            left = right
        return result if len(node.comparisons) == 1 else Scalar(result.traced, "bool")

    def compare(self, site: cst.CSTNode, left: Value, op: cst.BaseCompOp, right: Value) -> Value:
        """The value of one comparison."""
        traced = left.traced or right.traced
        names = isinstance(left, Imported) and isinstance(right, Imported)
        if isinstance(op, (cst.Is, cst.IsNot)) or (names and isinstance(op, IDENTITY)):
            same = self.identical(left, right)
            positive = isinstance(op, (cst.Is, cst.Equal))
            return Scalar(type="bool") if same is None else Constant(value=same is positive)
        if isinstance(op, (cst.In, cst.NotIn)):
            return Scalar(type="bool")
        if isinstance(op, ORDERINGS):
            self.note_evidence(left)
            self.note_evidence(right)
        if isinstance(left, Array) or isinstance(right, Array):
            shape, _ = shapes.elementwise([left, right], self.items, self.x64)
            return self.allocated(site, shape, "bool", traced)
        if isinstance(left, NumpyArray) or isinstance(right, NumpyArray):
            return Unknown(traced)
        function = COMPARE.get(type(op))
        if function is not None and isinstance(left, Constant) and isinstance(right, Constant):
            try:
                return Constant(value=bool(function(left.value, right.value)))
            except TypeError:
                return UNKNOWN
        known = isinstance(left, (Constant, Scalar)) and isinstance(right, (Constant, Scalar))
        return Scalar(type="bool") if known else Unknown(traced)

    def identical(self, left: Value, right: Value) -> bool | None:
        """Whether `left is right`, where that can be told."""
        if isinstance(left, Constant) and isinstance(right, Constant):
            return left.value is right.value if left.value is None or right.value is None else None
        if isinstance(left, Imported) and isinstance(right, Imported):
            return self.same_name(left.path, right.path)
        if right == NONE and isinstance(left, NOT_NONE):
            return False
        return None

    @staticmethod
    def same_name(left: str, right: str) -> bool | None:
        """Whether two names of libraries stand for one object; a name may have aliases."""
        if left == right:
            return True
        return False if left in DISTINCT and right in DISTINCT else None

    def truth(self, value: Value) -> bool | None:
        """The truth value, where it is known."""
        if isinstance(value, Constant):
            return bool(value.value)
        if isinstance(value, Tuple):
            return bool(value.items)
        if isinstance(value, (Function, Class, Library, Transformed, Partial)):
            return True
        return None

    def visit_IfExp(self, node: cst.IfExp) -> Value:
        truth = self.truth(self.visit(node.test))
        if truth is not None:
            self.frame.pruned = True
            return self.visit(node.body if truth else node.orelse)
        implied = self.implied(node.test) if self.state.facts else None
        if implied is not None:
            return self.visit(node.body if implied else node.orelse)
        other = self.state.fork()
        self.assume_facts(node.test, True)
        body = self.visit(node.body)
        after = self.leave()
        self.enter(other)
        self.assume_facts(node.test, False)
        orelse = self.visit(node.orelse)
        if after is None:
            return orelse
        if not self.reachable:
            self.enter(after)
            return body
        return self.join_paths(orelse, after, body)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> Value:
        value = self.visit(node.value)
        self.bind(node.target, value, node.value)
        return value

    def visit_Await(self, node: cst.Await) -> Value:
        return self.visit(node.expression)

    def visit_Yield(self, node: cst.Yield) -> Value:
        self.frame.yields = True
        if type(node.value) is cst.From:
            self.visit(node.value.item)
        elif node.value is not None:
            self.kept([self.visit(node.value)])
        return Unknown(symbol=fresh())

    def visit_StarredElement(self, node: cst.StarredElement) -> Value:
        return self.visit(node.value)

    # --- functions and comprehensions ---

    def visit_Lambda(self, node: cst.Lambda) -> Value:
        function = Function(node=node, closure=self.frame, defaults=self.default_values(node.params))
        self.frame.pending.append(function)
        return function

    def default_values(self, params: cst.Parameters) -> tuple[tuple[str, Value], ...]:
        every = (*params.posonly_params, *params.params, *params.kwonly_params)
        return tuple(
            (param.name.value, self.visit(param.default)) for param in every if param.default is not None
        )

    def visit_ListComp(self, node: cst.ListComp) -> Value:
        return self.comprehension(node, "list")

    def visit_SetComp(self, node: cst.SetComp) -> Value:
        return self.comprehension(node, "set")

    def visit_GeneratorExp(self, node: cst.GeneratorExp) -> Value:
        return self.comprehension(node, "generator")

    def visit_DictComp(self, node: cst.DictComp) -> Value:
        return self.comprehension(node, "dict")

    def comprehension(self, node: Any, type_name: str) -> Value:
        """A comprehension is a loop whose targets are names of its own."""
        outer = self.state.names
        self.state.names = self.frame.names = outer.copy()
        results: list[Value] = []

        def element() -> None:
            if type(node) is cst.DictComp:
                self.visit(node.key)
                results.append(self.visit(node.value))
            else:
                results.append(self.visit(node.elt))

        self.comprehension_loop(node.for_in, node, element)
        inner = self.state.names
        self.state.names = self.frame.names = outer
        for name in outer:  # what a walrus bound stays
            if name in inner and inner[name] is not outer[name] and name not in _targets(node.for_in):
                outer[name] = inner[name]
        element_value = results[0] if results else UNKNOWN
        for other in results[1:]:
            element_value = join_values(element_value, other)
        if type_name == "generator":
            return Iterator(kind="generator", sources=(element_value,))
        return self.new_object(type_name, Contents({}, element_value))

    def comprehension_loop(self, clause: cst.CompFor, site: cst.CSTNode, element: Callable[[], None]) -> None:
        iterable = self.visit(clause.iter)
        passes = self.passes(iterable)

        def start(number: int) -> None:
            self.bind(clause.target, self.element(iterable, number))

        def body() -> None:
            for condition in clause.ifs:
                truth = self.truth(self.visit(condition.test))
                if truth is None:
                    self.assume_facts(condition.test, True)
            if clause.inner_for_in is not None:
                self.comprehension_loop(clause.inner_for_in, site, element)
            else:
                element()

        self.run_loop(site, start, body, passes)


def _targets(clause: cst.CompFor | None) -> set[str]:
    names: set[str] = set()
    while clause is not None:
        names.update(_names(clause.target))
        clause = clause.inner_for_in
    return names


def _names(target: cst.CSTNode) -> list[str]:
    if type(target) is cst.Name:
        return [target.value]
    return [name for element in getattr(target, "elements", ()) for name in _names(element.value)]
