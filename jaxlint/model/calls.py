"""Calls: functions of the file are followed with their actual arguments, functions of
libraries do what their row in `knowledge` says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import libcst as cst

from jaxlint.knowledge.signature import ClassRow, Parameter, Signature, Word
from jaxlint.knowledge import lookup
from jaxlint.model import shapes
from jaxlint.model.events import KeyUseKind
from jaxlint.model.expressions import AT_VIEW, Expressions
from jaxlint.model.machine import MAX_DEPTH
from jaxlint.model.state import Contents, Frame, fresh, join_states, join_values, scalar_type
from jaxlint.model.summaries import NotSummarisable, Numbering, Recorder, Summary
from jaxlint.model.syntax import has_yield
from jaxlint.model.tracing import CONCRETE, DECORATORS, mapped_axes, static_positions
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
    Tracing,
    Transformed,
    Tuple,
    Unknown,
    Value,
)

KEEPING_METHODS = frozenset({"append", "add", "put", "extend", "insert", "update", "setdefault", "push", "appendleft"})
MAX_NESTED = 3
SHUFFLES = {"jax.random.permutation": "x", "jax.random.choice": "a", "jax.random.shuffle": "x"}
"""Samplers that pick from an array, and the parameter that it goes to."""


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
        named = [(value, self.keyword_nodes[name]) for name, value in self.keywords.items() if name in self.keyword_nodes]
        return [*zip(self.values, self.nodes, strict=False), *named]


class Calls(Expressions):
    """Evaluates calls."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.traced_as: dict[int, Transformed] = {}
        self.covered: set[int] = set()
        self.generators: dict[int, bool] = {}
        self.methods: dict[int, list[Function]] = {}
        self.attributes: dict[int, dict[str, Value]] = {}
        self.settled: dict[int, set[str]] = {}

    def run_block(self, body: cst.CSTNode) -> None:
        """Execute the statements of a body."""
        raise NotImplementedError

    def names_bound_in(self, node: cst.CSTNode) -> frozenset[str]:
        """The names and ".attributes" that statements below `node` bind."""
        raise NotImplementedError

    # --- evaluating a call expression -----------------------------------------------------

    def visit_Call(self, node: cst.Call) -> Value:
        if isinstance(node.func, cst.Attribute):
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
                    args.keywords.update({name: item for name, item in contents.slots.items() if isinstance(name, str)})
            elif argument.keyword is not None:
                args.keywords[argument.keyword.value] = value
                args.keyword_nodes[argument.keyword.value] = argument.value
            else:
                args.values.append(value)
                args.nodes.append(argument.value)
        return args

    def call_value(self, site: cst.CSTNode, function: Value, args: list[Value], name: str = "") -> Value:
        return self.call(site, function, Arguments(list(args), [site] * len(args)))

    def call(self, site: cst.CSTNode, function: Value, args: Arguments) -> Value:
        """The value of a call of any value."""
        handler = CALL_HANDLERS.get(type(function))
        if handler is not None:
            return handler(self, site, function, args)
        self.escape_all(args.every())
        return Unknown(function.traced, fresh())

    def call_method(self, site: cst.CSTNode, base: Value, name: str, args: Arguments) -> Value:
        """The value of `base.name(…)`."""
        if isinstance(base, Imported):
            return self.call(site, self.resolve(f"{base.path}.{name}"), args)
        if isinstance(base, Library) and base.signature is AT_VIEW:
            return self.updated(site, base.owner, name)
        if isinstance(base, Reference) and base.type in CONTAINER_METHODS:
            return CONTAINER_METHODS[base.type](self, base, name, args)
        if isinstance(base, (Reference, Class, Array, Partial)):
            return self.call_member(site, base, name, args)
        if isinstance(base, Transformed):
            self.note_custom_rules(base, args)
            return Unknown(symbol=fresh())
        if isinstance(base, NumpyArray):
            return NumpyArray() if name in ("copy", "astype", "reshape", "ravel", "flatten", "transpose") else UNKNOWN
        if isinstance(base, Scalar) or isinstance(base, Constant):
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
        if isinstance(base, Reference) and name == "_replace" and (contents := self.contents(base)) is not None:
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

    def note_custom_rules(self, base: Transformed, args: Arguments) -> None:
        """`f.defvjp(forward, backward)`: the functions are called by JAX."""
        for value in args.every():
            if isinstance(value, Function):
                self.traced_as.setdefault(id(value.node), Transformed(function=value, transform=base.transform))

    # --- what unknown code may do ------------------------------------------------------------

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

    def kept(self, values: Iterable[Value]) -> None:
        """Something else holds these arrays from now on."""
        held = {value.identity for value in values if isinstance(value, Array) and value.identity is not None}
        if held:
            self.kill(held)

    # --- functions of the file -----------------------------------------------------------------

    def call_function(
        self, site: cst.CSTNode, function: Function, args: Arguments, trace: Tracing | None = None
    ) -> Value:
        node = function.node
        blocked = len(self.calls) >= MAX_DEPTH or self.steps > self.step_limit or any(node is n for n in self.running)
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
        if function.closure is not self.globals:
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
        if not isinstance(node, cst.FunctionDef):
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
            if given:
                names[name] = self.as_annotated(given.pop(0), param)
            elif name in keywords:
                names[name] = self.as_annotated(keywords.pop(name), param)
            elif args.open:
                names[name] = self.unknown_parameter(param)
            elif name in defaults:
                names[name] = defaults[name]
            else:
                return None
        for param in params.kwonly_params:
            name = param.name.value
            if name in keywords:
                names[name] = self.as_annotated(keywords.pop(name), param)
            else:
                names[name] = self.unknown_parameter(param) if args.open else defaults.get(name, UNKNOWN)
        if isinstance(params.star_arg, cst.Param):
            names[params.star_arg.name.value] = UNKNOWN if args.open else Tuple(items=tuple(given))
        elif given:
            return None
        if params.star_kwarg is not None:
            names[params.star_kwarg.name.value] = self.new_object("dict", Contents(keywords, UNKNOWN if args.open else None))
        elif keywords:
            return None
        return names

    def unknown_parameter(self, param: cst.Param) -> Value:
        return self.annotated(param.annotation.annotation if param.annotation else None, fresh())

    def as_annotated(self, value: Value, param: cst.Param) -> Value:
        """An argument about which nothing is known is what the annotation says."""
        if type(value) is not Unknown or param.annotation is None:
            return value
        annotated = self.annotated(param.annotation.annotation, value.symbol or fresh())
        return annotated.with_traced(value.traced)

    def run_function(self, function: Function, names: dict[str, Value], trace: Tracing | None) -> Value:
        """Execute a function's body with these names; the value that it returns."""
        node = function.node
        assert node is not None
        caller, outer_names, outer_facts = self.frame, self.state.names, self.state.facts
        frame = Frame(function.closure, names, trace)
        self.running.append(node)
        self.frame = frame
        self.state.names = names
        if isinstance(node, cst.Lambda):
            frame.exits.append((self.state, self.visit(node.body)))
        else:
            self.run_block(node.body)
            if self.reachable:
                frame.exits.append((self.state, NONE))
        value = self.join_exits(frame)
        frame.names = self.state.names
        self.frame = caller
        self.running.pop()
        self.state.names = caller.names = outer_names
        self.state.facts = outer_facts
        if not frame.pruned:
            self.covered.add(id(node))
        self.run_pending(frame)
        return Unknown(symbol=fresh()) if frame.yields else value

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

    # --- functions that nobody called ----------------------------------------------------------------

    def run_pending(self, frame: Frame) -> None:
        """Analyse the functions defined in `frame` that were not called."""
        pending, frame.pending = frame.pending, []
        for item in pending:
            if isinstance(item, Class):
                self.run_class(item)
            elif id(item.node) not in self.covered:
                self.run_alone(item)

    def run_class(self, cls: Class) -> None:
        """Analyse the methods that were not called. An attribute that only `__init__` sets
        is known in the others; one that several set is known when all of them set it to an
        array, which takes a second round."""
        key = id(cls.node)
        methods = sorted(self.methods.pop(key, []), key=lambda function: function.name != "__init__")
        known = self.attributes.setdefault(key, {})
        elsewhere: set[str] = set()
        for function in methods:
            if function.name != "__init__" and isinstance(function.node, cst.FunctionDef):
                elsewhere |= self.names_bound_in(function.node.body)
        settled = self.settled[key] = set()
        for function in methods:
            if id(function.node) not in self.covered or function.name == "__init__":
                self.run_alone(self.as_method(cls, function))
            if function.name == "__init__":
                settled |= {name for name in known if "." + name not in elsewhere}
        late = {name for name, value in known.items() if isinstance(value, AnyArray)} - settled
        if late & self.wanted.get(key, set()):
            settled |= late
            for function in methods:
                if function.name != "__init__":
                    self.run_alone(self.as_method(cls, function))

    @staticmethod
    def as_method(cls: Class, function: Function) -> Function:
        member = cls.members.get(function.name)
        static = isinstance(member, Transformed) and member.transform in ("staticmethod", "classmethod")
        return function if static or not isinstance(function.node, cst.FunctionDef) else replace(function, owner=cls)

    def note_attribute(self, cls: Class, name: str, value: Value) -> None:
        """An instance of `cls` got an attribute."""
        known = self.attributes.setdefault(id(cls.node), {})
        old = known.get(name)
        known[name] = value if old is None else join_values(old, value)

    def some_instance(self, cls: Class, symbol: tuple[Any, ...]) -> Value:
        """An instance of `cls` with what is known of its attributes."""
        address = self.state.allocate(Contents({}, UNKNOWN, cls, symbol))
        instance = Reference(address=address, type="instance")
        known, settled = self.attributes.get(id(cls.node), {}), self.settled.get(id(cls.node), set())
        slots = {name: portable(known[name], instance) for name in settled if name in known}
        found = {name: value for name, value in slots.items() if value is not None}
        self.state.heap[address] = Contents(found, UNKNOWN, cls, symbol)
        return instance

    def run_alone(self, function: Function) -> None:
        """Analyse a function with unknown arguments, apart from everything else."""
        if function.node is None or self.steps > self.step_limit:
            return
        self.covered.add(id(function.node))
        state, reachable, loops = self.state, self.reachable, self.loops
        calls, labels, running, recorders = self.calls, self.labels, self.running, self.recorders
        traced = self.traced_as.get(id(function.node))
        proven: set[str] = set()
        while True:
            self.enter(replace(state.fork(), uses={}, facts=frozenset()))
            self.loops, self.calls, self.labels, self.running, self.recorders = [], [], [], [], []
            symbol = fresh()
            names = self.unknown_arguments(function, symbol, traced, proven)
            trace = self.trace_of(traced) if traced else function.closure.trace if function.closure else None
            self.run_function(function, names, trace)
            shown = {name for name in names if (*symbol, name) in self.evidence} - proven
            if traced is None or not shown:
                break
            proven |= shown
        self.loops, self.calls, self.labels, self.running = loops, calls, labels, running
        self.recorders = recorders
        self.enter(state)
        self.reachable = reachable

    def unknown_arguments(
        self, function: Function, symbol: tuple[int, ...], traced: Transformed | None, proven: set[str]
    ) -> dict[str, Value]:
        assert function.node is not None
        params = function.node.params
        static = static_positions(traced, function) if traced else set()
        names: dict[str, Value] = {}
        for index, param in enumerate((*params.posonly_params, *params.params, *params.kwonly_params)):
            name = param.name.value
            identity = (*symbol, name)
            value = self.annotated(param.annotation.annotation if param.annotation else None, identity)
            if index == 0 and isinstance(function.owner, Class):
                value = self.some_instance(function.owner, identity)
            elif traced is not None and traced.transform == "pallas_call":
                value = Ref(Tracing("pallas_call"))
            elif traced is not None and name not in static:
                tracing = Tracing(traced.transform, name)
                value = Array(tracing) if name in proven else value.with_traced(tracing)
            names[name] = value
        if isinstance(params.star_arg, cst.Param):
            names[params.star_arg.name.value] = Unknown(symbol=(*symbol, "*"))
        if params.star_kwarg is not None:
            names[params.star_kwarg.name.value] = Unknown(symbol=(*symbol, "**"))
        return names

    def trace_of(self, transformed: Transformed) -> Tracing | None:
        """What a function runs under when it is transformed so."""
        if transformed.transform in CONCRETE:
            return self.frame.trace
        return Tracing(transformed.transform)

    # --- functions of libraries ----------------------------------------------------------------------

    def call_library(self, site: cst.CSTNode, library: Library, args: Arguments) -> Value:
        signature = library.signature
        assert signature is not None
        if signature.method and library.owner is not None:
            args = Arguments([library.owner, *args.values], [site, *args.nodes], args.keywords, args.keyword_nodes, args.open)
        slots = signature.bind(len(args.values), args.keywords)
        if slots is None:
            if not args.open:
                return Unknown(symbol=fresh())
            slots = {p.name: i for i, p in enumerate(signature.parameters[: len(args.values)]) if p.kind in ("positional", "either")}
            slots |= {name: name for name in args.keywords if signature.parameter(name)}
        given = {name: self.from_slot(slot, args) for name, slot in slots.items()}
        call = LibraryCall(site, signature, given, {})
        for parameter in signature.parameters:
            if parameter.word is not None and parameter.name in given:
                handler = PARAMETER_WORDS.get(parameter.word.name)
                if handler is not None:
                    slot = slots[parameter.name]
                    node = args.nodes[slot] if isinstance(slot, int) else args.keyword_nodes.get(str(slot), site)
                    handler(self, call, parameter, node)
        self.note_array_arguments(signature, given)
        return self.returned(call, signature.returns)

    def from_slot(self, slot: Any, args: Arguments) -> Value:
        if isinstance(slot, int):
            return args.values[slot]
        if isinstance(slot, str):
            return args.keywords[slot]
        return Tuple(items=tuple(args.values[i] if isinstance(i, int) else args.keywords[i] for i in slot))

    def note_array_arguments(self, signature: Signature, given: dict[str, Value]) -> None:
        """`jax.numpy` refuses lists, so a traced argument of it is an array."""
        if signature.returns.name in ("Broadcast", "Reduced", "Like") and signature.path.startswith("jax.numpy."):
            for name in signature.returns.args:
                if isinstance(name, str) and name in given:
                    self.note_evidence(given[name])

    def consumed(self, call: LibraryCall, parameter: Parameter, node: cst.CSTNode) -> None:
        path = call.signature.path
        kind: KeyUseKind = "split" if path == "jax.random.split" else "sample"
        data = call.given.get(SHUFFLES[path]) if path in SHUFFLES else None
        self.consume(call.given[parameter.name], node, call.site, path, kind, data)

    def run_once(self, call: LibraryCall, parameter: Parameter, node: cst.CSTNode) -> None:
        """A callable that is traced and called once."""
        function = call.given[parameter.name]
        self.note_transformed(call.signature.path.rpartition(".")[2], function, {})
        if call.signature.returns.name == "Transform" or parameter.word is None or not parameter.word.args:
            return
        args = self.callable_arguments(call, parameter)
        call.results[parameter.name] = self.call_traced(call.site, function, args, self.loop_trace(call))

    def run_branch(self, call: LibraryCall, parameter: Parameter, node: cst.CSTNode) -> None:
        """One of several callables of which one runs: the uses of keys in one do not meet
        those in another."""
        value = call.given[parameter.name]
        branches = [value]
        if not isinstance(value, (Function, Partial, Transformed, Library)):
            branches = list(self.items(value) or ())
        base = call.before_branches or self.state.fork()
        call.before_branches = base
        for branch in branches:
            after = self.leave() if call.results else None
            self.enter(base.fork())
            args = self.callable_arguments(call, parameter)
            result = self.call_traced(call.site, branch, args, self.loop_trace(call))
            previous = call.results.get(parameter.name)
            call.results[parameter.name] = result if previous is None else join_values(previous, result)
            if after is not None:
                names = self.frame.names
                self.enter(join_states(after, self.leave()))
                self.frame.names = self.state.names = names

    def run_body(self, call: LibraryCall, parameter: Parameter, node: cst.CSTNode) -> None:
        """A callable that is traced once and runs many times: a loop over its body."""
        function = call.given[parameter.name]
        word = parameter.word
        assert word is not None
        self.note_transformed(call.signature.path.rpartition(".")[2], function, {})
        carried = carried_name(call.signature.returns)
        pair = call.signature.returns.name == "Tuple"
        trace = self.loop_trace(call)

        def body() -> None:
            result = self.call_traced(call.site, function, self.callable_arguments(call, parameter), trace)
            call.results[parameter.name] = result
            if carried in call.given and word.args and parameter.name not in ("cond_fun",):
                items = self.items(result) if pair else (result,)
                call.given[carried] = items[0] if items else Unknown(symbol=fresh())

        before = call.given.get(carried)
        self.run_loop(call.site, lambda _: None, body, 2)
        if before is not None:
            call.given[carried] = before

    def run_called(self, call: LibraryCall, parameter: Parameter, node: cst.CSTNode) -> None:
        """A callable that is called on the host, any number of times."""
        function = call.given[parameter.name]
        if not isinstance(function, (Function, Partial)):
            return

        def body() -> None:
            args = self.callable_arguments(call, parameter)
            call.results[parameter.name] = self.call(call.site, function, args)

        self.run_loop(call.site, lambda _: None, body, 2)

    def run_kernel(self, call: LibraryCall, parameter: Parameter, node: cst.CSTNode) -> None:
        """A Pallas kernel: every argument is a reference that may be stored into."""
        self.note_transformed("pallas_call", call.given[parameter.name], {})

    def callable_arguments(self, call: LibraryCall, parameter: Parameter) -> Arguments:
        """What the library gives to a callable, as the parameter's word says."""
        assert parameter.word is not None
        values: list[Value] = []
        open_ended = False
        for word in parameter.word.args:
            if isinstance(word, Word) and word.name == "Star":
                inner = word.args[0]
                source = self.described(call, inner)
                items = self.items(source) if source is not None else None
                open_ended = open_ended or items is None
                values.extend(items or ())
            elif isinstance(word, Word) and word.name == "Host":
                open_ended = True
            else:
                values.append(self.described(call, word) or Unknown(symbol=fresh()))
        return Arguments(values, [call.site] * len(values), open=open_ended)

    def described(self, call: LibraryCall, word: str | Word) -> Value | None:
        """One argument of a callable: a parameter's value, a slice of it, an index…"""
        if isinstance(word, str):
            return call.given.get(word)
        if word.name == "Index":
            return Scalar(type="int", symbol=fresh())
        source = self.described(call, word.args[0]) if word.args else None
        if source is None:
            return Unknown(symbol=fresh())
        if word.name == "Each":
            return self.sliced(source)
        if word.name in ("Leaf", "Unknown"):
            return source if isinstance(source, (Array, Key)) else Unknown(symbol=fresh())
        return source

    def sliced(self, value: Value) -> Value:
        """One slice of a pytree along the first axis of each of its arrays."""
        if isinstance(value, Tuple):
            return Tuple(value.traced, tuple(self.sliced(item) for item in value.items))
        if isinstance(value, Array):
            return self.element(value, 0)
        if isinstance(value, Keys):
            return self.each_key(value, self.loops[-1].token)
        if isinstance(value, NumpyArray):
            return Array(self.trace, value.shape[1:] if value.shape else None, shapes.canonical(value.dtype, self.x64))
        if isinstance(value, Constant) and value.value is None:
            return NONE
        return Unknown(value.traced, fresh())

    def loop_trace(self, call: LibraryCall) -> Tracing | None:
        name = call.signature.path.rpartition(".")[2]
        return self.frame.trace if name in CONCRETE else Tracing(name)

    # --- what a library's function returns ------------------------------------------------------------

    def returned(self, call: LibraryCall, word: Word) -> Value:
        handler = RETURN_WORDS.get(word.name)
        return Unknown(symbol=fresh()) if handler is None else handler(self, call, word)

    def argument(self, call: LibraryCall, word: Word, index: int) -> Value | None:
        """The argument that the word's item `index` names."""
        if index >= len(word.args) or not isinstance(word.args[index], str):
            return None
        return call.given.get(str(word.args[index]))

    def dtype_argument(self, call: LibraryCall, name: str, otherwise: str | None) -> str | None:
        """The dtype that parameter `name` asks for; `otherwise` where it is left out."""
        value = call.given.get(name)
        if value is None or value == NONE:
            parameter = call.signature.parameter(name)
            default = parameter.default if parameter is not None else None
            if isinstance(default, str):
                return shapes.canonical(shapes.PYTHON_TYPES.get(default, default), self.x64)
            return otherwise
        return shapes.as_dtype(value, otherwise, self.x64)

    def shape_and_dtype(self, call: LibraryCall, word: Word) -> tuple[shapes.Shape, str | None]:
        """What Array[shape, dtype, value] says."""
        if not word.args:
            return None, None
        name = word.args[0]
        shape: shapes.Shape = None
        if isinstance(name, str):
            if name in call.given:
                shape = shapes.as_shape(call.given[name], self.items)
            elif (parameter := call.signature.parameter(name)) is not None and parameter.default == ():
                shape = ()
        filled = self.argument(call, word, 2)
        otherwise = shapes.element_dtype(filled, self.x64) if filled is not None else None
        second = word.args[1] if len(word.args) > 1 else None
        if isinstance(second, Word):
            return shape, WORD_DTYPES.get(second.name)
        return shape, self.dtype_argument(call, second, otherwise) if second else otherwise

    def return_array(self, call: LibraryCall, word: Word) -> Value:
        shape, dtype = self.shape_and_dtype(call, word)
        return self.allocated(call.site, shape, dtype)

    def return_numpy(self, call: LibraryCall, word: Word) -> Value:
        shape, dtype = self.shape_and_dtype(call, word)
        return NumpyArray(shape=shape, dtype=dtype)

    def return_like(self, call: LibraryCall, word: Word) -> Value:
        source = self.argument(call, word, 0) or UNKNOWN
        shape, dtype = shapes.shape_of(source, self.items), shapes.element_dtype(source, self.x64)
        if call.given.get("shape", NONE) != NONE:
            shape = shapes.as_shape(call.given["shape"], self.items)
        if call.given.get("dtype", NONE) != NONE:
            dtype = shapes.as_dtype(call.given["dtype"], None, self.x64)
        return self.allocated(call.site, shape, dtype, source.traced)

    def return_broadcast(self, call: LibraryCall, word: Word) -> Value:
        operands = [call.given[name] for name in word.args if isinstance(name, str) and name in call.given]
        shape, dtype = shapes.elementwise(operands, self.items, self.x64) if operands else (None, None)
        traced = next((operand.traced for operand in operands if operand.traced), None)
        return self.allocated(call.site, shape, self.result_dtype(word, dtype), traced)

    @staticmethod
    def result_dtype(word: Word, dtype: str | None) -> str | None:
        for item in word.args:
            if isinstance(item, Word):
                if item.name != "Inexact":
                    return WORD_DTYPES.get(item.name)
                return "float32" if dtype is not None and shapes.CATEGORY.get(dtype, 2) < 2 else dtype
        return dtype

    def return_reduced(self, call: LibraryCall, word: Word) -> Value:
        source = self.argument(call, word, 0) or UNKNOWN
        shape = shapes.reduced(shapes.shape_of(source, self.items), call.given.get("axis"), call.given.get("keepdims"))
        dtype = self.result_dtype(word, shapes.element_dtype(source, self.x64))
        return self.allocated(call.site, shape, dtype, source.traced)

    def return_computed(self, call: LibraryCall, word: Word) -> Value:
        compute = shapes.COMPUTED.get(call.signature.path.rpartition(".")[2])
        traced = next((value.traced for value in call.given.values() if value.traced), None)
        shape, dtype = compute(call.given, self.items, self.x64) if compute else (None, None)
        return self.allocated(call.site, shape, dtype, traced)

    def return_dispatch(self, call: LibraryCall, word: Word) -> Value:
        source = self.argument(call, word, 0)
        if isinstance(source, Array):
            return Array(source.traced or self.trace)
        return NumpyArray() if isinstance(source, NumpyArray) else UNKNOWN

    def return_view(self, call: LibraryCall, word: Word) -> Value:
        source = self.argument(call, word, 0)
        return NumpyArray(shape=source.shape, dtype=source.dtype) if isinstance(source, AnyArray) else NumpyArray()

    def return_key(self, call: LibraryCall, word: Word) -> Value:
        return Key(self.trace, fresh())

    def return_keys(self, call: LibraryCall, word: Word) -> Value:
        name = str(word.args[0]) if word.args else "num"
        parameter = call.signature.parameter(name)
        number = call.given.get(name) or Constant(value=parameter.default if parameter is not None else None)
        return Keys(self.trace, fresh(), shapes.as_shape(number, self.items) or (None,))

    def return_derived(self, call: LibraryCall, word: Word) -> Value:
        """`fold_in(key, data)` is fixed by the key and the data."""
        key, data = self.argument(call, word, 0), self.argument(call, word, 1)
        parent = key.identity if isinstance(key, Key) else key.symbol if isinstance(key, Unknown) else None
        number = data.value if isinstance(data, Constant) else self.index_identity(data)
        if parent is None or number is None:
            return Key(self.trace, fresh())
        return Key(self.trace, (*parent, ("fold_in", number)))

    def return_same(self, call: LibraryCall, word: Word) -> Value:
        value = self.argument(call, word, 0)
        return value if value is not None else Unknown(symbol=fresh())

    def return_on_device(self, call: LibraryCall, word: Word) -> Value:
        """The argument as a JAX array; a key or a pytree stays what it is."""
        value = self.argument(call, word, 0)
        if isinstance(value, (NumpyArray, Constant, Scalar)) and value != NONE:
            dtype = shapes.element_dtype(value, self.x64)
            return self.allocated(call.site, shapes.shape_of(value, self.items), dtype)
        return value if value is not None else Unknown(symbol=fresh())

    def return_carry(self, call: LibraryCall, word: Word) -> Value:
        value = self.argument(call, word, 0)
        return self.untraced(self.renewed(value)) if value is not None else Unknown(symbol=fresh())

    def return_result(self, call: LibraryCall, word: Word) -> Value:
        found = [call.results[str(name)] for name in word.args if str(name) in call.results]
        if not found:
            return Unknown(symbol=fresh())
        value = found[0]
        for other in found[1:]:
            value = join_values(value, other)
        return self.untraced(value)

    def return_tuple(self, call: LibraryCall, word: Word) -> Value:
        return Tuple(items=tuple(self.returned(call, item) for item in word.args if isinstance(item, Word)))

    def return_stacked(self, call: LibraryCall, word: Word) -> Value:
        name = str(word.args[0])
        result = call.results.get(name)
        return Array(self.trace) if isinstance(result, Array) else Unknown(symbol=fresh())

    def return_ref(self, call: LibraryCall, word: Word) -> Value:
        return Ref(self.trace)

    def return_nothing(self, call: LibraryCall, word: Word) -> Value:
        return NONE

    def return_python(self, call: LibraryCall, word: Word) -> Value:
        return Scalar(type=str(word.args[0]) if word.args else "object", symbol=fresh())

    def return_callable(self, call: LibraryCall, word: Word) -> Value:
        return self.resolve(str(word.args[0]))

    def return_transform(self, call: LibraryCall, word: Word) -> Value:
        kind = str(word.args[0])
        name = next((p.name for p in call.signature.parameters if p.word is not None and p.word.name == "Traced"), "")
        function = call.given.get(name)
        options = {key: self.as_tuple(value) for key, value in call.given.items() if key != name}
        if function is None:
            return Partial(function=Library(signature=call.signature), keywords=tuple(options.items()))
        self.note_transformed(kind, function, options)
        return Transformed(function=function, transform=kind, options=tuple(options.items()))

    def as_tuple(self, value: Value) -> Value:
        """A list of options as a tuple."""
        items = self.items(value) if isinstance(value, Reference) else None
        return value if items is None else Tuple(items=items)

    def note_transformed(self, kind: str, function: Value, options: dict[str, Value]) -> None:
        """Remember how a function of the file is traced, for when it is analysed alone."""
        bound = 0
        while isinstance(function, (Transformed, Partial)):
            bound += len(function.args) if isinstance(function, Partial) else 0
            function = function.function
        if isinstance(function, Function):
            known = self.traced_as.get(id(function.node))
            if known is None or known.transform in CONCRETE:
                self.traced_as[id(function.node)] = Transformed(
                    function=function, transform=kind, options=(*options.items(), ("bound", Constant(value=bound)))
                )

    # --- transformed functions ---------------------------------------------------------------------------

    def call_transformed(self, site: cst.CSTNode, function: Transformed, args: Arguments) -> Value:
        kind = function.transform
        if kind in DECORATORS:
            return self.call(site, function.function, args)
        inner = self.unwrapped_arguments(function, args)
        concrete = kind in CONCRETE
        trace = self.frame.trace if concrete else Tracing(kind)
        result = self.call_traced(site, function.function, inner, trace, concrete)
        self.donate(function, args)
        if kind in ("vmap", "pmap"):
            result = self.batched(result)
        elif kind == "value_and_grad":
            result = Tuple(items=(result, Unknown(symbol=fresh())))
        elif concrete and kind not in ("custom_jvp", "custom_vjp", "named_call", "custom_gradient"):
            return Unknown(symbol=fresh())
        elif kind in ("make_jaxpr", "eval_shape"):
            return Unknown(symbol=fresh())
        return self.untraced(result, site)

    def unwrapped_arguments(self, function: Transformed, args: Arguments) -> Arguments:
        """What the function inside is given: tracers, for `vmap` one slice of each."""
        kind = function.transform
        values = list(args.values)
        keywords = dict(args.keywords)
        if kind in ("vmap", "pmap"):
            axes = mapped_axes(function, len(values))
            values = [self.slice_at(value, axis) for value, axis in zip(values, axes, strict=True)]
            keywords = {name: self.slice_at(value, 0) for name, value in keywords.items()}
        if kind not in CONCRETE:
            static = static_positions(function, function.function)
            values = [
                value if index in static else self.as_tracer(value, Tracing(kind))
                for index, value in enumerate(values)
            ]
            keywords = {
                name: value if name in static else self.as_tracer(value, Tracing(kind, name))
                for name, value in keywords.items()
            }
        return Arguments(values, args.nodes, keywords, args.keyword_nodes, args.open)

    def as_tracer(self, value: Value, tracing: Tracing) -> Value:
        """What a traced function sees of an argument."""
        if isinstance(value, Tuple):
            return Tuple(value.traced, tuple(self.as_tracer(item, tracing) for item in value.items))
        if isinstance(value, NumpyArray) or (isinstance(value, (Constant, Scalar)) and shapes.element_dtype(value, True)):
            return Array(tracing, shapes.shape_of(value, self.items), shapes.element_dtype(value, self.x64))
        if isinstance(value, (Array, Key, Keys, Unknown)):
            return value.with_traced(tracing)
        return value

    def slice_at(self, value: Value, axis: int | None) -> Value:
        if axis is None:
            return value
        if isinstance(value, Tuple):
            return Tuple(value.traced, tuple(self.slice_at(item, axis) for item in value.items))
        if isinstance(value, AnyArray) and value.shape is not None and -len(value.shape) <= axis < len(value.shape):
            index = axis % len(value.shape)
            return replace(value, shape=value.shape[:index] + value.shape[index + 1 :])
        if isinstance(value, AnyArray):
            return replace(value, shape=None)
        if isinstance(value, Keys):
            return self.each_key(value, fresh()[0])
        if isinstance(value, Key):
            return Key(value.traced, fresh())
        return Unknown(value.traced, fresh())

    def batched(self, value: Value) -> Value:
        if isinstance(value, Tuple):
            return Tuple(items=tuple(self.batched(item) for item in value.items))
        if isinstance(value, (Array, Constant, Scalar)):
            return Array(value.traced, None, value.dtype if isinstance(value, Array) else None)
        if isinstance(value, Key):
            return Keys(value.traced, fresh(), (None,))
        return Unknown(symbol=fresh())

    def call_traced(
        self, site: cst.CSTNode, function: Value, args: Arguments, trace: Tracing | None, concrete: bool = False
    ) -> Value:
        """Call a function inside a transformation."""
        outer = self.frame.trace
        self.frame.trace = trace
        try:
            if not concrete and trace is not None:
                args.values = [self.as_tracer(v, trace) if type(v) is not Constant else v for v in args.values]
            return self.call(site, function, args)
        finally:
            self.frame.trace = outer

    def untraced(self, value: Value, site: cst.CSTNode | None = None) -> Value:
        """What comes out of a transformed function: no tracer, unless one is running outside."""
        outer = self.frame.trace
        if isinstance(value, Tuple):
            return Tuple(outer, tuple(self.untraced(item, site) for item in value.items))
        if isinstance(value, Array) and outer is None and site is not None:
            return self.allocated(site, value.shape, value.dtype)
        if isinstance(value, Constant) and site is not None and type(value.value) in (int, float, bool):
            return Array(outer, (), shapes.element_dtype(value, self.x64))
        return value.with_traced(outer)

    def donate(self, function: Transformed, args: Arguments) -> None:
        """Buffers that a call takes over are gone after it."""
        positions = static_positions(function, function.function, "donate")
        for index, value in enumerate(args.values):
            if index in positions and isinstance(value, Array) and value.identity is not None:
                self.kill({value.identity})

    # --- other callables -------------------------------------------------------------------------------------

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

    def call_imported(self, site: cst.CSTNode, function: Imported, args: Arguments) -> Value:
        """A built-in, or a name of a library that has no row as a function."""
        builtin = BUILTIN_CALLS.get(function.path)
        if builtin is not None:
            return builtin(self, site, args)
        if function.path == "jax.config.update" and args.values[:1] == [Constant(value="jax_enable_x64")]:
            self.x64 = args.values[1:] != [Constant(value=False)]
        row = lookup(function.path)
        if isinstance(row, ClassRow) and row.init is not None:
            return self.call_library(site, Library(signature=row.init, owner=UNKNOWN), args)
        if isinstance(row, Word) and row.name == "DTypeName" and args.values:
            shape = shapes.shape_of(args.values[0], self.items)
            return Array(args.values[0].traced or self.trace, shape, shapes.canonical(str(row.args[0]), self.x64))
        if not function.path.startswith(("builtins.", "jax.", "numpy.")):
            self.escape_all(args.every())
        return Unknown(symbol=fresh())

    # --- built-ins ---------------------------------------------------------------------------------------------

    def builtin_partial(self, site: cst.CSTNode, args: Arguments) -> Value:
        if not args.values:
            return UNKNOWN
        return Partial(function=args.values[0], args=tuple(args.values[1:]), keywords=tuple(args.keywords.items()))

    def builtin_list(self, site: cst.CSTNode, args: Arguments) -> Value:
        if not args.values:
            return self.new_list(())
        source = args.values[0]
        items = self.items(source)
        if items is not None:
            return self.new_list(items)
        element = self.element(source, 0)
        return self.new_object("list", Contents({}, element))

    def builtin_tuple(self, site: cst.CSTNode, args: Arguments) -> Value:
        items = self.items(args.values[0]) if args.values else ()
        return Tuple(items=items) if items is not None else Unknown(symbol=fresh())

    def builtin_dict(self, site: cst.CSTNode, args: Arguments) -> Value:
        contents = self.contents(args.values[0]) if args.values else None
        slots = dict(contents.slots) if contents is not None else {}
        rest = UNKNOWN if args.open or (args.values and (contents is None or not contents.complete)) else None
        return self.new_object("dict", Contents({**slots, **args.keywords}, rest))

    def builtin_len(self, site: cst.CSTNode, args: Arguments) -> Value:
        if args.values:
            items = self.items(args.values[0])
            if items is not None:
                return Constant(value=len(items))
            array = args.values[0]
            if isinstance(array, AnyArray) and array.shape and array.shape[0] is not None:
                return Constant(value=array.shape[0])
        return Scalar(type="int", symbol=fresh())

    def builtin_map(self, site: cst.CSTNode, args: Arguments) -> Value:
        if not args.values:
            return UNKNOWN
        function, sources = args.values[0], args.values[1:]
        results: list[Value] = []

        def body() -> None:
            number = self.loops[-1].pass_number
            results.append(self.call_value(site, function, [self.element(source, number) for source in sources]))

        self.run_loop(site, lambda _: None, body, min((self.passes(source) for source in sources), default=1))
        return Iterator(kind="generator", sources=(results[0] if results else UNKNOWN,))

    def builtin_getattr(self, site: cst.CSTNode, args: Arguments) -> Value:
        if len(args.values) >= 2 and isinstance(args.values[1], Constant) and isinstance(args.values[1].value, str):
            return self.attribute(args.values[0], args.values[1].value, site)
        return Unknown(symbol=fresh())

    def builtin_setattr(self, site: cst.CSTNode, args: Arguments) -> Value:
        self.escape_all(args.every())
        return NONE

    def builtin_next(self, site: cst.CSTNode, args: Arguments) -> Value:
        return self.element(args.values[0], 0) if args.values and isinstance(args.values[0], Iterator) else Unknown(symbol=fresh())

    # --- methods of containers ------------------------------------------------------------------------------------

    def list_method(self, base: Reference, name: str, args: Arguments) -> Value:
        contents = self.state.heap.get(base.address)
        if contents is None:
            return UNKNOWN
        if name == "append" and len(args.values) == 1:
            self.append(base, contents, args.values[0])
            return NONE
        if name == "copy":
            return self.new_object("list", contents)
        if name in ("index", "count"):
            return Scalar(type="int", symbol=fresh())
        self.kept(args.every())
        rest = contents.rest or UNKNOWN
        self.write(base.address, Contents({}, UNKNOWN))
        return self.renewed(rest) if name == "pop" else NONE if name in ("extend", "insert", "sort", "clear") else UNKNOWN

    def append(self, base: Reference, contents: Contents, value: Value) -> None:
        """Append; inside a loop nobody knows how many there will be."""
        if contents.complete and not self.loops and len(contents.slots) < 64:
            self.write(base.address, contents.storing(len(contents.slots), value))
            return
        self.kept([value])
        held = [*contents.slots.values(), *([contents.rest] if contents.rest is not None else [])]
        joined = value
        for other in held:
            joined = join_values(joined, other)
        self.write(base.address, Contents({}, joined))

    def dict_method(self, base: Reference, name: str, args: Arguments) -> Value:
        contents = self.state.heap.get(base.address)
        if contents is None:
            return UNKNOWN
        if name in ("items", "values", "keys"):
            return Iterator(kind=name, sources=(base,))
        if name in ("get", "pop") and args.values:
            found = self.item(base, [args.values[0]])
            return found if found is not UNKNOWN else Unknown(symbol=fresh())
        if name == "copy":
            return self.new_object("dict", contents)
        self.kept(args.every())
        self.write(base.address, Contents({}, UNKNOWN))
        return Unknown(symbol=fresh())

    def set_method(self, base: Reference, name: str, args: Arguments) -> Value:
        self.kept(args.every())
        return Unknown(symbol=fresh())


@dataclass(slots=True)
class LibraryCall:
    """A call of a library's function that is being worked out: its arguments by
    parameter, and what the callables among them returned."""

    site: cst.CSTNode
    signature: Signature
    given: dict[str, Value]
    results: dict[str, Value]
    before_branches: Any = None


def portable(value: Value, instance: Reference) -> Value | None:
    """An attribute's value as another method finds it; None where nothing can be said."""
    if isinstance(value, Array):
        return replace(value, identity=None, traced=None)
    if isinstance(value, (NumpyArray, Constant, Library, Imported, Class)):
        return value
    if isinstance(value, Function):
        return replace(value, owner=instance) if value.owner is not None else value
    if isinstance(value, (Transformed, Partial)):
        function = portable(value.function, instance)
        return replace(value, function=function) if function is not None else None
    return None


def carried_name(returns: Word) -> str:
    """The parameter that a loop carries from pass to pass ("init")."""
    if returns.name == "Tuple" and returns.args and isinstance(returns.args[0], Word):
        return carried_name(returns.args[0])
    return str(returns.args[0]) if returns.name in ("Carry", "Same") and returns.args else ""


def _iterator(kind: str) -> Callable[[Calls, cst.CSTNode, Arguments], Value]:
    return lambda calls, site, args: UNKNOWN if args.open else Iterator(kind=kind, sources=tuple(args.values))


def _scalar(kind: str) -> Callable[[Calls, cst.CSTNode, Arguments], Value]:
    return lambda calls, site, args: Scalar(type=kind, symbol=fresh())


WORD_DTYPES = {"Bool": "bool", "Int": "int32"}

CALL_HANDLERS: dict[type[Value], Callable[[Calls, cst.CSTNode, Any, Arguments], Value]] = {
    Function: Calls.call_function,
    Library: Calls.call_library,
    Transformed: Calls.call_transformed,
    Partial: Calls.call_partial,
    Class: Calls.construct,
    Reference: Calls.call_instance,
    Imported: Calls.call_imported,
}

PARAMETER_WORDS: dict[str, Callable[[Calls, LibraryCall, Parameter, cst.CSTNode], None]] = {
    "Consumed": Calls.consumed,
    "Traced": Calls.run_once,
    "Body": Calls.run_body,
    "Branch": Calls.run_branch,
    "Called": Calls.run_called,
    "Kernel": Calls.run_kernel,
}

RETURN_WORDS: dict[str, Callable[[Calls, LibraryCall, Word], Value]] = {
    "Array": Calls.return_array,
    "Like": Calls.return_like,
    "Broadcast": Calls.return_broadcast,
    "Reduced": Calls.return_reduced,
    "Computed": Calls.return_computed,
    "NumPy": Calls.return_numpy,
    "NumPyView": Calls.return_view,
    "Dispatch": Calls.return_dispatch,
    "Key": Calls.return_key,
    "Keys": Calls.return_keys,
    "Derived": Calls.return_derived,
    "Clone": Calls.return_key,
    "Same": Calls.return_same,
    "OnDevice": Calls.return_on_device,
    "Carry": Calls.return_carry,
    "Result": Calls.return_result,
    "Stacked": Calls.return_stacked,
    "Tuple": Calls.return_tuple,
    "Transform": Calls.return_transform,
    "Callable": Calls.return_callable,
    "Ref": Calls.return_ref,
    "Python": Calls.return_python,
    "Nothing": Calls.return_nothing,
}

CONTAINER_METHODS: dict[str, Callable[[Calls, Reference, str, Arguments], Value]] = {
    "list": Calls.list_method,
    "dict": Calls.dict_method,
    "set": Calls.set_method,
}

BUILTIN_CALLS: dict[str, Callable[[Calls, cst.CSTNode, Arguments], Value]] = {
    "functools.partial": Calls.builtin_partial,
    "builtins.range": _iterator("range"),
    "builtins.zip": _iterator("zip"),
    "builtins.enumerate": _iterator("enumerate"),
    "builtins.reversed": _iterator("reversed"),
    "builtins.list": Calls.builtin_list,
    "builtins.sorted": _scalar("object"),
    "builtins.tuple": Calls.builtin_tuple,
    "builtins.dict": Calls.builtin_dict,
    "builtins.len": Calls.builtin_len,
    "builtins.map": Calls.builtin_map,
    "builtins.isinstance": _scalar("bool"),
    "builtins.hasattr": _scalar("bool"),
    "builtins.callable": _scalar("bool"),
    "builtins.bool": _scalar("bool"),
    "builtins.int": _scalar("int"),
    "builtins.float": _scalar("float"),
    "builtins.str": _scalar("str"),
    "builtins.repr": _scalar("str"),
    "builtins.print": lambda calls, site, args: NONE,
    "builtins.getattr": Calls.builtin_getattr,
    "builtins.setattr": Calls.builtin_setattr,
    "builtins.next": Calls.builtin_next,
}
