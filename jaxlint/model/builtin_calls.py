"""Calls of Python's built-ins and of the methods of its containers."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from jaxlint.knowledge import lookup
from jaxlint.knowledge.signature import ClassRow, Word
from jaxlint.model import shapes
from jaxlint.model.calls import Arguments
from jaxlint.model.state import Contents, fresh, join_values
from jaxlint.model.transformed import TransformedCalls
from jaxlint.model.values import (
    NONE,
    UNKNOWN,
    AnyArray,
    Array,
    Constant,
    Imported,
    Iterator,
    Library,
    NumpyArray,
    Partial,
    Reference,
    Scalar,
    Tuple,
    Unknown,
    Value,
)

ARRAY_TYPES: dict[type[Value], str] = {Array: "jax.Array", NumpyArray: "numpy.ndarray"}
SET_QUERIES = frozenset(
    {"copy", "difference", "intersection", "isdisjoint", "issubset", "issuperset", "union"}
)
NEVER_RETURN = frozenset(
    {"builtins.exit", "builtins.quit", "os._exit", "os.abort", "pytest.fail", "pytest.skip", "sys.exit"}
)


class BuiltinCalls(TransformedCalls):
    """Evaluates calls of built-ins."""

    def call_imported(self, site: cst.CSTNode, function: Imported, args: Arguments) -> Value:
        """A built-in, or a name of a library that has no row as a function."""
        builtin = BUILTIN_CALLS.get(function.path)
        if builtin is not None:
            return builtin(self, site, args)
        if function.path in NEVER_RETURN:
            self.enter(None)
            return UNKNOWN
        if function.path == "jax.config.update" and args.values[:1] == [Constant(value="jax_enable_x64")]:
            self.x64 = args.values[1:] != [Constant(value=False)]
        row = lookup(function.path)
        if isinstance(row, ClassRow) and row.init is not None:
            return self.call_library(site, Library(signature=row.init, owner=UNKNOWN), args)
        if isinstance(row, Word) and row.name == "DTypeName" and args.values:
            shape = shapes.shape_of(args.values[0], self.items)
            return Array(
                args.values[0].traced or self.trace, shape, shapes.canonical(str(row.args[0]), self.x64)
            )
        if not function.path.startswith(("builtins.", "jax.", "numpy.")):
            self.escape_all(args.every())
        return Unknown(symbol=fresh())

    def builtin_partial(self, site: cst.CSTNode, args: Arguments) -> Value:
        if not args.values:
            return UNKNOWN
        return Partial(
            function=args.values[0], args=tuple(args.values[1:]), keywords=tuple(args.keywords.items())
        )

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
            results.append(
                self.call_value(site, function, [self.element(source, number) for source in sources])
            )

        self.run_loop(site, lambda _: None, body, min((self.passes(source) for source in sources), default=1))
        return Iterator(kind="generator", sources=(results[0] if results else UNKNOWN,))

    def builtin_getattr(self, site: cst.CSTNode, args: Arguments) -> Value:
        if (
            len(args.values) >= 2
            and isinstance(args.values[1], Constant)
            and isinstance(args.values[1].value, str)
        ):
            return self.attribute(args.values[0], args.values[1].value, site)
        return Unknown(symbol=fresh())

    def builtin_isinstance(self, site: cst.CSTNode, args: Arguments) -> Value:
        answer = self.is_instance(args.values[0], args.values[1]) if len(args.values) == 2 else None
        return Scalar(type="bool", symbol=fresh()) if answer is None else Constant(value=answer)

    def builtin_hasattr(self, site: cst.CSTNode, args: Arguments) -> Value:
        """`.at` is what tells the two kinds of arrays apart."""
        if args.values[1:] == [Constant(value="at")] and isinstance(args.values[0], AnyArray):
            return Constant(value=isinstance(args.values[0], Array))
        return Scalar(type="bool", symbol=fresh())

    def builtin_type(self, site: cst.CSTNode, args: Arguments) -> Value:
        path = ARRAY_TYPES.get(type(args.values[0])) if len(args.values) == 1 else None
        return Imported(path=path) if path is not None else Unknown(symbol=fresh())

    def builtin_setattr(self, site: cst.CSTNode, args: Arguments) -> Value:
        self.escape_all(args.every())
        return NONE

    def builtin_next(self, site: cst.CSTNode, args: Arguments) -> Value:
        return (
            self.element(args.values[0], 0)
            if args.values and isinstance(args.values[0], Iterator)
            else Unknown(symbol=fresh())
        )

    # --- methods of containers ---

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
        return (
            self.renewed(rest)
            if name == "pop"
            else NONE
            if name in ("extend", "insert", "sort", "clear")
            else UNKNOWN
        )

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
        contents = self.state.heap.get(base.address)
        if contents is not None and name not in SET_QUERIES:
            self.write(base.address, contents)
        return Unknown(symbol=fresh())


def _iterator(kind: str) -> Callable[[BuiltinCalls, cst.CSTNode, Arguments], Value]:
    def call(_calls: BuiltinCalls, _site: cst.CSTNode, args: Arguments) -> Value:
        known = args.values and not args.open and not args.keywords.keys() - {"start", "strict"}
        return Iterator(kind=kind, sources=tuple(args.values)) if known else UNKNOWN

    return call


def _scalar(kind: str) -> Callable[[BuiltinCalls, cst.CSTNode, Arguments], Value]:
    return lambda calls, site, args: Scalar(type=kind, symbol=fresh())


BUILTIN_CALLS: dict[str, Callable[[BuiltinCalls, cst.CSTNode, Arguments], Value]] = {
    "functools.partial": BuiltinCalls.builtin_partial,
    "builtins.range": _iterator("range"),
    "itertools.count": lambda calls, site, args: Iterator(kind="range"),
    "builtins.zip": _iterator("zip"),
    "builtins.enumerate": _iterator("enumerate"),
    "builtins.reversed": _iterator("reversed"),
    "builtins.list": BuiltinCalls.builtin_list,
    "builtins.sorted": _scalar("object"),
    "builtins.tuple": BuiltinCalls.builtin_tuple,
    "builtins.dict": BuiltinCalls.builtin_dict,
    "builtins.len": BuiltinCalls.builtin_len,
    "builtins.map": BuiltinCalls.builtin_map,
    "builtins.isinstance": BuiltinCalls.builtin_isinstance,
    "builtins.hasattr": BuiltinCalls.builtin_hasattr,
    "builtins.type": BuiltinCalls.builtin_type,
    "builtins.callable": _scalar("bool"),
    "builtins.bool": _scalar("bool"),
    "builtins.int": _scalar("int"),
    "builtins.float": _scalar("float"),
    "builtins.str": _scalar("str"),
    "builtins.repr": _scalar("str"),
    "builtins.print": lambda calls, site, args: NONE,
    "builtins.getattr": BuiltinCalls.builtin_getattr,
    "builtins.setattr": BuiltinCalls.builtin_setattr,
    "builtins.next": BuiltinCalls.builtin_next,
}
