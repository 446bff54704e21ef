"""What the model can know about a value.

A small closed set of immutable classes. Not knowing is a value too, `UNKNOWN`,
and it never makes a finding. Things that can change under several names (lists,
dicts, instances) are `Reference`s into the heap of the `State`, so that aliases
share what is known.

*Traced* is a flag orthogonal to kind: a traced parameter is a pytree of unknown
structure, not an array.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.knowledge.signature import Signature

KeyId: TypeAlias = tuple[Any, ...]
Dimension: TypeAlias = "int | None"
Shape: TypeAlias = "tuple[Dimension, ...] | None"


@dataclass(frozen=True, slots=True)
class Tracing:
    """Which transformation made a value a tracer, and through which parameter."""

    transform: str
    parameter: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """Base of all values. `traced` is None for a value that is no tracer."""

    traced: Tracing | None = None

    word: ClassVar[str] = "unknown"

    def describe(self) -> str:
        """One line for `jaxlint values`."""
        return self._describe() + (f", traced by {self.traced.transform}" if self.traced else "")

    def _describe(self) -> str:
        return self.word

    def with_traced(self, traced: Tracing | None) -> Value:
        return self if self.traced == traced else replace(self, traced=traced)


@dataclass(frozen=True, slots=True)
class Unknown(Value):
    """Nothing is known. `symbol` names the parameter that it came in by, so that
    what the function does with it can tell later that it is an array."""

    symbol: KeyId | None = None


UNKNOWN = Unknown()


@dataclass(frozen=True, slots=True)
class Constant(Value):
    """A Python constant: None, bool, number, string, bytes, Ellipsis."""

    value: Any = None

    def _describe(self) -> str:
        text = repr(self.value)
        return f"constant {text if len(text) < 40 else text[:37] + '...'}"


NONE = Constant(value=None)


@dataclass(frozen=True, slots=True)
class Scalar(Value):
    """A Python object of a known built-in type ("int", "float", "str", "dtype"…)
    whose value is not known; `symbol` tells one such value from another."""

    type: str = "int"
    symbol: KeyId | None = None

    def _describe(self) -> str:
        return self.type


@dataclass(frozen=True, slots=True)
class AnyArray(Value):
    """Base of NumPy and JAX arrays; an unknown dimension is None."""

    shape: Shape = None
    dtype: str | None = None

    def _describe(self) -> str:
        if self.shape is None:
            return self.word if self.dtype is None else f"{self.word} {self.dtype}"
        sizes = ",".join("?" if size is None else str(size) for size in self.shape)
        return f"{self.word} {self.dtype or '?'}[{sizes}]"

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)


@dataclass(frozen=True, slots=True)
class NumpyArray(AnyArray):
    """A NumPy array."""

    word: ClassVar[str] = "numpy array"


@dataclass(frozen=True, slots=True)
class Array(AnyArray):
    """A JAX array. `identity` tells one from another where that matters: for a large
    one, where it was made and in which evaluation of that place; for an argument that is
    only known to be an array, as which key it would be consumed."""

    identity: KeyId | None = None

    word: ClassVar[str] = "array"


@dataclass(frozen=True, slots=True)
class Ref(Value):
    """A mutable reference to an array (`jax.new_ref`, a Pallas kernel's argument)."""

    word: ClassVar[str] = "ref"


@dataclass(frozen=True, slots=True)
class Key(Value):
    """A PRNG key. Two keys with one `identity` hold the same bits."""

    identity: KeyId = ()

    word: ClassVar[str] = "key"


@dataclass(frozen=True, slots=True)
class Keys(Value):
    """A batch of keys, `split(key, num)`. Element i is `identity + (i,)`."""

    identity: KeyId = ()
    shape: Shape = None

    def _describe(self) -> str:
        sizes = "?" if self.shape is None else ",".join("?" if n is None else str(n) for n in self.shape)
        return f"keys[{sizes}]"


@dataclass(frozen=True, slots=True)
class Tuple(Value):
    """A tuple whose elements are all known."""

    items: tuple[Value, ...] = ()

    def _describe(self) -> str:
        return (
            "("
            + ", ".join(item.describe() for item in self.items)
            + ("," if len(self.items) == 1 else "")
            + ")"
        )


@dataclass(frozen=True, slots=True)
class Iterator(Value):
    """What `range`, `zip`, `enumerate`, `reversed`, `items`… give: a way to go
    through `sources`."""

    kind: str = "range"
    sources: tuple[Value, ...] = ()

    def _describe(self) -> str:
        return self.kind


@dataclass(frozen=True, slots=True)
class Reference(Value):
    """A list, dict, set or instance: an address in the heap of the `State`."""

    address: int = 0
    type: str = "list"

    def _describe(self) -> str:
        return self.type


@dataclass(frozen=True, slots=True)
class Imported(Value):
    """A module, or a name of a library, by its full dotted path."""

    path: str = ""

    def _describe(self) -> str:
        return f"name {self.path}"


@dataclass(frozen=True, slots=True)
class Function(Value):
    """A function of the file: a `def` or lambda, with the frame it closes over.

    `owner` is the instance for a bound method.
    """

    node: cst.FunctionDef | cst.Lambda | None = None
    closure: Any = None
    owner: Value | None = None
    defaults: tuple[tuple[str, Value], ...] = ()
    name: str = ""

    def _describe(self) -> str:
        return f"function {self.name or 'lambda'}"


@dataclass(frozen=True, slots=True)
class Library(Value):
    """A function of a library that the knowledge has a row for."""

    signature: Signature | None = None
    owner: Value | None = None

    def _describe(self) -> str:
        return f"function {self.signature.path}" if self.signature else "function"


@dataclass(frozen=True, slots=True)
class Partial(Value):
    """`functools.partial(function, *args, **keywords)`."""

    function: Value = UNKNOWN
    args: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()

    def _describe(self) -> str:
        return f"partial of {self.function.describe()}"


@dataclass(frozen=True, slots=True)
class Transformed(Value):
    """A function with one transformation round it, and the options it was given."""

    function: Value = UNKNOWN
    transform: str = "jit"
    options: tuple[tuple[str, Value], ...] = ()

    def option(self, name: str) -> Value | None:
        return next((value for key, value in self.options if key == name), None)

    def _describe(self) -> str:
        return f"{self.transform} of {self.function.describe()}"


@dataclass(frozen=True, slots=True)
class Class(Value):
    """A class of the file. `members` is what its body bound, `annotations` the types that
    it declares by name, `fields` the arguments of the constructor of a dataclass or named
    tuple; `bases` are values."""

    name: str = ""
    node: cst.ClassDef | None = None
    members: Any = None
    annotations: Any = None
    fields: tuple[str, ...] = ()
    bases: tuple[Value, ...] = ()

    def _describe(self) -> str:
        return f"class {self.name}"
