"""From the bytes of a file to its text, as Python itself reads them."""

from __future__ import annotations

import codecs
import re

# PEP 263: in the first line, or in the second where the first is blank or a comment. Emacs
# adds the kind of line ends to the name: `utf-8-unix`.
COOKIE = re.compile(
    rb"\A(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n?|\n))??"
    rb"[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+?)(?:-(?:unix|dos|mac))?(?![-\w.])"
)
LONE_CARRIAGE_RETURN = re.compile(r"\r(?!\n)")


class DecodeError(ValueError):
    """The bytes are no text; the message says why, in one line."""


def decode(data: bytes) -> str:
    """The text of a source file, without its byte order mark.

    Line ends are kept, but for the lone carriage return of old Macs, which becomes a
    newline: rows and columns stay the same.

    Raises:
        DecodeError: the encoding is not known, or the bytes are not in it.
    """
    marked = data.startswith(codecs.BOM_UTF8)
    data = data.removeprefix(codecs.BOM_UTF8)
    cookie = COOKIE.match(data)
    encoding = cookie[1].decode("ascii", "replace") if cookie and not marked else "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise DecodeError(f"line {row} is not {encoding}: byte 0x{data[error.start]:02x}") from None
    except (LookupError, ValueError):
        raise DecodeError(f"unknown encoding {encoding}") from None
    return LONE_CARRIAGE_RETURN.sub("\n", text) if "\r" in text else text
