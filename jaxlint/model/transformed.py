"""Calls of transformed functions: `jit(f)(x)`, `vmap(f)(xs)`, `value_and_grad(f)(w)`…"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from jaxlint.model import shapes
from jaxlint.model.calls import Arguments
from jaxlint.model.library import LibraryCalls
from jaxlint.model.state import fresh
from jaxlint.model.tracing import ABSTRACT, CONCRETE, DECORATORS, mapped_axes, static_positions
from jaxlint.model.values import (
    AnyArray,
    Array,
    Constant,
    Key,
    Keys,
    NumpyArray,
    Scalar,
    Tracing,
    Transformed,
    Tuple,
    Unknown,
    Value,
)


class TransformedCalls(LibraryCalls):
    """Evaluates calls of transformed functions."""

    def call_transformed(self, site: cst.CSTNode, function: Transformed, args: Arguments) -> Value:
        kind = function.transform
        if kind in DECORATORS:
            return self.call(site, function.function, args)
        inner = self.unwrapped_arguments(function, args)
        concrete = kind in CONCRETE
        trace = self.frame.trace if concrete else Tracing(kind)
        if kind in ABSTRACT:
            self.call_abstractly(site, function.function, inner, trace)
            return Unknown(symbol=fresh())
        result = self.call_traced(site, function.function, inner, trace, concrete)
        self.donate(function, args)
        if kind in ("vmap", "pmap"):
            result = self.batched(result)
        elif kind == "value_and_grad":
            result = Tuple(items=(result, Unknown(symbol=fresh())))
        elif concrete and kind not in ("custom_jvp", "custom_vjp", "named_call", "custom_gradient"):
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
        if isinstance(value, NumpyArray) or (
            isinstance(value, (Constant, Scalar)) and shapes.element_dtype(value, True)
        ):
            return Array(tracing, shapes.shape_of(value, self.items), shapes.element_dtype(value, self.x64))
        if isinstance(value, (Array, Key, Keys, Unknown)):
            return value.with_traced(tracing)
        return value

    def slice_at(self, value: Value, axis: int | None) -> Value:
        if axis is None:
            return value
        if isinstance(value, Tuple):
            return Tuple(value.traced, tuple(self.slice_at(item, axis) for item in value.items))
        if (
            isinstance(value, AnyArray)
            and value.shape is not None
            and -len(value.shape) <= axis < len(value.shape)
        ):
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
        self,
        site: cst.CSTNode,
        function: Value,
        args: Arguments,
        trace: Tracing | None,
        concrete: bool = False,
    ) -> Value:
        """Call a function inside a transformation."""
        outer = self.frame.trace
        self.frame.trace = trace
        try:
            if not concrete and trace is not None:
                args.values = [
                    self.as_tracer(v, trace) if type(v) is not Constant else v for v in args.values
                ]
            return self.call(site, function, args)
        finally:
            self.frame.trace = outer

    def call_abstractly(
        self, site: cst.CSTNode, function: Value, args: Arguments, trace: Tracing | None
    ) -> Value:
        """Call a function for the shapes of what it gives: the keys are as they were after it."""
        uses, recorders = self.state.uses, self.recorders
        self.note_unrepeatable()
        self.state.uses, self.recorders = uses.copy(), []
        value = self.call_traced(site, function, args, trace)
        self.state.uses, self.recorders = uses, recorders
        return value

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
