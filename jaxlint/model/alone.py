"""Functions and methods that nobody calls: analysed with unknown arguments, apart from
everything else, after the code that defines them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import libcst as cst

from jaxlint.model.calls import Arguments, Calls
from jaxlint.model.state import Contents, Frame, fresh, join_values
from jaxlint.model.tracing import CONCRETE, static_positions
from jaxlint.model.values import (
    UNKNOWN,
    AnyArray,
    Array,
    Class,
    Constant,
    Function,
    Imported,
    Library,
    NumpyArray,
    Partial,
    Ref,
    Reference,
    Tracing,
    Transformed,
    Unknown,
    Value,
)


class Alone(Calls):
    """Analyses what was not called. `traced_as` says by the id of a function's node how it
    is transformed; the other tables hold, by the id of a class's node, its methods, what
    its attributes were set to, and which of those every method may rely on."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.traced_as: dict[int, Transformed] = {}
        self.methods: dict[int, list[Function]] = {}
        self.attributes: dict[int, dict[str, Value]] = {}
        self.settled: dict[int, set[str]] = {}

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
            if function.name != "__init__" and type(function.node) is cst.FunctionDef:
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
        return (
            function if static or type(function.node) is not cst.FunctionDef else replace(function, owner=cls)
        )

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
            value = self.parameter(param, function.closure, identity)
            if index == 0 and isinstance(function.owner, Class):
                value = self.some_instance(function.owner, identity)
            elif traced is not None and traced.transform == "pallas_call":
                value = Ref(Tracing("pallas_call"))
            elif traced is not None and name not in static:
                tracing = Tracing(traced.transform, name)
                value = Array(tracing) if name in proven else value.with_traced(tracing)
            names[name] = value
        if type(params.star_arg) is cst.Param:
            names[params.star_arg.name.value] = Unknown(symbol=(*symbol, "*"))
        if params.star_kwarg is not None:
            names[params.star_kwarg.name.value] = Unknown(symbol=(*symbol, "**"))
        return names

    def trace_of(self, transformed: Transformed) -> Tracing | None:
        """What a function runs under when it is transformed so."""
        if transformed.transform in CONCRETE:
            return self.frame.trace
        return Tracing(transformed.transform)

    def note_custom_rules(self, base: Transformed, args: Arguments) -> None:
        """`f.defvjp(forward, backward)`: the functions are called by JAX."""
        for value in args.every():
            if isinstance(value, Function):
                self.traced_as.setdefault(
                    id(value.node), Transformed(function=value, transform=base.transform)
                )


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
