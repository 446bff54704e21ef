"""Every word that a stub file may use, and what it means. README.md explains them by example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Place: TypeAlias = Literal["parameter", "return", "name", "inner"]
"""Where a word may stand: on a parameter, after `->` (or on an attribute), on a name of a
module, or only inside another word."""

Arguments: TypeAlias = Literal["none", "parameters", "text"]
"""What stands in its brackets: nothing, names of parameters (or words), or a string."""


@dataclass(frozen=True, slots=True)
class Term:
    """What is allowed of one word."""

    places: tuple[Place, ...]
    arguments: Arguments
    meaning: str


VOCABULARY: dict[str, Term] = {
    # What a function does with a parameter.
    "Consumed": Term(("parameter",), "none", "a PRNG key; the call uses it up"),
    "Borrowed": Term(("parameter",), "none", "a PRNG key; the call only looks at it"),
    "Shape": Term(("parameter",), "none", "a shape: an int or a sequence of ints"),
    "DType": Term(("parameter",), "none", "a data type"),
    "Traced": Term(("parameter",), "parameters", "a callable that is traced, once, with these arguments"),
    "Body": Term(("parameter",), "parameters", "a callable that is traced once and runs many times"),
    "Branch": Term(("parameter",), "parameters", "a callable that is traced, of which one of several runs"),
    "Called": Term(("parameter",), "parameters", "a callable that is called any number of times, not traced"),
    "Kernel": Term(("parameter",), "none", "a callable that is traced with Refs as its arguments"),
    # What a callable is given.
    "Each": Term(("inner",), "parameters", "one slice along the first axis"),
    "Leaf": Term(("inner",), "parameters", "one leaf of a pytree"),
    "Star": Term(("inner",), "parameters", "the items, as so many arguments"),
    "Index": Term(("inner",), "none", "a traced integer"),
    "Host": Term(("inner",), "none", "any number of NumPy arrays"),
    # What a function returns.
    "Array": Term(("return",), "parameters", "a JAX array of this shape and dtype"),
    "Like": Term(("return",), "parameters", "an array of the shape and dtype of this one"),
    "Broadcast": Term(("return",), "parameters", "elementwise over these, with promotion"),
    "Reduced": Term(("return",), "parameters", "reduced over the parameters axis and keepdims"),
    "Arrays": Term(("return",), "none", "a tuple or list of JAX arrays"),
    "Computed": Term(("return",), "none", "an array whose shape the model works out by the path"),
    "NumPy": Term(("return",), "parameters", "a NumPy array or scalar; arguments as of Array"),
    "NumPyView": Term(("return",), "parameters", "a read-only NumPy view of this JAX array"),
    "Dispatch": Term(("return",), "parameters", "a JAX array if this is one, else a NumPy array"),
    "Key": Term(("return", "name"), "none", "a new PRNG key"),
    "Keys": Term(("return",), "parameters", "a batch of new keys, of the shape of this parameter"),
    "Derived": Term(("return",), "parameters", "a key fixed by a key and data"),
    "Clone": Term(("return",), "parameters", "the same key, fit for use once more"),
    "Same": Term(("return",), "parameters", "this very argument"),
    "OnDevice": Term(("return",), "parameters", "this argument, its NumPy arrays and numbers as JAX arrays"),
    "Carry": Term(("return", "inner"), "parameters", "the structure of this argument, new content"),
    "Result": Term(("return",), "parameters", "what one of these callables returns"),
    "Stacked": Term(("return",), "parameters", "what the callable returns, along a new first axis"),
    "Second": Term(("inner",), "parameters", "the second item of what the callable returns"),
    "Tuple": Term(("return",), "parameters", "a tuple of these"),
    "Transform": Term(("return",), "text", "the Traced callable, transformed"),
    "Callable": Term(("return", "name"), "text", "a function with the row of this path"),
    "Instance": Term(("return",), "text", "an instance of the class of this path"),
    "Ref": Term(("return",), "none", "a mutable reference to an array"),
    "AtView": Term(("return",), "none", "the `.at` of an array"),
    "Python": Term(("return", "name"), "text", "a Python object of this type"),
    "Unknown": Term(("return", "name", "inner"), "none", "anything"),
    "Nothing": Term(("return",), "none", "None"),
    # The dtype of Array, Broadcast and Reduced, where it is not the promoted one.
    "Bool": Term(("inner",), "none", "bool"),
    "Int": Term(("inner",), "none", "the default integer"),
    "Inexact": Term(("inner",), "none", "integers and booleans become floats"),
    "Floating": Term(("inner",), "none", "integers and booleans become floats, complex numbers real"),
    "Real": Term(("inner",), "none", "complex numbers become real"),
    "Numeric": Term(("inner",), "none", "booleans become the default integer"),
    "Widened": Term(("inner",), "none", "booleans and small integers become the default integer"),
    # What a name means in an annotation, or as a value.
    "ArrayType": Term(("name",), "text", "a JAX array; ['subscript'] where it is subscripted"),
    "KeyType": Term(("name",), "text", "a PRNG key; ['subscript'] where it is subscripted"),
    "NumPyType": Term(("name",), "none", "a NumPy array"),
    "DTypeName": Term(("name",), "text", "a data type of JAX; called, it casts to a JAX array"),
    "NumPyDType": Term(("name",), "text", "a data type of NumPy; called, it casts to a NumPy scalar"),
}


_REAL = {"complex64": "float32", "complex128": "float64"}
_WIDER = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}

DTYPE_RULES: dict[str, Callable[[str], str]] = {
    "Bool": lambda _: "bool",
    "Int": lambda _: "int32",
    "Inexact": lambda dtype: "float32" if _is_integer(dtype) else dtype,
    "Floating": lambda dtype: "float32" if _is_integer(dtype) else _REAL.get(dtype, dtype),
    "Real": lambda dtype: _REAL.get(dtype, dtype),
    "Numeric": lambda dtype: "int32" if dtype == "bool" else dtype,
    "Widened": lambda dtype: _WIDER.get(dtype, dtype),
}
"""The dtype of a result from the promoted dtype of its operands, with 64-bit types off."""


def _is_integer(dtype: str) -> bool:
    return dtype.startswith(("int", "uint", "bool"))
