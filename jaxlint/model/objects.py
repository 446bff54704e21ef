"""What values are made of: elements, attributes and items, and what annotations say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import libcst as cst

from jaxlint.knowledge import lookup
from jaxlint.knowledge.signature import ClassRow, Signature, Word
from jaxlint.model import shapes
from jaxlint.model.machine import Machine
from jaxlint.model.state import Contents, Frame, fresh
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
    Shape,
    Transformed,
    Tuple,
    Unknown,
    Value,
)

AT_VIEW = Signature("jax.Array.at", (), Word("AtView"))
ARRAY_PATH = "jax.Array"
MAX_NESTED = 3
ARRAY_ATTRIBUTES = frozenset({"at", "shape", "dtype", "ndim", "T", "astype", "nbytes", "itemsize", "reshape"})
KINDS: dict[type[Value], str] = {Array: "ArrayType", NumpyArray: "NumPyType"}
METADATA = frozenset({"shape", "ndim", "dtype", "size"})
SCALARS = frozenset({"int", "float", "bool", "str", "complex"})


class Objects(Machine):
    """Looks into values. `wanted` are the attributes, by the id of a class's node, that a
    method read and nothing was known of."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.wanted: dict[int, set[str]] = {}

    def visit(self, node: cst.CSTNode) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def call_value(self, site: cst.CSTNode, function: Value, args: list[Value]) -> Value:
        """Call `function` with these positional arguments."""
        raise NotImplementedError

    # --- lists, dicts, instances ---

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

    # --- iteration ---

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

    def surely_passes(self, iterable: Value) -> bool:
        """Whether a loop over `iterable` runs once at least."""
        if isinstance(iterable, Iterator) and iterable.kind == "range":
            bounds = [shapes.as_dimension(source) for source in iterable.sources]
            return 1 <= len(bounds) <= 3 and None not in bounds and self.passes(iterable) > 0
        if isinstance(iterable, AnyArray):
            return bool(iterable.shape and iterable.shape[0])
        return bool(self.items(iterable))

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
            rows = iterable.shape is not None and len(iterable.shape) > 1
            return NumpyArray(shape=(iterable.shape or ())[1:], dtype=iterable.dtype) if rows else UNKNOWN
        if isinstance(iterable, Keys):
            return self.each_key(iterable, self.loops[-1].token if self.loops else fresh()[0])
        if isinstance(iterable, Iterator):
            return self.element_of_iterator(iterable, number)
        contents = self.contents(iterable)
        if contents is not None and isinstance(iterable, Reference) and iterable.type in ("list", "set"):
            return self.renewed(contents.rest) if contents.rest is not None else Unknown(symbol=fresh())
        return Unknown(iterable.traced, fresh())

    def renewed(self, value: Value, depth: int = 0) -> Value:
        """One of many elements described by `value`: as a key, one of its own."""
        if isinstance(value, Key):
            return Key(value.traced, fresh())
        if isinstance(value, Keys):
            return Keys(value.traced, fresh(), value.shape)
        if isinstance(value, Unknown):
            return Unknown(value.traced, fresh())
        if depth > MAX_NESTED:  # objects may hold each other
            return UNKNOWN
        if isinstance(value, Tuple):
            return Tuple(value.traced, tuple(self.renewed(item, depth + 1) for item in value.items))
        contents = self.contents(value)
        if contents is not None and isinstance(value, Reference):
            slots = {name: self.renewed(item, depth + 1) for name, item in contents.slots.items()}
            rest = None if contents.rest is None else self.renewed(contents.rest, depth + 1)
            return self.new_object(value.type, Contents(slots, rest, contents.cls, fresh()))
        return value

    def element_of_iterator(self, iterator: Iterator, number: int) -> Value:
        sources = iterator.sources
        if iterator.kind == "range":
            return Scalar(type="int", symbol=fresh())
        if iterator.kind == "zip":
            # The shortest ends it: nobody knows how many keys of a batch are met.
            sources = tuple(
                replace(s, identity=(*s.identity, "zip")) if isinstance(s, Keys) else s for s in sources
            )
            return Tuple(items=tuple(self.element(source, number) for source in sources))
        if iterator.kind == "enumerate":
            return Tuple(items=(Scalar(type="int", symbol=fresh()), self.element(sources[0], number)))
        if iterator.kind == "reversed":
            return self.element(sources[0], number) if not self.items(sources[0]) else Unknown(symbol=fresh())
        if iterator.kind == "items":
            contents = self.contents(sources[0])
            values = list(contents.slots.values()) if contents is not None and contents.complete else []
            return Tuple(
                items=(
                    Unknown(symbol=fresh()),
                    values[number] if number < len(values) else Unknown(symbol=fresh()),
                )
            )
        if iterator.kind == "generator":
            return self.renewed(sources[0])
        return Unknown(symbol=fresh())

    # --- attributes ---

    def attribute(self, base: Value, name: str, site: cst.CSTNode) -> Value:
        """The value of `base.name`."""
        if isinstance(base, Imported):
            return Constant(value=base.path) if name == "__name__" else self.resolve(f"{base.path}.{name}")
        if isinstance(base, Unknown):
            return self.attribute_of_unknown(base, name)
        if isinstance(base, Reference):
            return self.instance_attribute(base, name, site)
        if isinstance(base, AnyArray):
            return self.array_attribute(base, name)
        if isinstance(base, Class):
            return self.class_member(base, name) or UNKNOWN
        return base.function if isinstance(base, Partial) and name == "func" else UNKNOWN

    def attribute_of_unknown(self, base: Unknown, name: str) -> Value:
        if name in ARRAY_ATTRIBUTES:
            self.note_evidence(base)
        return (
            Library(signature=AT_VIEW, owner=base) if name == "at" else self.slot_of_unknown(base, ".", name)
        )

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

    def array_attribute(self, base: AnyArray, name: str) -> Value:
        if name in METADATA:
            return metadata(base, name)
        if not isinstance(base, Array):
            return NumpyArray() if name in ("T", "real", "imag") else UNKNOWN
        if name == "at":
            return Library(signature=AT_VIEW, owner=base)
        if name in ("T", "mT"):
            turned = base.shape[::-1] if base.shape is not None and name == "T" else None
            return Array(base.traced, turned, base.dtype)
        if name in ("real", "imag"):
            return Array(base.traced, base.shape)
        row = lookup(f"{ARRAY_PATH}.{name}")
        if isinstance(row, Signature):
            return Library(signature=row, owner=base)
        return Scalar(type=str(row.args[0])) if isinstance(row, Word) and row.name == "Python" else UNKNOWN

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
                return self.call_value(
                    site, replace(getter, owner=owner) if isinstance(getter, Function) else getter, []
                )
            if member.transform == "cached_property" and isinstance(member.function, Function):
                getter = member.function
                value = self.call_value(site, replace(getter, owner=owner), [])
                if (contents := self.contents(owner)) is not None:
                    self.write(owner.address, contents.storing(getter.name, value))
                return value
            if member.transform == "staticmethod":
                return member.function
            if member.transform == "classmethod":
                contents = self.contents(owner)
                bound = contents.cls if contents is not None else None
                return Partial(function=member.function, args=(bound or UNKNOWN,))
            return Partial(function=member, args=(owner,))
        return member

    # --- subscripts ---

    def item(self, base: Value, indices: list[Value | cst.Slice]) -> Value:
        """The value of `base[indices]`."""
        index = indices[0] if len(indices) == 1 else None
        if isinstance(base, Array):
            array = Array(base.traced or self.trace, self.indexed_shape(base, indices), base.dtype)
            return self.element_of_argument(base, array, self.index_identity(index))
        if isinstance(base, NumpyArray):
            shape = self.indexed_shape(base, indices)
            known = shape != () and self.has_slice(indices)
            return NumpyArray(shape=shape, dtype=base.dtype) if known else UNKNOWN
        if isinstance(base, Keys):
            return self.item_of_keys(base, index)
        if isinstance(base, Ref):
            return Array(base.traced or self.trace)
        if isinstance(base, Tuple):
            return self.item_of_tuple(base, index)
        if isinstance(base, Reference):
            return self.item_of_object(base, index)
        if isinstance(base, Iterator) and base.kind == "generator" and type(index) is not cst.Slice:
            return self.renewed(base.sources[0])
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
        return any(type(index) is cst.Slice for index in indices)

    def item_of_tuple(self, base: Tuple, index: Value | cst.Slice | None) -> Value:
        position = shapes.as_dimension(index) if isinstance(index, Value) else None
        if position is not None and -len(base.items) <= position < len(base.items):
            return base.items[position]
        return self.sliced_tuple(base, index) if type(index) is cst.Slice else UNKNOWN

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

    def indexed_shape(self, base: AnyArray, indices: list[Value | cst.Slice]) -> Shape:
        """The shape of `base[indices]`; None where an index is an array, or not known."""
        if base.shape is None:
            return None
        result: list[int | None] = []
        axes = list(base.shape)
        left = len(indices)
        for index in indices:
            left -= 1
            if isinstance(index, Constant) and index.value is None:
                result.append(1)
            elif isinstance(index, Constant) and index.value is ...:
                skipped = max(
                    0, len(axes) - sum(not is_new_axis(later) for later in indices[len(indices) - left :])
                )
                result, axes = result + axes[:skipped], axes[skipped:]
            elif not axes:
                return None
            elif type(index) is cst.Slice:
                result.append(self.slice_length(index, axes.pop(0)))
            elif isinstance(index, (Constant, Scalar)) and shapes.element_dtype(index, True) == "int64":
                axes.pop(0)
            else:
                return None
        return tuple(result + axes)

    def slice_length(self, part: cst.Slice, size: int | None) -> int | None:
        bounds = [
            NONE if bound is None else self.visit(bound) for bound in (part.lower, part.upper, part.step)
        ]
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
        if type(index) is cst.Slice:
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

    # --- making arrays ---

    def allocated(self, site: cst.CSTNode, shape: Shape, dtype: str | None, traced: Any = None) -> Array:
        """A new JAX array; a large one gets an identity of its own."""
        array = Array(traced or self.trace, shape, dtype)
        size = shapes.nbytes(array)
        if size is None or size < self.options.large_array_bytes or array.traced is not None:
            return array
        return replace(array, identity=("made", id(site), *fresh()))

    # --- annotations ---

    def annotated(self, annotation: cst.BaseExpression | None, symbol: KeyId) -> Value:
        """What a parameter's annotation says of its value."""
        if type(annotation) is cst.SimpleString:
            text = annotation.raw_value.strip()
            if not all(part.isidentifier() for part in text.split(".")):
                return Unknown(symbol=symbol)
            annotation = _dotted(text)
        if type(annotation) is cst.Subscript:
            return self.annotated_generic(annotation, symbol)
        if not isinstance(annotation, (cst.Name, cst.Attribute)):
            return Unknown(symbol=symbol)
        return self.instance_of(self.visit(annotation), symbol)

    def instance_of(self, named: Value, symbol: KeyId) -> Value:
        """A value of the type that an annotation names."""
        if isinstance(named, Class):
            return self.new_object("instance", Contents({}, UNKNOWN, named, symbol))
        if not isinstance(named, Imported):
            return Unknown(symbol=symbol)
        if named.path.startswith("builtins.") and named.path[9:] in SCALARS:
            return Scalar(type=named.path[9:], symbol=symbol)
        word = self.type_word(named.path)
        if word == "KeyType":
            return Key(identity=symbol)
        if word == "ArrayType" and not self.refs_are_arrays:
            return Array(identity=symbol)
        return NumpyArray() if word == "NumPyType" else Unknown(symbol=symbol)

    def parameter(self, param: cst.Param, closure: Frame | None, symbol: KeyId) -> Value:
        """What is known of an argument before the call; one that may be None, whatever
        the annotation says, is not known. Names are looked up where the function is."""
        optional = type(param.default) is cst.Name and param.default.value == "None"
        if param.annotation is None or optional or closure is None:
            return Unknown(symbol=symbol)
        frame, names = self.frame, self.state.names
        self.frame, self.state.names = closure, closure.names
        value = self.annotated(param.annotation.annotation, symbol)
        self.frame, self.state.names = frame, names
        return value

    def annotated_generic(self, annotation: cst.Subscript, symbol: KeyId) -> Value:
        named = self.visit(annotation.value)
        word = self.type_word(named.path) if isinstance(named, Imported) else ""
        first = annotation.slice[0].slice
        if word == "KeyType":
            return Key(identity=symbol)
        if word == "ArrayType" and type(first) is cst.Index and dotted_name(first.value):
            return self.annotated(first.value, symbol)
        return Unknown(symbol=symbol)

    def is_instance(self, value: Value, kind: Value) -> bool | None:
        """`isinstance(value, kind)` for an array, where that can be told."""
        if isinstance(kind, Tuple):
            answers = {self.is_instance(value, item) for item in kind.items}
            return True if True in answers else None if None in answers else False
        word = KINDS.get(type(value))
        if word is None or not isinstance(kind, Imported) or kind.path == "builtins.object":
            return None
        asked = self.type_word(kind.path)
        if asked in KINDS.values():
            return asked == word
        return False if kind.path.startswith("builtins.") else None

    @staticmethod
    def type_word(path: str) -> str:
        row = lookup(path)
        word = row.word if isinstance(row, ClassRow) else row
        return word.name if isinstance(word, Word) else ""


def is_new_axis(index: Value | cst.Slice) -> bool:
    """Whether an index is `None`, which takes no axis."""
    return isinstance(index, Constant) and index.value is None


def metadata(array: AnyArray, name: str) -> Value:
    """The `shape`, `ndim`, `dtype` or `size` of an array."""
    if name == "shape":
        if array.shape is None:
            return Scalar(type="tuple")
        return Tuple(items=tuple(Scalar(type="int") if n is None else Constant(value=n) for n in array.shape))
    if name == "dtype":
        return Scalar(type=f"dtype:{array.dtype}" if array.dtype else "dtype")
    number = array.rank if name == "ndim" else shapes.nbytes(replace(array, dtype="int8"))
    return Scalar(type="int", symbol=fresh()) if number is None else Constant(value=number)


def _dotted(text: str) -> cst.BaseExpression:
    first, *rest = text.split(".")
    node: cst.BaseExpression = cst.Name(first)
    for part in rest:
        node = cst.Attribute(node, cst.Name(part))
    return node
