"""How a function is called and what it does with what it is given.

One type serves the rows of the stub files and what is inferred from user code.
The words are listed in `vocabulary.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["positional", "either", "keyword", "star", "starstar"]

Slot: TypeAlias = "int | str | tuple[int, ...] | tuple[str, ...]"
"""Where a call says the value of a parameter: the number of a positional argument, the
name of a keyword argument, or all that `*args` or `**kwargs` collects."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of the vocabulary with its arguments: names of parameters, text, or words.

    `Tuple[Carry[init], Unknown]` is
    `Word("Tuple", (Word("Carry", ("init",)), Word("Unknown")))`.
    """

    name: str
    args: tuple[str | Word, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.args))}]" if self.args else self.name


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `default` is a Python constant, or the name of a type ("float")."""

    name: str
    kind: Kind = "either"
    word: Word | None = None
    required: bool = True
    default: Any = None


@dataclass(frozen=True, slots=True)
class Signature:
    """A function that can be called. `path` is its canonical name, whatever name led to it."""

    path: str
    parameters: tuple[Parameter, ...]
    returns: Word
    method: bool = False

    def bind(self, positional: int, keywords: Collection[str] = ()) -> Mapping[str, Slot] | None:
        """Which argument goes to which parameter; None where the call does not fit.

        For a method, argument 0 is the object that it is called on.
        """
        bound: dict[str, Slot] = {}
        given, left = 0, list(keywords)
        for parameter in self.parameters:
            name, kind = parameter.name, parameter.kind
            if kind == "star":
                bound[name], given = tuple(range(given, positional)), positional
            elif kind == "starstar":
                bound[name], left = tuple(left), []
            elif given < positional and kind != "keyword":
                if kind == "either" and name in left:
                    return None
                bound[name] = given
                given += 1
            elif name in left and kind != "positional":
                bound[name] = name
                left.remove(name)
            elif parameter.required:
                return None
        return None if left or given < positional else bound

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A class of a library. `bases` are canonical paths, `word` is what the class means in
    an annotation, `init` how it is called."""

    path: str
    bases: tuple[str, ...] = ()
    word: Word | None = None
    init: Signature | None = None


Row: TypeAlias = "Signature | ClassRow | Word"
