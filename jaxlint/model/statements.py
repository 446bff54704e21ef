"""Statements: how control flows and what gets bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import libcst as cst

from jaxlint.model import events
from jaxlint.model.builtin_calls import BuiltinCalls
from jaxlint.model.calls import Arguments
from jaxlint.model.machine import Loop
from jaxlint.model.shapes import nbytes
from jaxlint.model.state import Contents, Frame, State, fresh, join_states, join_values, scalar_type
from jaxlint.model.syntax import bound_names, dotted_name, last_name
from jaxlint.model.values import (
    NONE,
    UNKNOWN,
    Array,
    Class,
    Constant,
    Function,
    Imported,
    Keys,
    NumpyArray,
    Reference,
    Scalar,
    Transformed,
    Unknown,
    Value,
)

AUGMENTED: dict[type[cst.BaseAugOp], type[cst.BaseBinaryOp]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
    cst.DivideAssign: cst.Divide,
    cst.FloorDivideAssign: cst.FloorDivide,
    cst.ModuloAssign: cst.Modulo,
    cst.PowerAssign: cst.Power,
    cst.MatrixMultiplyAssign: cst.MatrixMultiply,
    cst.BitAndAssign: cst.BitAnd,
    cst.BitOrAssign: cst.BitOr,
    cst.BitXorAssign: cst.BitXor,
    cst.LeftShiftAssign: cst.LeftShift,
    cst.RightShiftAssign: cst.RightShift,
}
DATACLASS_BASES = ("typing.NamedTuple", "equinox.Module", "typing_extensions.NamedTuple")
DATACLASS_DECORATORS = (
    "dataclasses.dataclass",
    "flax.struct.dataclass",
    "chex.dataclass",
    "attr.s",
    "attrs.define",
)
TRANSPARENT = frozenset(
    {
        "abc.abstractmethod",
        "contextlib.contextmanager",
        "flax.linen.compact",
        "flax.linen.nowrap",
        "functools.wraps",
        "typing.final",
        "typing.no_type_check",
        "typing.overload",
        "typing.override",
        "typing_extensions.override",
    }
)
"""Decorators that leave a function as it is, as far as the model goes."""
ASSERTING = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
CATCHING = ASSERTING | {"suppress"}
"""Context managers that catch what is raised in them, and those that ask for it."""
IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError", "Exception")


class Statements(BuiltinCalls):
    """Executes statements. A block stops where no path goes on."""

    def run_block(self, body: cst.CSTNode) -> None:
        for statement in body.body:  # type: ignore[attr-defined]
            if not self.reachable:
                return
            if type(statement) is cst.SimpleStatementLine:
                for small in statement.body:
                    self.count_step()
                    self.visit(small)
                    if not self.reachable:
                        return
            else:
                self.count_step()
                self.visit(statement)

    # --- simple statements ---

    def visit_Expr(self, node: cst.Expr) -> Value:
        return UNKNOWN if type(node.value) is cst.SimpleString else self.visit(node.value)

    def visit_Return(self, node: cst.Return) -> Value:
        value = self.visit(node.value) if node.value is not None else NONE
        self.frame.exits.append((self.state, value))
        self.enter(None)
        return UNKNOWN

    def visit_Raise(self, node: cst.Raise) -> Value:
        for part in (node.exc, node.cause.item if node.cause else None):
            if part is not None:
                self.visit(part)
        self.enter(None)
        return UNKNOWN

    def visit_Assert(self, node: cst.Assert) -> Value:
        truth = self.truth(self.visit(node.test))
        if truth is None:
            self.assume(node.test, True)
        return UNKNOWN

    def visit_Break(self, node: cst.Break) -> Value:
        self.innermost().breaks.append(self.state)
        self.enter(None)
        return UNKNOWN

    def visit_Continue(self, node: cst.Continue) -> Value:
        self.innermost().continues.append(self.state)
        self.enter(None)
        return UNKNOWN

    def innermost(self) -> Loop:
        """The loop that a `break` leaves."""
        return self.loops[-1] if self.loops else Loop(0, cst.Pass(), 0)

    def visit_Global(self, node: cst.Global) -> Value:
        for item in node.names:
            self.frame.nonlocals[item.name.value] = self.globals
        return UNKNOWN

    def visit_Nonlocal(self, node: cst.Nonlocal) -> Value:
        for item in node.names:
            frame = self.frame.parent
            while frame is not None and item.name.value not in frame.names:
                frame = frame.parent
            self.frame.nonlocals[item.name.value] = frame or self.globals
        return UNKNOWN

    def visit_Import(self, node: cst.Import) -> Value:
        for alias in node.names:
            path = dotted_name(alias.name)
            self.note_pallas(path, ())
            if alias.asname is not None:
                self.bind(alias.asname.name, Imported(path=path))
            else:
                first = path.partition(".")[0]
                self.bind_name(first, Imported(path=first))
        return UNKNOWN

    def visit_ImportFrom(self, node: cst.ImportFrom) -> Value:
        module = "." * len(node.relative) + dotted_name(node.module)
        self.note_pallas(module, node.names)
        if isinstance(node.names, cst.ImportStar):
            self.stars.append(module)
            return UNKNOWN
        for alias in node.names:
            name = dotted_name(alias.name)
            value = (
                self.resolve(f"{module}.{name}")
                if not node.relative
                else Unknown(symbol=("import", module, name))
            )
            target = alias.asname.name if alias.asname is not None else alias.name
            self.bind(target, value)
        return UNKNOWN

    def note_pallas(self, module: str, names: Sequence[cst.ImportAlias] | cst.ImportStar) -> None:
        aliases = () if isinstance(names, cst.ImportStar) else names
        if "pallas" in module or any(dotted_name(alias.name) == "pallas" for alias in aliases):
            self.refs_are_arrays = True

    def visit_Del(self, node: cst.Del) -> Value:
        targets = (
            [element.value for element in node.target.elements]
            if type(node.target) is cst.Tuple
            else [node.target]
        )
        for target in targets:
            if type(target) is cst.Name:
                self.state.names.pop(target.value, None)
            elif type(target) is cst.Subscript:
                base = self.visit(target.value)
                self.indices(target)
                if isinstance(base, Array):
                    self.emit(
                        events.ItemDeleted(target, base, self.text(target.value), self.index_text(target))
                    )
                self.escape_all([base])
            elif type(target) is cst.Attribute:
                base = self.visit(target.value)
                if isinstance(base, Reference) and (contents := self.contents(base)) is not None:
                    slots = {
                        name: value for name, value in contents.slots.items() if name != target.attr.value
                    }
                    self.write(base.address, replace(contents, slots=slots))
        return UNKNOWN

    # --- assignment ---

    def visit_Assign(self, node: cst.Assign) -> Value:
        value = self.visit(node.value)
        for target in node.targets:
            self.bind(target.target, value, node.value)
        return UNKNOWN

    def visit_AnnAssign(self, node: cst.AnnAssign) -> Value:
        if node.value is not None:
            value = self.visit(node.value)
            if type(value) is Unknown:
                annotated = self.annotated(node.annotation.annotation, value.symbol or fresh())
                value = annotated.with_traced(value.traced)
            self.bind(node.target, value, node.value)
        if self.frame.fields is not None and type(node.target) is cst.Name:
            self.frame.fields[node.target.value] = node.annotation.annotation
        return UNKNOWN

    def visit_AugAssign(self, node: cst.AugAssign) -> Value:
        target = node.target
        operator = AUGMENTED[type(node.operator)]()
        if type(target) is cst.Subscript:
            base, indices = self.visit(target.value), self.indices(target)
            right = self.visit(node.value)
            text = self.module.code_for_node(node.operator).strip()[:-1]
            old = self.item(base, indices)
            self.store_item(target, base, indices, self.binary(node, old, operator, right), text)
            return UNKNOWN
        left, right = self.visit(target), self.visit(node.value)
        if isinstance(left, Reference) and left.type == "list":
            self.list_method(left, "extend", Arguments([right], [node.value]))
            return UNKNOWN
        value = left if isinstance(left, NumpyArray) else self.binary(node, left, operator, right)
        self.bind(target, value, node.value)
        return UNKNOWN

    def bind(self, target: cst.CSTNode, value: Value, source: cst.CSTNode | None = None) -> None:
        if type(target) is cst.Name:
            self.bind_name(target.value, value, target)
        elif isinstance(target, (cst.Tuple, cst.List)):
            self.unpack(target.elements, value)
        elif type(target) is cst.Attribute:
            self.store_attribute(target, self.visit(target.value), value)
        elif type(target) is cst.Subscript:
            base = self.visit(target.value)
            self.store_item(target, base, self.indices(target), value, "")
        elif type(target) is cst.StarredElement:
            self.bind(target.value, value)

    def bind_name(self, name: str, value: Value, site: cst.CSTNode | None = None) -> None:
        owner = self.frame.nonlocals.get(name)
        if owner is not None and owner is not self.frame:
            self.note_unrepeatable()
            old = owner.names.get(name)
            owner.names[name] = value if old is None else join_values(old, value)
        else:
            names = self.state.names
            if self.loops and isinstance(value, Array) and value.identity is not None and site is not None:
                self.check_rebinding(name, names.get(name), value, site)
            names[name] = value
        self.versions[name] = fresh()[0]
        if site is not None and self.on_bound is not None:
            self.on_bound(site, name, value)

    on_bound: Callable[[cst.CSTNode, str, Value], None] | None = None

    def unpack(self, elements: Sequence[cst.BaseElement], value: Value) -> None:
        """Assign the elements of `value` to several targets."""
        count = len(elements)
        star = next((i for i, element in enumerate(elements) if type(element) is cst.StarredElement), None)
        items = self.items(value)
        for index, element in enumerate(elements):
            if star is None:
                part = self.unpacked(value, items, index, count)
            elif index < star:
                part = self.unpacked(value, items, index, None)
            elif index == star:
                after = count - star - 1
                inside = None if items is None else items[star : len(items) - after]
                part = (
                    Keys(value.traced, fresh(), (None,))
                    if isinstance(value, Keys) and inside is None
                    else self.new_list(inside)
                )
            else:
                part = self.unpacked(value, items, index - count, None)
            self.bind(element.value, part)

    def unpacked(self, value: Value, items: tuple[Value, ...] | None, index: int, count: int | None) -> Value:
        if items is not None:
            fits = len(items) == count if count is not None else -len(items) <= index < len(items)
            return items[index] if fits else Unknown(symbol=fresh())
        if isinstance(value, Keys):
            return self.element_of_keys(value, ("at", index))
        if isinstance(value, Unknown):
            return self.slot_of_unknown(value, "[", index) if value.symbol else Unknown(value.traced, fresh())
        return self.element(value, index)

    def store_attribute(self, target: cst.Attribute, base: Value, value: Value) -> None:
        name = target.attr.value
        self.bump("." + name)
        if isinstance(base, Reference) and (contents := self.contents(base)) is not None:
            if self.loops and isinstance(value, Array) and value.identity is not None:
                self.check_rebinding(self.text(target), contents.slots.get(name), value, target)
            self.write(base.address, contents.storing(name, value))
            if isinstance(contents.cls, Class):
                self.note_attribute(contents.cls, name, value)
        elif isinstance(base, Class):
            self.store_class_attribute(base, name, value)
        elif isinstance(base, Unknown) and base.symbol is not None:
            self.store_unknown(base, (".", name), value)
        if self.on_bound is not None:
            self.on_bound(target, self.text(target), value)

    def store_class_attribute(self, cls: Class, name: str, value: Value) -> None:
        """A class belongs to no path: what it holds is weakened."""
        self.note_unrepeatable()
        old = cls.members.get(name)
        cls.members[name] = value if old is None else join_values(old, value)

    def store_unknown(self, base: Unknown, slot: tuple[str, Any], value: Value) -> None:
        assert base.symbol is not None
        contents = self.state.heap.get(base.symbol) or Contents({}, UNKNOWN)
        self.write(base.symbol, contents.storing(slot, value))

    def store_item(
        self,
        target: cst.Subscript,
        base: Value,
        indices: list[Value | cst.Slice],
        value: Value,
        operator: str,
    ) -> None:
        """`base[indices] = value`, or in place with an operator."""
        if isinstance(base, Array):
            site = events.ItemStored(target, base, self.text(target.value), self.index_text(target), operator)
            self.emit(site)
            return
        index = indices[0] if len(indices) == 1 else None
        if isinstance(base, Reference) and (contents := self.contents(base)) is not None:
            self.store_slot(target, base, contents, index, value)
        elif isinstance(base, Unknown):
            many = len(indices) > 1 and self.has_slice(indices)
            if many or (isinstance(index, Array) and index.dtype == "bool"):
                self.note_evidence(base)
            identity = self.index_identity(index)
            if base.symbol is not None:
                # A data frame, a file… may turn an array into something of its own.
                kept = Unknown(symbol=fresh()) if isinstance(value, Array) else value
                self.store_unknown(base, ("[", fresh() if identity is None else identity), kept)
            self.kept([value])

    def store_slot(
        self,
        target: cst.Subscript,
        base: Reference,
        contents: Contents,
        index: Value | cst.Slice | None,
        value: Value,
    ) -> None:
        known = isinstance(index, Constant) and isinstance(index.value, (int, str))
        if known and base.type in ("dict", "list"):
            slot = index.value  # type: ignore[union-attr]
            if base.type == "list" and isinstance(slot, int) and slot < 0:
                slot += len(contents.slots)
            if self.loops and isinstance(value, Array) and value.identity is not None:
                self.check_rebinding(self.text(target), contents.slots.get(slot), value, target)
            self.write(base.address, contents.storing(slot, value))
            return
        self.kept([value])
        joined = {slot: join_values(old, value) for slot, old in contents.slots.items()}
        rest = join_values(contents.rest, value) if contents.rest is not None else value
        if base.type == "dict" or not contents.complete:
            self.write(base.address, replace(contents, slots=joined, rest=rest))
        else:
            self.write(base.address, replace(contents, slots=joined))

    def index_text(self, target: cst.Subscript) -> str:
        return ", ".join(self.text(element.slice) for element in target.slice)

    def check_rebinding(self, name: str, old: Value | None, new: Array, site: cst.CSTNode) -> None:
        """In a loop, does `name` still hold what the last pass allocated here?"""
        if (
            not isinstance(old, Array)
            or old.identity is None
            or new.identity is None
            or self.trace is not None
        ):
            return
        if (
            old.identity[0] != "made"
            or old.identity[:2] != new.identity[:2]
            or old.identity in self.state.dead
        ):
            return
        loop = next((loop for loop in reversed(self.loops) if loop.pass_number > 0), None)
        if loop is None or self.reads.get(old.identity, 0) > loop.started or self.held_elsewhere(name, old):
            return
        if not self.held_before(loop):
            return
        size = nbytes(new)
        if size is not None:
            self.emit(events.LargeArrayRebound(site, name, new, size, loop.node))

    def held_elsewhere(self, name: str, array: Array) -> bool:
        """Whether something else than `name` holds the array too."""
        names = [value for other, value in self.state.names.items() if other != name]
        slots = [value for contents in self.state.heap.values() for value in contents.slots.values()]
        holders = sum(value is array for value in slots) - ("." in name or "[" in name)
        return any(value is array for value in names) or holders > 0

    # --- branches ---

    def visit_If(self, node: cst.If) -> Value:
        test = self.visit(node.test)
        truth = self.truth(test)
        if type(test) is Imported and test.path == "typing.TYPE_CHECKING":
            truth = True
        if truth is not None:
            self.frame.pruned = True
            if self.frame.nonlocals:  # what others bind too may be something else next time
                self.assume_facts(node.test, truth)
            chosen = node.body if truth else node.orelse
            if chosen is not None:
                self.run_suite(chosen)
            return UNKNOWN
        implied = self.implied(node.test) if self.state.facts else None
        if implied is not None:
            chosen = node.body if implied else node.orelse
            if chosen is not None:
                self.run_suite(chosen)
            return UNKNOWN
        other = self.state.fork()
        facts = other.facts
        going_on = len(self.loops[-1].continues) if self.loops else 0
        self.assume(node.test, True)
        self.run_suite(node.body)
        after = self.leave()
        self.enter(other)
        self.assume(node.test, False)
        left = after is None and self.loops and going_on == len(self.loops[-1].continues)
        if left and self.loops[-1].depth == len(self.calls):
            # Who meets the next pass did not leave the loop here in this one.
            other.facts = facts | {(key, outcome, True) for key, outcome, _ in other.facts - facts}
        if node.orelse is not None:
            self.run_suite(node.orelse)
        self.enter(join_states(after, self.leave()))
        return UNKNOWN

    def run_suite(self, node: cst.CSTNode) -> None:
        """Execute the body of a branch: `else` parts hold theirs one level down."""
        if type(node) is cst.If:
            self.visit(node)
        elif isinstance(node, (cst.Else, cst.Finally)):
            self.run_suite(node.body)
        elif type(node) is cst.SimpleStatementSuite:
            for small in node.body:
                self.count_step()
                if self.reachable:
                    self.visit(small)
        else:
            self.run_block(node)

    def assume(self, test: cst.BaseExpression, outcome: bool) -> None:
        """Go on knowing how `test` came out."""
        self.assume_facts(test, outcome)
        self.narrow(test, outcome)

    def narrow(self, test: cst.BaseExpression, outcome: bool) -> None:
        """What a test says of the names in it: `x is None`, `isinstance(x, …)`."""
        kind = type(test)
        if kind is cst.Comparison:
            self.narrow_none(test, outcome)  # type: ignore[arg-type]
        elif kind is cst.Call:
            if outcome and len(test.args) == 2:  # type: ignore[attr-defined]
                self.narrow_instance(test)  # type: ignore[arg-type]
        elif type(test) is cst.UnaryOperation and type(test.operator) is cst.Not:
            self.narrow(test.expression, not outcome)
        elif type(test) is cst.BooleanOperation and type(test.operator) is cst.And and outcome:
            self.narrow(test.left, True)
            self.narrow(test.right, True)

    def narrow_none(self, test: cst.Comparison, outcome: bool) -> None:
        target = test.comparisons[0]
        if len(test.comparisons) > 1 or not isinstance(target.operator, (cst.Is, cst.IsNot)):
            return
        is_none = type(target.comparator) is cst.Name and target.comparator.value == "None"
        if is_none and type(test.left) is cst.Name and outcome is (type(target.operator) is cst.Is):
            self.state.names[test.left.value] = NONE

    def narrow_instance(self, test: cst.Call) -> None:
        subject, kind = test.args[0].value, test.args[1].value
        if not (
            type(test.func) is cst.Name and test.func.value == "isinstance" and type(subject) is cst.Name
        ):
            return
        value, named = self.visit(subject), self.visit(kind)
        if isinstance(value, Array) and self.is_instance(value, named) is None:
            self.state.names[subject.value] = Unknown(value.traced, fresh())
        if not isinstance(value, Unknown) or not isinstance(named, Imported):
            return
        word = self.type_word(named.path)
        if word == "ArrayType":
            self.state.names[subject.value] = Array(value.traced)
        elif word == "NumPyType":
            self.state.names[subject.value] = NumpyArray(value.traced)
        elif named.path.startswith("builtins."):
            self.state.names[subject.value] = Scalar(value.traced, named.path[9:], value.symbol)

    def visit_Match(self, node: cst.Match) -> Value:
        """Cases exclude each other: each starts from the state before the statement."""
        subject = self.visit(node.subject)
        joined: State | None = None
        exhaustive = False
        for number, case in enumerate(node.cases):
            if self.excludes(case.pattern, subject):
                self.frame.pruned = True
                continue
            other = self.state.fork()
            self.state.facts |= {((self.frame.serial, id(node), number), True, False)}
            self.bind_pattern(case.pattern)
            if case.guard is not None:
                self.visit(case.guard)
            self.run_suite(case.body)
            joined = join_states(joined, self.leave())
            irrefutable = (
                type(case.pattern) is cst.MatchAs and case.pattern.pattern is None and case.guard is None
            )
            exhaustive = exhaustive or irrefutable
            self.enter(other)
        self.enter(joined if exhaustive else join_states(joined, self.leave()))
        return UNKNOWN

    def excludes(self, pattern: cst.MatchPattern, subject: Value) -> bool:
        """Whether a pattern asks for another class than the subject's."""
        if type(pattern) is cst.MatchOr:
            return all(self.excludes(part.pattern, subject) for part in pattern.patterns)
        return type(pattern) is cst.MatchClass and self.is_instance(subject, self.visit(pattern.cls)) is False

    def bind_pattern(self, pattern: cst.MatchPattern) -> None:
        """Names that a pattern binds hold anything."""
        name = getattr(pattern, "name", None)
        if type(name) is cst.Name:
            self.bind_name(name.value, Unknown(symbol=fresh()))
        for field in ("pattern", "patterns", "elements", "kwds", "left", "right", "rest"):
            part = getattr(pattern, field, None)
            for inner in part if isinstance(part, (list, tuple)) else (part,):
                inner = getattr(inner, "value", inner) if not isinstance(inner, cst.MatchPattern) else inner
                if isinstance(inner, (cst.MatchPattern, cst.MatchSequenceElement, cst.MatchStar)):
                    self.bind_pattern(inner)  # type: ignore[arg-type]
                inner = getattr(inner, "pattern", None)
                if isinstance(inner, cst.MatchPattern):
                    self.bind_pattern(inner)

    # --- loops ---

    def run_loop(
        self,
        node: cst.CSTNode,
        start: Callable[[int], None],
        body: Callable[[], None],
        passes: int,
        orelse: cst.Else | None = None,
        surely: bool = False,
    ) -> None:
        """A loop's body is run a second time with what its first pass left. To keep the
        cost linear in nesting, the second pass of a loop runs the loops in it once. Who
        breaks out does not meet `orelse`; `surely` says that there is a first pass."""
        if any(loop.pass_number > 0 for loop in self.loops):
            passes = min(passes, 1)
        before = self.state.fork()
        facts = self.state.facts
        loop = Loop(fresh()[0], node, len(self.calls), facts=facts)
        self.loops.append(loop)
        for number in range(passes):
            loop.pass_number, loop.started = number, fresh()[0]
            start(number)
            body()
            state = self.leave()
            for other in loop.continues:
                state = join_states(state, other)
            loop.continues = []
            self.enter(state)
            if state is None:
                break
            if number + 1 < passes:
                self.state.facts = facts
        self.loops.pop()
        if loop.breaks:
            self.forget_iteration(loop.token)
        self.enter(self.leave() if surely and passes else join_states(self.leave(), before))
        if orelse is not None and self.reachable:
            self.run_suite(orelse)
        state = self.leave()
        for other in loop.breaks:
            state = join_states(state, other)
        self.enter(state)

    def forget_iteration(self, token: int) -> None:
        """A loop that may be left early does not go through a whole batch of keys."""
        uses = self.state.uses
        for identity in [identity for identity in uses if identity[-1] == "all"]:
            uses[identity] = tuple(use for use in uses[identity] if use.iteration != token)

    def widen(self, node: cst.CSTNode) -> None:
        """Constants that the loop changes are of their type from the start: the loop runs
        twice here, and any number of times in earnest."""
        for name in self.names_bound_in(node):
            if name.startswith("."):
                for address, contents in list(self.state.heap.items()):
                    value = contents.slots.get(name[1:])
                    if isinstance(value, Constant):
                        self.write(address, contents.storing(name[1:], self.widened(value)))
            else:
                value = self.state.names.get(name)
                if isinstance(value, Constant):
                    self.state.names[name] = self.widened(value)

    def names_bound_in(self, node: cst.CSTNode) -> frozenset[str]:
        if id(node) not in self._bound:
            self._bound[id(node)] = bound_names(node)
        return self._bound[id(node)]

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._bound: dict[int, frozenset[str]] = {}

    @staticmethod
    def widened(value: Constant) -> Value:
        kind = scalar_type(value)
        return Unknown(symbol=fresh()) if kind is None else Scalar(type=kind, symbol=fresh())

    def visit_For(self, node: cst.For) -> Value:
        iterable = self.visit(node.iter)
        self.widen(node.body)

        def start(number: int) -> None:
            self.bind(node.target, self.element(iterable, number))

        body, passes = node.body, self.passes(iterable)
        surely = self.surely_passes(iterable)
        self.run_loop(node, start, lambda: self.run_suite(body), passes, node.orelse, surely)
        return UNKNOWN

    def visit_While(self, node: cst.While) -> Value:
        self.widen(node.body)

        def body() -> None:
            self.visit(node.test)
            self.run_suite(node.body)

        self.run_loop(node, lambda _: None, body, 2, node.orelse)
        return UNKNOWN

    # --- with, try ---

    def visit_With(self, node: cst.With) -> Value:
        managers = {last_name(item.item.func) for item in node.items if type(item.item) is cst.Call}
        before = self.state.fork() if managers & CATCHING else None
        expected = self.expected
        for item in node.items:
            value = self.visit(item.item)
            if item.asname is not None:
                self.bind(
                    item.asname.name, value if isinstance(value, Reference) else Unknown(symbol=fresh())
                )
        if managers & ASSERTING:
            self.expected = (*expected, events.ItemStored, events.ItemDeleted, events.KeyReused)
        self.run_suite(node.body)
        self.expected = expected
        if before is not None:
            self.enter(join_states(self.leave(), before))
        return UNKNOWN

    def visit_Try(self, node: cst.Try | cst.TryStar) -> Value:
        """The body may stop anywhere: a handler starts from what holds before it, with
        the names as they are before or after."""
        before = self.state.fork()
        uses = before.uses.copy()
        expected = self.expected
        if any("TypeError" in self.caught(handler) for handler in node.handlers):
            self.expected = (*expected, events.ItemStored, events.ItemDeleted)
        self.run_suite(node.body)
        self.expected = expected
        after = self.leave()
        base = before.fork()
        if after is not None:
            base = join_states(base, after.fork()) or base
        base.uses = uses
        if node.orelse is not None and after is not None:
            self.run_suite(node.orelse)
        joined = self.leave()
        for handler in node.handlers:
            self.enter(base.fork())
            # Nobody knows why the body stopped, nor whether it does so in the next pass.
            self.state.facts |= {(("except", fresh()), True, False)}
            if handler.name is not None:
                self.bind(handler.name.name, UNKNOWN)
            self.run_suite(handler.body)
            ended = self.leave()
            if not (self.catches_import_error(handler) and after is not None and self.imports(node.body)):
                joined = join_states(joined, ended)
        self.enter(joined)
        if node.finalbody is not None:
            if joined is None:
                self.enter(base)
            self.run_suite(node.finalbody)
            if joined is None:
                self.enter(None)
        return UNKNOWN

    visit_TryStar = visit_Try

    def catches_import_error(self, handler: Any) -> bool:
        return handler.type is None or any(name in IMPORT_ERRORS for name in self.caught(handler))

    @staticmethod
    def caught(handler: Any) -> list[str]:
        """The names of the exceptions that a handler names."""
        if type(handler.type) is cst.Tuple:
            return [dotted_name(element.value) for element in handler.type.elements]
        return [dotted_name(handler.type)]

    @staticmethod
    def imports(body: cst.BaseSuite) -> bool:
        """Whether a `try` body is there to import: where it works, the handler is not run."""
        first = body.body[0] if body.body else None
        return type(first) is cst.SimpleStatementLine and isinstance(
            first.body[0], (cst.Import, cst.ImportFrom)
        )

    # --- definitions ---

    def visit_FunctionDef(self, node: cst.FunctionDef) -> Value:
        decorators = [(self.visit(decorator.decorator), decorator.decorator) for decorator in node.decorators]
        closure = self.frame
        if closure.fields is not None and closure.parent is not None:
            closure = closure.parent  # a class body is no scope for its methods
        function = Function(
            node=node, closure=closure, defaults=self.default_values(node.params), name=node.name.value
        )
        value: Value = function
        for decorator, site in reversed(decorators):
            value = self.decorated(value, decorator, site)
        self.frame.pending.append(function)
        self.bind_name(node.name.value, value, node.name)
        return UNKNOWN

    def decorated(self, value: Value, decorator: Value, site: cst.CSTNode) -> Value:
        """What a decorator makes of a function."""
        if isinstance(decorator, Imported):
            tail = decorator.path.rpartition(".")[2]
            if decorator.path in ("builtins.staticmethod", "builtins.classmethod", "builtins.property"):
                return Transformed(function=value, transform=tail)
            if tail == "cached_property":
                return Transformed(function=value, transform=tail)
            if decorator.path in TRANSPARENT:
                return value
        if isinstance(decorator, Unknown) and self.is_transparent_call(site):
            return value
        return self.call(site, decorator, Arguments([value], [site]))

    def is_transparent_call(self, site: cst.CSTNode) -> bool:
        if type(site) is not cst.Call:
            return False
        function = self.visit(site.func)
        return isinstance(function, Imported) and function.path in TRANSPARENT

    def visit_ClassDef(self, node: cst.ClassDef) -> Value:
        bases = tuple(self.visit(base.value) for base in node.bases)
        decorators = [(self.visit(item.decorator), item.decorator) for item in node.decorators]
        outer_names, outer = self.state.names, self.frame
        frame = Frame(outer, {}, outer.trace)
        frame.fields = {}
        self.frame, self.state.names = frame, frame.names
        self.run_suite(node.body)
        members: dict[str, Any] = dict(self.state.names)
        self.frame, self.state.names = outer, outer_names
        outer.names = outer_names
        self.reachable = True
        annotations: dict[str, cst.BaseExpression] = {}
        for base in bases:
            if isinstance(base, Class):
                annotations.update(base.annotations)
        annotations.update(frame.fields)
        fields = tuple(annotations) if self.is_record(bases, decorators) else ()
        cls = Class(None, node.name.value, node, members, annotations, fields, bases)
        self.bind_name(node.name.value, cls, node.name)
        self.methods[id(node)] = [item for item in frame.pending if isinstance(item, Function)]
        self.frame.pending.extend([cls, *(item for item in frame.pending if isinstance(item, Class))])
        return UNKNOWN

    def is_record(self, bases: tuple[Value, ...], decorators: list[tuple[Value, cst.BaseExpression]]) -> bool:
        """Whether the annotations of a class body are the arguments of its constructor."""
        paths = [base.path for base in bases if isinstance(base, Imported)]
        for value, site in decorators:
            function = self.visit(site.func) if type(site) is cst.Call else value
            paths.extend([function.path] if isinstance(function, Imported) else [])
        inherited = any(isinstance(base, Class) and base.fields for base in bases)
        return inherited or any(path in DATACLASS_BASES or path in DATACLASS_DECORATORS for path in paths)
