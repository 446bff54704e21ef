"""Calls of library functions: they do what their row in `jaxlint.knowledge` says.

`take_<word>` does what the word on a parameter says, `return_<word>` makes what the word
behind the arrow says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst

from jaxlint.knowledge.signature import Parameter, Signature, Word
from jaxlint.knowledge.vocabulary import DTYPE_RULES
from jaxlint.model import events, shapes
from jaxlint.model.alone import Alone
from jaxlint.model.calls import Arguments
from jaxlint.model.state import fresh, join_states, join_values
from jaxlint.model.tracing import ABSTRACT, CONCRETE
from jaxlint.model.values import (
    NONE,
    UNKNOWN,
    AnyArray,
    Array,
    Constant,
    Function,
    Iterator,
    Key,
    Keys,
    Library,
    NumpyArray,
    Partial,
    Ref,
    Reference,
    Scalar,
    Shape,
    Tracing,
    Transformed,
    Tuple,
    Unknown,
    Value,
)

SHUFFLES = {"jax.random.permutation": "x", "jax.random.choice": "a", "jax.random.shuffle": "x"}
"""Samplers that pick from an array, and the parameter that it goes to."""
WORD_DTYPES = {"Bool": "bool", "Int": "int32"}


@dataclass(slots=True)
class LibraryCall:
    """A call of a library's function that is being worked out: its arguments by
    parameter, and what the callables among them returned."""

    site: cst.CSTNode
    signature: Signature
    given: dict[str, Value]
    results: dict[str, Value]
    before_branches: Any = None


class LibraryCalls(Alone):
    """Evaluates calls of library functions."""

    def call_traced(
        self,
        site: cst.CSTNode,
        function: Value,
        args: Arguments,
        trace: Tracing | None,
        concrete: bool = False,
    ) -> Value:
        """Call a function inside a transformation."""
        raise NotImplementedError

    def call_abstractly(
        self, site: cst.CSTNode, function: Value, args: Arguments, trace: Tracing | None
    ) -> Value:
        """Call a function for its shapes alone."""
        raise NotImplementedError

    def untraced(self, value: Value, site: cst.CSTNode | None = None) -> Value:
        """What comes out of a transformed function."""
        raise NotImplementedError

    def call_library(self, site: cst.CSTNode, library: Library, args: Arguments) -> Value:
        signature = library.signature
        assert signature is not None
        if signature.method and library.owner is not None:
            args = Arguments(
                [library.owner, *args.values],
                [site, *args.nodes],
                args.keywords,
                args.keyword_nodes,
                args.open,
            )
        slots = signature.bind(len(args.values), args.keywords)
        if slots is None:
            if not args.open:
                return Unknown(symbol=fresh())
            slots = {
                p.name: i
                for i, p in enumerate(signature.parameters[: len(args.values)])
                if p.kind in ("positional", "either")
            }
            slots |= {name: name for name in args.keywords if signature.parameter(name)}
        given = {name: self.from_slot(slot, args) for name, slot in slots.items()}
        call = LibraryCall(site, signature, given, {})
        for parameter in signature.parameters:
            if parameter.word is not None and parameter.name in given:
                handler = getattr(self, "take_" + parameter.word.name.lower(), None)
                if handler is not None:
                    slot = slots[parameter.name]
                    node = (
                        args.nodes[slot] if isinstance(slot, int) else args.keyword_nodes.get(str(slot), site)
                    )
                    handler(call, parameter, node)
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
        if signature.returns.name in ("Broadcast", "Reduced", "Like") and signature.path.startswith(
            "jax.numpy."
        ):
            for name in signature.returns.args:
                if isinstance(name, str) and name in given:
                    self.note_evidence(given[name])

    def take_consumed(self, call: LibraryCall, parameter: Parameter, node: cst.CSTNode) -> None:
        path = call.signature.path
        kind: events.KeyUseKind = "split" if path == "jax.random.split" else "sample"
        data = call.given.get(SHUFFLES[path]) if path in SHUFFLES else None
        self.consume(call.given[parameter.name], node, call.site, path, kind, data)

    def take_traced(self, call: LibraryCall, parameter: Parameter, node: cst.CSTNode) -> None:
        """A callable that is traced and called once."""
        function = call.given[parameter.name]
        self.note_transformed(call.signature.path.rpartition(".")[2], function, {})
        if call.signature.returns.name == "Transform" or parameter.word is None or not parameter.word.args:
            return
        args = self.callable_arguments(call, parameter)
        name = call.signature.path.rpartition(".")[2]
        run = self.call_abstractly if name in ABSTRACT else self.call_traced
        call.results[parameter.name] = run(call.site, function, args, self.loop_trace(call))

    def take_branch(self, call: LibraryCall, parameter: Parameter, node: cst.CSTNode) -> None:
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

    def take_body(self, call: LibraryCall, parameter: Parameter, node: cst.CSTNode) -> None:
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
            if carried in call.given and word.args and parameter.name != "cond_fun":
                items = self.items(result) if pair else (result,)
                call.given[carried] = items[0] if items else Unknown(symbol=fresh())

        before = call.given.get(carried)
        self.run_loop(call.site, lambda _: None, body, 2)
        if before is not None:
            call.given[carried] = before

    def take_called(self, call: LibraryCall, parameter: Parameter, node: cst.CSTNode) -> None:
        """A callable that is called on the host, any number of times."""
        function = call.given[parameter.name]
        if not isinstance(function, (Function, Partial)):
            return

        def body() -> None:
            args = self.callable_arguments(call, parameter)
            call.results[parameter.name] = self.call(call.site, function, args)

        self.run_loop(call.site, lambda _: None, body, 2)

    def take_kernel(self, call: LibraryCall, parameter: Parameter, node: cst.CSTNode) -> None:
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
            return Array(
                self.trace, value.shape[1:] if value.shape else None, shapes.canonical(value.dtype, self.x64)
            )
        if isinstance(value, Constant) and value.value is None:
            return NONE
        return Unknown(value.traced, fresh())

    def loop_trace(self, call: LibraryCall) -> Tracing | None:
        name = call.signature.path.rpartition(".")[2]
        return self.frame.trace if name in CONCRETE else Tracing(name)

    # --- what a library's function returns ---

    def returned(self, call: LibraryCall, word: Word) -> Value:
        handler = getattr(self, "return_" + word.name.lower(), None)
        value: Value = Unknown(symbol=fresh()) if handler is None else handler(call, word)
        return value

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

    def shape_and_dtype(self, call: LibraryCall, word: Word) -> tuple[Shape, str | None]:
        """What Array[shape, dtype, value] says."""
        if not word.args:
            return None, None
        name = word.args[0]
        shape: Shape = None
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

    def return_arrays(self, call: LibraryCall, word: Word) -> Value:
        """Nobody knows how many arrays."""
        return Iterator(kind="generator", sources=(Array(self.trace),))

    def return_numpy(self, call: LibraryCall, word: Word) -> Value:
        shape, dtype = self.shape_and_dtype(call, word)
        return NumpyArray(shape=shape, dtype=dtype)

    def return_like(self, call: LibraryCall, word: Word) -> Value:
        source = self.argument(call, word, 0) or UNKNOWN
        shape, dtype = shapes.shape_of(source, self.items), shapes.element_dtype(source, self.x64)
        for parameter in call.signature.parameters:
            role = parameter.word.name if parameter.word is not None else ""
            value = call.given.get(parameter.name, NONE)
            if role == "Shape" and value != NONE:
                shape = shapes.as_shape(value, self.items)
            elif role == "DType" and value != NONE:
                dtype = shapes.as_dtype(value, None, self.x64)
        return self.allocated(call.site, shape, dtype, source.traced)

    def return_broadcast(self, call: LibraryCall, word: Word) -> Value:
        operands = [call.given[name] for name in word.args if isinstance(name, str) and name in call.given]
        shape, dtype = shapes.elementwise(operands, self.items, self.x64) if operands else (None, None)
        traced = next((operand.traced for operand in operands if operand.traced), None)
        return self.allocated(call.site, shape, self.result_dtype(call, word, dtype), traced)

    def result_dtype(self, call: LibraryCall, word: Word, dtype: str | None) -> str | None:
        """The dtype of a result whose operands promote to `dtype`."""
        if call.given.get("dtype", NONE) != NONE:
            return shapes.as_dtype(call.given["dtype"], None, self.x64)
        rule = next((item.name for item in word.args if isinstance(item, Word)), "")
        if rule not in DTYPE_RULES:
            return dtype
        return DTYPE_RULES[rule](dtype) if dtype is not None else WORD_DTYPES.get(rule)

    def return_reduced(self, call: LibraryCall, word: Word) -> Value:
        source = self.argument(call, word, 0) or UNKNOWN
        shape = shapes.reduced(
            shapes.shape_of(source, self.items), call.given.get("axis"), call.given.get("keepdims")
        )
        dtype = self.result_dtype(call, word, shapes.element_dtype(source, self.x64))
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

    def return_numpyview(self, call: LibraryCall, word: Word) -> Value:
        source = self.argument(call, word, 0)
        return (
            NumpyArray(shape=source.shape, dtype=source.dtype)
            if isinstance(source, AnyArray)
            else NumpyArray()
        )

    def return_key(self, call: LibraryCall, word: Word) -> Value:
        return Key(self.trace, fresh())

    return_clone = return_key

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

    def return_ondevice(self, call: LibraryCall, word: Word) -> Value:
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
        name = next(
            (p.name for p in call.signature.parameters if p.word is not None and p.word.name == "Traced"), ""
        )
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
                    function=function,
                    transform=kind,
                    options=(*options.items(), ("bound", Constant(value=bound))),
                )


def carried_name(returns: Word) -> str:
    """The parameter that a loop carries from pass to pass ("init")."""
    if returns.name == "Tuple" and returns.args and isinstance(returns.args[0], Word):
        return carried_name(returns.args[0])
    return str(returns.args[0]) if returns.name in ("Carry", "Same") and returns.args else ""
