"""Calls: what is called with what, and functions of the file, which are followed with
their actual arguments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import libcst as cst

from jaxlint.model import events
from jaxlint.model.expressions import Expressions
from jaxlint.model.machine import MAX_DEPTH
from jaxlint.model.objects import AT_VIEW
from jaxlint.model.state import Contents, Frame, fresh, join_states, scalar_type
from jaxlint.model.summaries import NotSummarisable, Numbering, Recorder, Summary
from jaxlint.model.syntax import has_yield, written_outside
from jaxlint.model.values import (
    NONE,
    UNKNOWN,
    Array,
    Class,
    Constant,
    Function,
    Imported,
    Library,
    NumpyArray,
    Partial,
    Reference,
    Scalar,
    Tracing,
    Transformed,
    Tuple,
    Unknown,
    Value,
)

KEEPING_METHODS = frozenset(
    {"append", "add", "put", "extend", "insert", "update", "setdefault", "push", "appendleft"}
)
MAX_NESTED = 3
CONTAINER_METHODS = {"list": "list_method", "dict": "dict_method", "set": "set_method"}

CALL_HANDLERS: dict[type[Value], str] = {
    Function: "call_function",
    Library: "call_library",
    Transformed: "call_transformed",
    Partial: "call_partial",
    Class: "construct",
    Reference: "call_instance",
    Imported: "call_imported",
}
"""What is called, and the method that calls it."""


@dataclass(slots=True)
class Arguments:
    """The arguments of a call, evaluated. `open` says that a star hides some."""

    values: list[Value] = field(default_factory=list)
    nodes: list[cst.CSTNode] = field(default_factory=list)
    keywords: dict[str, Value] = field(default_factory=dict)
    keyword_nodes: dict[str, cst.CSTNode] = field(default_factory=dict)
    open: bool = False

    def every(self) -> Iterable[Value]:
        yield from self.values
        yield from self.keywords.values()

    def pairs(self) -> list[tuple[Value, cst.CSTNode]]:
        named = [
            (value, self.keyword_nodes[name])
            for name, value in self.keywords.items()
            if name in self.keyword_nodes
        ]
        return [*zip(self.values, self.nodes, strict=False), *named]


class Calls(Expressions):
    """Evaluates calls."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.covered: set[int] = set()
        self.generators: dict[int, bool] = {}

    def run_block(self, body: cst.CSTNode) -> None:
        """Execute the statements of a body."""
        raise NotImplementedError

    def names_bound_in(self, node: cst.CSTNode) -> frozenset[str]:
        """The names and ".attributes" that statements below `node` bind."""
        raise NotImplementedError

    # --- what the other parts provide ---

    def call_library(self, site: cst.CSTNode, library: Library, args: Arguments) -> Value:
        """Call a function of a library."""
        raise NotImplementedError

    def run_pending(self, frame: Frame) -> None:
        """Analyse what was defined in `frame` and not called."""
        raise NotImplementedError

    def note_custom_rules(self, base: Transformed, args: Arguments) -> None:
        """`f.defvjp(forward, backward)`: the functions are called by JAX."""
        raise NotImplementedError

    # --- evaluating a call expression ---

    def visit_Call(self, node: cst.Call) -> Value:
        if type(node.func) is cst.Attribute:
            base = self.visit(node.func.value)
            return self.call_method(node, base, node.func.attr.value, self.arguments(node))
        function = self.visit(node.func)
        return self.call(node, function, self.arguments(node))

    def arguments(self, node: cst.Call) -> Arguments:
        args = Arguments()
        for argument in node.args:
            value = self.visit(argument.value)
            if argument.star == "*":
                items = self.items(value)
                if items is None:
                    args.open = True
                else:
                    args.values.extend(items)
                    args.nodes.extend([argument.value] * len(items))
            elif argument.star == "**":
                contents = self.contents(value)
                args.open = args.open or contents is None or not contents.complete
                if contents is not None:
                    args.keywords.update(
                        {name: item for name, item in contents.slots.items() if isinstance(name, str)}
                    )
            elif argument.keyword is not None:
                args.keywords[argument.keyword.value] = value
                args.keyword_nodes[argument.keyword.value] = argument.value
            else:
                args.values.append(value)
                args.nodes.append(argument.value)
        return args

    def call_value(self, site: cst.CSTNode, function: Value, args: list[Value]) -> Value:
        return self.call(site, function, Arguments(list(args), [site] * len(args)))

    def call(self, site: cst.CSTNode, function: Value, args: Arguments) -> Value:
        """The value of a call of any value."""
        handler = CALL_HANDLERS.get(type(function))
        if handler is not None:
            value: Value = getattr(self, handler)(site, function, args)
            return value
        if isinstance(function, Unknown) and function.symbol == ("global", "reveal") and args.values:
            self.emit(events.Revealed(site, args.values[0].describe()))
            return NONE
        self.escape_all(args.every())
        return Unknown(function.traced, fresh())

    def call_method(self, site: cst.CSTNode, base: Value, name: str, args: Arguments) -> Value:
        """The value of `base.name(…)`."""
        if isinstance(base, Imported):
            return self.call(site, self.resolve(f"{base.path}.{name}"), args)
        if isinstance(base, Library) and base.signature is AT_VIEW:
            return self.updated(site, base.owner, name)
        if isinstance(base, Reference) and base.type in CONTAINER_METHODS:
            value: Value = getattr(self, CONTAINER_METHODS[base.type])(base, name, args)
            return value
        if isinstance(base, (Reference, Class, Array, Partial)):
            return self.call_member(site, base, name, args)
        if isinstance(base, Transformed):
            self.note_custom_rules(base, args)
            return Unknown(symbol=fresh())
        if isinstance(base, NumpyArray):
            return (
                NumpyArray()
                if name in ("copy", "astype", "reshape", "ravel", "flatten", "transpose")
                else UNKNOWN
            )
        if isinstance(base, (Scalar, Constant)):
            return Scalar(type=scalar_type(base) or "object")
        if name in KEEPING_METHODS:
            self.kept(args.every())
        self.escape_all([base, *args.every()])
        return Unknown(base.traced, fresh())

    def call_member(self, site: cst.CSTNode, base: Value, name: str, args: Arguments) -> Value:
        if isinstance(base, Array) and name == "delete":
            if base.identity is not None:
                self.kill({base.identity})
            return NONE
        if (
            isinstance(base, Reference)
            and name == "_replace"
            and (contents := self.contents(base)) is not None
        ):
            return self.new_object("instance", replace(contents, slots={**contents.slots, **args.keywords}))
        member = self.attribute(base, name, site)
        if isinstance(member, Unknown):
            self.escape_all([base, *args.every()])
            return Unknown(member.traced, fresh())
        return self.call(site, member, args)

    def updated(self, site: cst.CSTNode, owner: Value | None, method: str) -> Value:
        """What `owner.at[…].method(…)` gives: an array like its owner."""
        if method == "get":
            return Array(self.trace)
        if isinstance(owner, Array):
            return self.allocated(site, owner.shape, owner.dtype, owner.traced)
        return Array((owner.traced if owner is not None else None) or self.trace)

    # --- what unknown code may do ---

    def escape_all(self, values: Iterable[Value], depth: int = 0) -> None:
        """Unknown code gets these values: what they hold is no longer known."""
        for value in values:
            if isinstance(value, Reference):
                contents = self.state.heap.get(value.address)
                if contents is None:
                    continue
                if depth < MAX_NESTED:
                    self.escape_all(contents.slots.values(), depth + 1)
                self.write(value.address, Contents({}, UNKNOWN, contents.cls, contents.symbol))
                self.bump((".", contents.symbol))
            elif isinstance(value, Unknown) and value.symbol is not None:
                self.escape_symbol(value.symbol)
            elif isinstance(value, Tuple) and depth < MAX_NESTED:
                self.escape_all(value.items, depth + 1)
            elif isinstance(value, Function) and depth < MAX_NESTED:
                self.escape_written(value, depth + 1)

    def escape_written(self, function: Function, depth: int) -> None:
        """Unknown code may call a function: what it writes to outside is no longer known."""
        if not isinstance(function.node, cst.FunctionDef) or function.closure is None:
            return
        bound, stored = written_outside(function.node)
        for name in bound | stored:
            frame: Frame | None = function.closure
            while frame is not None and name not in frame.names:
                frame = frame.parent
            if frame is not None and name in bound:
                self.note_unrepeatable()
                frame.names[name] = Unknown(symbol=fresh())
                self.versions[name] = fresh()[0]
            elif frame is not None:
                self.escape_all([frame.names[name]], depth)

    def kept(self, values: Iterable[Value]) -> None:
        """Something else holds these arrays from now on."""
        held = {value.identity for value in values if isinstance(value, Array) and value.identity is not None}
        if held:
            self.kill(held)

    # --- functions of the file ---

    def call_function(
        self, site: cst.CSTNode, function: Function, args: Arguments, trace: Tracing | None = None
    ) -> Value:
        node = function.node
        blocked = (
            len(self.calls) >= MAX_DEPTH
            or self.steps > self.step_limit
            or any(node is n for n in self.running)
        )
        names = None if blocked or self.is_generator(node) else self.bind_parameters(function, args)
        if names is None:
            self.escape_all(args.every())
            return Unknown(symbol=fresh())
        self.calls.append(site)
        self.labels.append(args.pairs())
        try:
            return self.execute(function, names, trace or self.frame.trace)
        finally:
            self.calls.pop()
            self.labels.pop()

    def execute(self, function: Function, names: dict[str, Value], trace: Tracing | None) -> Value:
        """Replay what the function did with such arguments before, or execute it."""
        if function.closure is not self.globals or self.expected:
            return self.run_function(function, names, trace)
        numbering = Numbering(self)
        try:
            described = tuple(numbering.describe(value) for value in names.values())
            key = (id(function.node), trace, tuple(names), described)
            summary = self.memo.get(key)
        except (NotSummarisable, TypeError):
            return self.run_function(function, names, trace)
        if summary is not None and summary.is_current(self):
            return summary.replay(self, numbering)
        recorder = Recorder(len(self.calls), len(self.loops), self.state.facts, numbering)
        self.recorders.append(recorder)
        value = self.run_function(function, names, trace)
        self.recorders.pop()
        if self.recorders:
            self.recorders[-1].free.update(recorder.free)
        if (made := Summary.of(recorder, value, self)) is not None:
            self.memo[key] = made
        return value

    def is_generator(self, node: cst.CSTNode | None) -> bool:
        if type(node) is not cst.FunctionDef:
            return False
        if id(node) not in self.generators:
            self.generators[id(node)] = has_yield(node.body)
        return self.generators[id(node)]

    def bind_parameters(self, function: Function, args: Arguments) -> dict[str, Value] | None:
        """The names that a call binds; None where the arguments do not fit."""
        assert function.node is not None
        params = function.node.params
        defaults = dict(function.defaults)
        given = list(args.values)
        if function.owner is not None:
            given.insert(0, function.owner)
        keywords = dict(args.keywords)
        names: dict[str, Value] = {}
        for param in (*params.posonly_params, *params.params):
            name = param.name.value
            value = given.pop(0) if given else keywords.pop(name, None)
            value = self.argument_of(param, value, args, defaults, function.closure)
            if value is None:
                return None
            names[name] = value
        for param in params.kwonly_params:
            name = param.name.value
            names[name] = (
                self.argument_of(param, keywords.pop(name, None), args, defaults, function.closure) or UNKNOWN
            )
        fits = self.bind_rest(params, given, keywords, args, names)
        return names if fits else None

    def argument_of(
        self,
        param: cst.Param,
        value: Value | None,
        args: Arguments,
        defaults: dict[str, Value],
        closure: Frame | None,
    ) -> Value | None:
        """What a parameter is bound to: what was given for it, something that a star hides, or
        its default; None where there is nothing."""
        if value is not None:
            return self.as_annotated(value, param, closure)
        return self.parameter(param, closure, fresh()) if args.open else defaults.get(param.name.value)

    def bind_rest(
        self,
        params: cst.Parameters,
        given: list[Value],
        keywords: dict[str, Value],
        args: Arguments,
        names: dict[str, Value],
    ) -> bool:
        """Bind `*args` and `**kwargs`; False where there are arguments left without them."""
        if type(params.star_arg) is cst.Param:
            names[params.star_arg.name.value] = UNKNOWN if args.open else Tuple(items=tuple(given))
        elif given:
            return False
        if params.star_kwarg is not None:
            rest = UNKNOWN if args.open else None
            names[params.star_kwarg.name.value] = self.new_object("dict", Contents(keywords, rest))
            return True
        return not keywords

    def as_annotated(self, value: Value, param: cst.Param, closure: Frame | None) -> Value:
        """An argument about which nothing is known is what the annotation says."""
        if type(value) is not Unknown or param.annotation is None:
            return value
        return self.parameter(param, closure, value.symbol or fresh()).with_traced(value.traced)

    def run_function(self, function: Function, names: dict[str, Value], trace: Tracing | None) -> Value:
        """Execute a function's body with these names; the value that it returns."""
        node = function.node
        assert node is not None
        caller, outer_names, outer_facts = self.frame, self.state.names, self.state.facts
        frame = Frame(function.closure, names, trace)
        self.running.append(node)
        self.frame = frame
        self.state.names = names
        if type(node) is cst.Lambda:
            frame.exits.append((self.state, self.visit(node.body)))
        else:
            self.run_block(node.body)
            if self.reachable:
                frame.exits.append((self.state, NONE))
        value = self.join_exits(frame)
        returns = bool(frame.exits) or function.owner is not None  # a subclass may have another method
        frame.names = self.state.names
        self.frame = caller
        self.running.pop()
        self.state.names = caller.names = outer_names
        self.state.facts = outer_facts
        if not frame.pruned and not self.expected:
            self.covered.add(id(node))
        self.run_pending(frame)
        if not returns:
            self.never_returns()
        return Unknown(symbol=fresh()) if frame.yields else value

    def never_returns(self) -> None:
        """No path gets beyond the call that is running; that is not part of a summary."""
        self.note_unrepeatable()
        self.enter(None)

    def join_exits(self, frame: Frame) -> Value:
        """The state and value after a call. The values go through the join as names, so
        that keys are joined as keys."""
        joined = None
        for state, value in frame.exits:
            state.names["return"] = value
            joined = join_states(joined, state)
        self.enter(joined or self.state)
        self.reachable = True
        return self.state.names.pop("return", Unknown(symbol=fresh()))

    # --- other callables ---

    def call_partial(self, site: cst.CSTNode, function: Partial, args: Arguments) -> Value:
        names = {name: cst.Name(name) for name, _ in function.keywords}
        bound = Arguments(
            [*function.args, *args.values],
            [*[cst.Name("key")] * len(function.args), *args.nodes],
            {**dict(function.keywords), **args.keywords},
            {**names, **args.keyword_nodes},
            args.open,
        )
        return self.call(site, function.function, bound)

    def construct(self, site: cst.CSTNode, cls: Class, args: Arguments) -> Value:
        """A new instance of a class of the file."""
        instance = self.new_object("instance", Contents({}, UNKNOWN, cls, fresh()))
        initialiser = self.class_member(cls, "__init__")
        if isinstance(initialiser, Function):
            self.call_function(site, replace(initialiser, owner=instance), args)
        elif cls.fields and not args.open:
            slots = {name: cls.members[name] for name in cls.fields if name in cls.members}
            slots |= dict(zip(cls.fields, args.values, strict=False))
            slots |= {name: value for name, value in args.keywords.items() if name in cls.fields}
            contents = self.state.heap[instance.address]
            ordered = {name: slots.get(name, UNKNOWN) for name in cls.fields}
            self.state.heap[instance.address] = replace(contents, slots=ordered, rest=None)
        else:
            self.escape_all(args.every())
        return instance

    def call_instance(self, site: cst.CSTNode, base: Reference, args: Arguments) -> Value:
        contents = self.contents(base)
        if contents is not None and isinstance(contents.cls, Class):
            member = self.class_member(contents.cls, "__call__")
            if member is not None:
                return self.call(site, self.bound_member(member, base, site), args)
        self.escape_all([base, *args.every()])
        return Unknown(symbol=fresh())
