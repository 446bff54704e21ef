"""Expressions: from a syntax node to a value."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import libcst as cst

from jaxlint.knowledge import lookup
from jaxlint.knowledge.signature import ClassRow, Signature, Word
from jaxlint.model import shapes
from jaxlint.model.machine import Machine
from jaxlint.model.state import Contents, fresh, join_states, join_values
from jaxlint.model.syntax import dotted_name
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
    KeyId,
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
ARRAY_PATH = "jax.Array"
BUILTIN_CONSTANTS: dict[str, Value] = {"None": NONE, "True": Constant(value=True), "False": Constant(value=False)}
AT_VIEW = Signature("jax.Array.at", (), Word("AtView"))
MAX_CONSTANT = 1 << 62

BINARY: dict[type[cst.BaseBinaryOp], Callable[[Any, Any], Any]] = {
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
NOT_NONE = (AnyArray, Key, Keys, Tuple, Reference, Function, Class, Scalar, Imported, Library, Iterator, Ref, Transformed, Partial)
ARRAY_ATTRIBUTES = frozenset({"at", "shape", "dtype", "ndim", "T", "astype", "nbytes", "itemsize", "reshape"})


class Expressions(Machine):
    """Evaluates expressions. `visit` goes to `visit_<NodeType>`."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.stars: list[str] = []
        self.wanted: dict[int, set[str]] = {}
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

    # --- what the other parts provide ------------------------------------------------

    def call_value(self, site: cst.CSTNode, function: Value, args: list[Value], name: str = "") -> Value:
        """Call `function` with these positional arguments."""
        raise NotImplementedError

    def run_loop(self, node: cst.CSTNode, start: Callable[[int], None], body: Callable[[], None], passes: int) -> None:
        """Run `body` as the body of a loop."""
        raise NotImplementedError

    def bind(self, target: cst.CSTNode, value: Value, source: cst.CSTNode | None = None) -> None:
        """Assign `value` to a target."""
        raise NotImplementedError

    # --- leaves ----------------------------------------------------------------------

    def visit_Name(self, node: cst.Name) -> Value:
        name = node.value
        value = self.state.names.get(name)
        if value is None:
            value = self.free_name(name)
            if value is None:
                if name in BUILTINS:
                    return BUILTIN_CONSTANTS.get(name) or Imported(path="builtins." + name)
                for module in self.stars:
                    if lookup(f"{module}.{name}") is not None:
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
        return Constant(value=node.evaluated_value)

    def visit_Float(self, node: cst.Float) -> Value:
        return Constant(value=node.evaluated_value)

    def visit_Imaginary(self, node: cst.Imaginary) -> Value:
        return Constant(value=node.evaluated_value)

    def visit_SimpleString(self, node: cst.SimpleString) -> Value:
        try:
            return Constant(value=node.evaluated_value)
        except (SyntaxError, ValueError):
            return Scalar(type="str")

    def visit_ConcatenatedString(self, node: cst.ConcatenatedString) -> Value:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(left, Constant) and isinstance(right, Constant) and type(left.value) is type(right.value) is str:
            return Constant(value=left.value + right.value)
        return Scalar(type="str")

    def visit_FormattedString(self, node: cst.FormattedString) -> Value:
        for part in node.parts:
            if isinstance(part, cst.FormattedStringExpression):
                self.visit(part.expression)
        return Scalar(type="str", symbol=fresh())

    visit_TemplatedString = visit_FormattedString

    def visit_Ellipsis(self, node: cst.Ellipsis) -> Value:
        return Constant(value=...)

    # --- containers --------------------------------------------------------------------

    def elements(self, nodes: Any) -> tuple[Value, ...] | None:
        """The values of a display's elements; None where a star hides how many."""
        values: list[Value] = []
        known = True
        for element in nodes:
            value = self.visit(element.value)
            if isinstance(element, cst.StarredElement):
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
            if isinstance(element, cst.DictElement):
                key, value = self.visit(element.key), self.visit(element.value)
                if isinstance(key, Constant):
                    slots[key.value] = value
                else:
                    rest = UNKNOWN
            else:
                self.visit(element.value)
                rest = UNKNOWN
        return self.new_object("dict", Contents(slots, rest))

    def new_object(self, type_name: str, contents: Contents) -> Reference:
        return Reference(address=self.state.allocate(contents), type=type_name)

    def new_list(self, items: tuple[Value, ...] | None) -> Reference:
        if items is None:
            return self.new_object("list", Contents({}, UNKNOWN))
        return self.new_object("list", Contents(dict(enumerate(items))))

    def contents(self, value: Value) -> Contents | None:
        if not isinstance(value, Reference):
            return None
        if self.recorders:
            self.note_foreign(value.address)
        return self.state.heap.get(value.address)

    def items(self, value: Value) -> tuple[Value, ...] | None:
        """The elements of a sequence, where all are known."""
        if isinstance(value, Tuple):
            return value.items
        if isinstance(value, Keys) and value.shape and value.shape[0] is not None and value.shape[0] <= 64:
            return tuple(self.element_of_keys(value, ("at", index)) for index in range(value.shape[0]))
        contents = self.contents(value)
        if contents is None or not contents.complete:
            return None
        if isinstance(value, Reference) and value.type == "list":
            return tuple(contents.slots.values())
        if isinstance(contents.cls, Class) and contents.cls.fields:
            return tuple(contents.slots.values())
        return None

    # --- operators -----------------------------------------------------------------------

    def visit_UnaryOperation(self, node: cst.UnaryOperation) -> Value:
        value = self.visit(node.expression)
        if isinstance(node.operator, cst.Not):
            truth = self.truth(value)
            return Scalar(value.traced, "bool") if truth is None else Constant(value=not truth)
        if isinstance(value, Constant) and isinstance(value.value, (int, float)):
            if isinstance(node.operator, cst.Minus):
                return Constant(value=-value.value)
            return value if isinstance(node.operator, cst.Plus) else Scalar(type="int", symbol=fresh())
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
            if isinstance(left, Reference) or isinstance(right, Reference):
                return Unknown(traced)
            for operand in (left, right):
                self.note_evidence(operand)
            if isinstance(op, cst.MatrixMultiply):
                shape, dtype = shapes.COMPUTED["matmul"]({"a": left, "b": right}, self.items, self.x64)
            else:
                shape, dtype = shapes.elementwise([left, right], self.items, self.x64)
                if isinstance(op, cst.Divide) and dtype is not None and shapes.CATEGORY.get(dtype, 2) < 2:
                    dtype = "float32"
            return self.allocated(site, shape, dtype, traced)
        if traced is not None:
            for operand, other in ((left, right), (right, left)):
                if isinstance(other, (Constant, Scalar, Unknown)) and shapes.element_dtype(other, self.x64) or other.traced:
                    self.note_evidence(operand)
            return Unknown(traced)
        if isinstance(left, NumpyArray) or isinstance(right, NumpyArray):
            other = right if isinstance(left, NumpyArray) else left
            return NumpyArray() if isinstance(other, (NumpyArray, Constant, Scalar)) else UNKNOWN
        return self.binary_python(left, op, right)

    def binary_python(self, left: Value, op: cst.CSTNode, right: Value) -> Value:
        if isinstance(op, cst.Add):
            if isinstance(left, Tuple) and isinstance(right, Tuple):
                return Tuple(items=left.items + right.items)
            if isinstance(left, Reference) and isinstance(right, Reference) and left.type == right.type == "list":
                mine, theirs = self.items(left), self.items(right)
                return self.new_list(None if mine is None or theirs is None else mine + theirs)
        if isinstance(op, cst.Multiply) and (isinstance(left, Reference) and left.type == "list"):
            return self.new_list(None)
        if isinstance(left, (Scalar, Constant)) and isinstance(right, (Scalar, Constant)):
            types = {shapes.element_dtype(left, True), shapes.element_dtype(right, True)}
            if types == {"int64"} and not isinstance(op, (cst.Divide, cst.Power)):
                return Scalar(type="int", symbol=fresh())
            if types <= {"int64", "float64"} and "float64" in types:
                return Scalar(type="float", symbol=fresh())
        return UNKNOWN

    def fold(self, left: Any, op: cst.CSTNode, right: Any) -> Value:
        """Constant folding, within reason."""
        numbers = all(type(side) in (int, float) for side in (left, right))
        if isinstance(op, (cst.Power, cst.LeftShift)) and numbers:
            if type(left) is type(right) is int and 0 <= right < 64 and abs(left) <= 1 << 16:
                value = left**right if isinstance(op, cst.Power) else left << right
                return Constant(value=value) if abs(value) < MAX_CONSTANT else Scalar(type="int")
            return Scalar(type="float")
        function = BINARY.get(type(op))
        if function is None or not (numbers or (type(left) is type(right) is str and isinstance(op, cst.Add))):
            return UNKNOWN
        try:
            value = function(left, right)
        except (ArithmeticError, TypeError, ValueError):
            return UNKNOWN
        return Constant(value=value) if not isinstance(value, int) or abs(value) < MAX_CONSTANT else Scalar(type="int")

    def visit_BooleanOperation(self, node: cst.BooleanOperation) -> Value:
        spine = [node]
        while isinstance(spine[-1].left, cst.BooleanOperation):
            spine.append(spine[-1].left)
        left = self.visit(spine[-1].left)
        for operation in reversed(spine):
            right = self.visit(operation.right)
            truth = self.truth(left)
            if truth is not None:
                left = right if truth is isinstance(operation.operator, cst.And) else left
            else:
                left = join_values(left, right)
        return left

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
        if isinstance(op, (cst.Is, cst.IsNot)):
            same = self.identical(left, right)
            return Scalar(type="bool") if same is None else Constant(value=same is isinstance(op, cst.Is))
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
        if right == NONE and isinstance(left, NOT_NONE):
            return False
        return None

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
        other = self.state.fork()
        self.assume_facts(node.test, True)
        body = self.visit(node.body)
        after = self.leave()
        self.enter(other)
        self.assume_facts(node.test, False)
        orelse = self.visit(node.orelse)
        # The two values go through the join as names, so that keys are joined as keys.
        if after is not None and self.reachable:
            after.names["?"], self.state.names["?"] = body, orelse
            self.enter(join_states(after, self.leave()))
            return self.state.names.pop("?")
        return body

    def visit_NamedExpr(self, node: cst.NamedExpr) -> Value:
        value = self.visit(node.value)
        self.bind(node.target, value, node.value)
        return value

    def visit_Await(self, node: cst.Await) -> Value:
        return self.visit(node.expression)

    def visit_Yield(self, node: cst.Yield) -> Value:
        self.frame.yields = True
        if isinstance(node.value, cst.From):
            self.visit(node.value.item)
        elif node.value is not None:
            self.visit(node.value)
        return Unknown(symbol=fresh())

    def visit_StarredElement(self, node: cst.StarredElement) -> Value:
        return self.visit(node.value)

    # --- functions and comprehensions ------------------------------------------------------

    def visit_Lambda(self, node: cst.Lambda) -> Value:
        function = Function(node=node, closure=self.frame, defaults=self.default_values(node.params))
        self.frame.pending.append(function)
        return function

    def default_values(self, params: cst.Parameters) -> tuple[tuple[str, Value], ...]:
        every = (*params.posonly_params, *params.params, *params.kwonly_params)
        return tuple((param.name.value, self.visit(param.default)) for param in every if param.default is not None)

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
            if isinstance(node, cst.DictComp):
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

    def passes(self, iterable: Value) -> int:
        """How many passes to run: two show what there is to see."""
        if isinstance(iterable, Iterator) and iterable.kind == "range":
            bounds = [shapes.as_dimension(source) for source in iterable.sources]
            if None not in bounds:
                return min(2, len(range(*bounds[:3])) if 1 <= len(bounds) <= 3 and 0 not in bounds[2:] else 2)  # type: ignore[arg-type]
        items = self.items(iterable)
        if items is not None and len(items) < 2:
            return 1
        if isinstance(iterable, AnyArray) and iterable.shape and iterable.shape[0] == 1:
            return 1
        if isinstance(iterable, Iterator) and iterable.kind in ("zip", "enumerate", "reversed"):
            return min((self.passes(source) for source in iterable.sources), default=2)
        return 2

    def element(self, iterable: Value, number: int) -> Value:
        """What a loop over `iterable` binds in pass `number`."""
        items = self.items(iterable)
        if items is not None and not isinstance(iterable, Keys):
            if number < len(items):
                return items[number]
            return Unknown(symbol=fresh())
        if isinstance(iterable, Array):
            shape = iterable.shape[1:] if iterable.shape else None
            return Array(iterable.traced or self.trace, shape, iterable.dtype)
        if isinstance(iterable, NumpyArray):
            return NumpyArray(shape=iterable.shape[1:], dtype=iterable.dtype) if iterable.rank not in (None, 1) else UNKNOWN
        if isinstance(iterable, Keys):
            return self.each_key(iterable, self.loops[-1].token if self.loops else fresh()[0])
        if isinstance(iterable, Iterator):
            return self.element_of_iterator(iterable, number)
        contents = self.contents(iterable)
        if contents is not None and isinstance(iterable, Reference) and iterable.type in ("list", "set"):
            return self.renewed(contents.rest) if contents.rest is not None else Unknown(symbol=fresh())
        return Unknown(iterable.traced, fresh())

    def renewed(self, value: Value) -> Value:
        """One of many elements described by `value`: as a key, one of its own."""
        if isinstance(value, Key):
            return Key(value.traced, fresh())
        if isinstance(value, Keys):
            return Keys(value.traced, fresh(), value.shape)
        if isinstance(value, Tuple):
            return Tuple(value.traced, tuple(self.renewed(item) for item in value.items))
        if isinstance(value, Unknown):
            return Unknown(value.traced, fresh())
        return value

    def element_of_iterator(self, iterator: Iterator, number: int) -> Value:
        sources = iterator.sources
        if iterator.kind == "range":
            return Scalar(type="int", symbol=fresh())
        if iterator.kind == "zip":
            # The shortest ends it: nobody knows how many keys of a batch are met.
            sources = tuple(replace(s, identity=(*s.identity, "zip")) if isinstance(s, Keys) else s for s in sources)
            return Tuple(items=tuple(self.element(source, number) for source in sources))
        if iterator.kind == "enumerate":
            return Tuple(items=(Scalar(type="int", symbol=fresh()), self.element(sources[0], number)))
        if iterator.kind == "reversed":
            return self.element(sources[0], number) if not self.items(sources[0]) else Unknown(symbol=fresh())
        if iterator.kind == "items":
            contents = self.contents(sources[0])
            values = list(contents.slots.values()) if contents is not None and contents.complete else []
            return Tuple(items=(Unknown(symbol=fresh()), values[number] if number < len(values) else Unknown(symbol=fresh())))
        if iterator.kind == "generator":
            return self.renewed(sources[0])
        return Unknown(symbol=fresh())

    # --- attributes ---------------------------------------------------------------------------

    def visit_Attribute(self, node: cst.Attribute) -> Value:
        return self.attribute(self.visit(node.value), node.attr.value, node)

    def attribute(self, base: Value, name: str, site: cst.CSTNode) -> Value:
        """The value of `base.name`."""
        if isinstance(base, Imported):
            return self.resolve(f"{base.path}.{name}")
        if isinstance(base, Array):
            return self.array_attribute(base, name)
        if isinstance(base, Reference):
            return self.instance_attribute(base, name, site)
        if isinstance(base, Class):
            return self.class_member(base, name) or UNKNOWN
        if isinstance(base, Unknown):
            if name in ARRAY_ATTRIBUTES:
                self.note_evidence(base)
            if name == "at":
                return Library(signature=AT_VIEW, owner=base)
            return self.slot_of_unknown(base, ".", name)
        if isinstance(base, Partial) and name == "func":
            return base.function
        if isinstance(base, NumpyArray) and name in ("T", "real", "imag"):
            return base
        return UNKNOWN

    def slot_of_unknown(self, base: Unknown, kind: str, slot: Any) -> Value:
        """An attribute or item of an object about which nothing is known: the same
        each time, until something may have changed the object."""
        if base.symbol is None:
            return Unknown(base.traced)
        stored = self.state.heap.get(base.symbol)
        for recorder in self.recorders:
            if not recorder.is_new(base.symbol[0]) and recorder.numbering.prefix(base.symbol) is None:
                recorder.pure = False
        if stored is not None and (kind, slot) in stored.slots:
            return stored.slots[kind, slot]
        return Unknown(base.traced, (*base.symbol, (kind, slot, self.versions.get((".", base.symbol), 0))))

    def resolve(self, path: str) -> Value:
        """The value that a library's name stands for."""
        row = lookup(path)
        if isinstance(row, Signature):
            return Library(signature=row)
        if isinstance(row, Word) and row.name == "Python":
            return Scalar(type=str(row.args[0]))
        if isinstance(row, Word) and row.name == "Array":
            return Array()
        return Imported(path=path)

    def array_attribute(self, base: Array, name: str) -> Value:
        if name == "shape":
            if base.shape is None:
                return Scalar(type="tuple")
            return Tuple(items=tuple(Scalar(type="int") if n is None else Constant(value=n) for n in base.shape))
        if name == "ndim" and base.rank is not None:
            return Constant(value=base.rank)
        if name == "at":
            return Library(signature=AT_VIEW, owner=base)
        if name == "dtype":
            return Scalar(type=f"dtype:{base.dtype}" if base.dtype else "dtype")
        if name == "size":
            total = shapes.nbytes(replace(base, dtype="int8"))
            return Scalar(type="int") if total is None else Constant(value=total)
        if name in ("T", "mT"):
            return Array(base.traced, base.shape[::-1] if base.shape is not None and name == "T" else None, base.dtype)
        if name in ("real", "imag"):
            return Array(base.traced, base.shape)
        row = lookup(f"{ARRAY_PATH}.{name}")
        if isinstance(row, Signature):
            return Library(signature=row, owner=base)
        if isinstance(row, Word) and row.name == "Python":
            return Scalar(type=str(row.args[0]))
        return UNKNOWN

    def instance_attribute(self, base: Reference, name: str, site: cst.CSTNode) -> Value:
        contents = self.contents(base)
        if contents is None:
            return UNKNOWN
        if base.type == "instance" and name in contents.slots:
            return contents.slots[name]
        if isinstance(contents.cls, Class):
            member = self.class_member(contents.cls, name)
            if member is not None:
                return self.bound_member(member, base, site)
            declared = contents.cls.annotations.get(name)
            if declared is not None:
                return self.annotated(declared, (*contents.symbol, (".", name)))
            self.wanted.setdefault(id(contents.cls.node), set()).add(name)
        if base.type == "instance" and not contents.complete:
            version = self.versions.get((".", contents.symbol), 0)
            return Unknown(symbol=(*contents.symbol, (".", name, version)))
        return UNKNOWN

    def class_member(self, cls: Class, name: str) -> Value | None:
        """What a class or one of its bases in this file binds `name` to."""
        stack, seen = [cls], 0
        while stack and seen < 50:
            current, seen = stack.pop(0), seen + 1
            if name in current.members:
                member: Value = current.members[name]
                return member
            stack.extend(base for base in current.bases if isinstance(base, Class))
        return None

    def bound_member(self, member: Value, owner: Reference, site: cst.CSTNode) -> Value:
        if isinstance(member, Function):
            return replace(member, owner=owner)
        if isinstance(member, Transformed):
            if member.transform == "property":
                getter = member.function
                return self.call_value(site, replace(getter, owner=owner) if isinstance(getter, Function) else getter, [])
            if member.transform == "staticmethod":
                return member.function
            if member.transform == "classmethod":
                contents = self.contents(owner)
                bound = contents.cls if contents is not None else None
                return Partial(function=member.function, args=(bound or UNKNOWN,))
            return Partial(function=member, args=(owner,))
        return member

    # --- subscripts -----------------------------------------------------------------------------

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
            if isinstance(part, cst.Index):
                found.append(self.visit(part.value))
            else:
                for bound in (part.lower, part.upper, part.step):
                    if bound is not None:
                        self.visit(bound)
                found.append(part)
        return found

    def item(self, base: Value, indices: list[Value | cst.Slice]) -> Value:
        """The value of `base[indices]`."""
        index = indices[0] if len(indices) == 1 else None
        if isinstance(base, Array):
            array = Array(base.traced or self.trace, self.indexed_shape(base, indices), base.dtype)
            return self.element_of_argument(base, array, self.index_identity(index))
        if isinstance(base, NumpyArray):
            shape = self.indexed_shape(base, indices)
            return NumpyArray(shape=shape, dtype=base.dtype) if shape != () and len(indices) and self.has_slice(indices) else UNKNOWN
        if isinstance(base, Keys):
            return self.item_of_keys(base, index)
        if isinstance(base, Ref):
            return Array(base.traced or self.trace)
        if isinstance(base, Tuple):
            position = shapes.as_dimension(index) if isinstance(index, Value) else None
            if position is not None and -len(base.items) <= position < len(base.items):
                return base.items[position]
            if isinstance(index, cst.Slice):
                return self.sliced_tuple(base, index)
            return UNKNOWN
        if isinstance(base, Reference):
            return self.item_of_object(base, index)
        if isinstance(base, Unknown):
            identity = self.index_identity(index)
            if identity is None:
                return Unknown(base.traced, fresh())
            return self.slot_of_unknown(base, "[", identity)
        return UNKNOWN

    @staticmethod
    def element_of_argument(base: Array, element: Array, index: Any) -> Array:
        """An argument that is only known to be an array may be a batch of keys."""
        if base.identity is None or base.identity[0] == "made" or index is None:
            return element
        return replace(element, identity=(*base.identity, ("at", index)))

    @staticmethod
    def has_slice(indices: list[Value | cst.Slice]) -> bool:
        return any(isinstance(index, cst.Slice) for index in indices)

    def sliced_tuple(self, base: Tuple, part: cst.Slice) -> Value:
        bounds: list[int | None] = []
        for bound in (part.lower, part.upper, part.step):
            value = NONE if bound is None else self.visit(bound)
            if not (isinstance(value, Constant) and (value.value is None or type(value.value) is int)):
                return UNKNOWN
            bounds.append(value.value)
        if bounds[2] == 0:
            return UNKNOWN
        return Tuple(items=base.items[slice(*bounds)])

    def indexed_shape(self, base: AnyArray, indices: list[Value | cst.Slice]) -> shapes.Shape:
        if base.shape is None:
            return None
        result: list[int | None] = []
        axes = list(base.shape)
        for index in indices:
            if isinstance(index, Constant) and index.value is None:
                result.append(1)
                continue
            if not axes or (isinstance(index, Constant) and index.value is ...):
                return None
            size = axes.pop(0)
            if isinstance(index, cst.Slice):
                whole = index.lower is None and index.upper is None and index.step is None
                result.append(size if whole else self.slice_length(index, size))
            elif not (isinstance(index, (Constant, Scalar)) and shapes.element_dtype(index, True) == "int64"):
                return None
        return tuple(result + axes)

    def slice_length(self, part: cst.Slice, size: int | None) -> int | None:
        bounds = [NONE if bound is None else self.visit(bound) for bound in (part.lower, part.upper, part.step)]
        known = all(isinstance(b, Constant) and (b.value is None or type(b.value) is int) for b in bounds)
        if size is None or not known or bounds[2] == Constant(value=0):
            return None
        return len(range(size)[slice(*(bound.value for bound in bounds))])  # type: ignore[attr-defined]

    def index_identity(self, index: Value | cst.Slice | None) -> Any:
        """Something that is equal for two indices that are surely equal."""
        if isinstance(index, Constant):
            return index.value if isinstance(index.value, (int, str)) else None
        if isinstance(index, (Scalar, Unknown)):
            return index.symbol
        return None

    def element_of_keys(self, keys: Keys, index: tuple[Any, ...]) -> Value:
        rest = keys.shape[1:] if keys.shape else ()
        identity = (*keys.identity, index)
        return Keys(keys.traced, identity, rest) if rest else Key(keys.traced, identity)

    def each_key(self, keys: Keys, iteration: int) -> Value:
        """One of the keys of a batch that `iteration` goes through from end to end."""
        return self.element_of_keys(keys, ("each", iteration, *fresh()))

    def item_of_keys(self, keys: Keys, index: Value | cst.Slice | None) -> Value:
        position = shapes.as_dimension(index) if isinstance(index, Value) else None
        if position is not None:
            size = keys.shape[0] if keys.shape else None
            if position < 0 and size is not None:
                position += size
            return self.element_of_keys(keys, ("at", position))
        identity = self.index_identity(index)
        if identity is not None:
            return self.element_of_keys(keys, ("index", identity))
        if isinstance(index, cst.Slice):
            return Keys(keys.traced, fresh(), None)
        return Unknown(keys.traced, fresh())

    def item_of_object(self, base: Reference, index: Value | cst.Slice | None) -> Value:
        contents = self.contents(base)
        if contents is None:
            return UNKNOWN
        if isinstance(index, Constant) and (isinstance(index.value, (int, str)) or index.value is None):
            slot = index.value
            if base.type == "list" and isinstance(slot, int) and slot < 0 and contents.complete:
                slot += len(contents.slots)
            if slot in contents.slots:
                return contents.slots[slot]
            if base.type == "instance":
                items = self.items(base)
                if items is not None and isinstance(slot, int) and -len(items) <= slot < len(items):
                    return items[slot]
            return self.renewed(contents.rest) if contents.rest is not None else UNKNOWN
        return Unknown(symbol=fresh())

    # --- making arrays ------------------------------------------------------------------------------

    def allocated(self, site: cst.CSTNode, shape: shapes.Shape, dtype: str | None, traced: Any = None) -> Array:
        """A new JAX array; a large one gets an identity of its own."""
        array = Array(traced or self.trace, shape, dtype)
        size = shapes.nbytes(array)
        if size is None or size < self.options.large_array_bytes or array.traced is not None:
            return array
        return replace(array, identity=("made", id(site), *fresh()))

    # --- annotations ------------------------------------------------------------------------------------

    def annotated(self, annotation: cst.BaseExpression | None, symbol: KeyId) -> Value:
        """What a parameter's annotation says of its value."""
        if isinstance(annotation, cst.SimpleString):
            text = annotation.raw_value.strip()
            if not all(part.isidentifier() for part in text.split(".")):
                return Unknown(symbol=symbol)
            annotation = _dotted(text)
        if isinstance(annotation, cst.Subscript):
            return self.annotated_generic(annotation, symbol)
        if not isinstance(annotation, (cst.Name, cst.Attribute)):
            return Unknown(symbol=symbol)
        named = self.visit(annotation)
        if isinstance(named, Class):
            return self.new_object("instance", Contents({}, UNKNOWN, named, symbol))
        if not isinstance(named, Imported):
            return Unknown(symbol=symbol)
        word = self.type_word(named.path)
        if word == "KeyType":
            return Key(identity=symbol)
        if word == "ArrayType":
            return Array(identity=symbol)
        if word == "NumPyType":
            return NumpyArray()
        if named.path.startswith("builtins.") and named.path[9:] in ("int", "float", "bool", "str", "complex"):
            return Scalar(type=named.path[9:], symbol=symbol)
        return Unknown(symbol=symbol)

    def annotated_generic(self, annotation: cst.Subscript, symbol: KeyId) -> Value:
        named = self.visit(annotation.value)
        if isinstance(named, Imported) and self.type_word(named.path) == "ArrayType":
            first = annotation.slice[0].slice
            if isinstance(first, cst.Index) and dotted_name(first.value):
                inner = self.annotated(first.value, symbol)
                return Key(identity=symbol) if named.path.endswith(".Key") else inner
        return Unknown(symbol=symbol)

    @staticmethod
    def type_word(path: str) -> str:
        row = lookup(path)
        word = row.word if isinstance(row, ClassRow) else row
        return word.name if isinstance(word, Word) else ""


def _targets(clause: cst.CompFor | None) -> set[str]:
    names: set[str] = set()
    while clause is not None:
        names.update(_names(clause.target))
        clause = clause.inner_for_in
    return names


def _names(target: cst.CSTNode) -> list[str]:
    if isinstance(target, cst.Name):
        return [target.value]
    return [name for element in getattr(target, "elements", ()) for name in _names(element.value)]


def _dotted(text: str) -> cst.BaseExpression:
    first, *rest = text.split(".")
    node: cst.BaseExpression = cst.Name(first)
    for part in rest:
        node = cst.Attribute(node, cst.Name(part))
    return node

