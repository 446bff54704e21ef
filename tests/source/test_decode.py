"""Bytes are read as Python reads them."""

from __future__ import annotations

import io
import tokenize

import pytest

from jaxlint.source.decode import DecodeError, decode

READABLE = {
    "plain": b"x = 1\n",
    "utf-8": "x = 'é'\n".encode(),
    "empty": b"",
    "cookie": "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"),
    "cookie-of-vim": "# vim: set fileencoding=cp1252 :\nx = '€'\n".encode("cp1252"),
    "cookie-of-emacs": "# -*- coding: utf-8-unix -*-\nx = 'é'\n".encode(),
    "cookie-on-line-1-and-2": "# coding: utf-8\n# coding: latin-1\nx = 'é'\n".encode(),
    "cookie-on-line-2": "#!/usr/bin/python\n# coding: latin-1\nx = 'é'\n".encode("latin-1"),
    "cookie-after-blank-line": "\n# coding: latin-1\nx = 'é'\n".encode("latin-1"),
    "cookie-after-code": "x = 1\n# coding: latin-1\ny = 'é'\n".encode(),
    "cookie-on-line-3": "#\n#\n# coding: latin-1\nx = 'é'\n".encode(),
    "mark": b"\xef\xbb\xbfx = 1\n",
    "form-feed": b"\x0c\n# coding: utf-8\nx = 1\n",
}


@pytest.mark.parametrize("data", READABLE.values(), ids=READABLE)
def test_text_is_what_python_reads(data: bytes) -> None:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    assert decode(data) == data.decode(encoding)


def test_line_ends_are_kept_but_for_lone_carriage_returns() -> None:
    assert decode(b"a\r\nb\nc\rd\r\r\n") == "a\r\nb\nc\nd\n\r\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x = 1\ny = '\xff'\n", "line 2 is not utf-8: byte 0xff"),
        (b"# coding: nonsense\nx = 1\n", "unknown encoding nonsense"),
        (b"# coding: rot13\nx = 1\n", "unknown encoding rot13"),
        (b"# coding: ascii\nx = '\xc3\xa9'\n", "line 2 is not ascii: byte 0xc3"),
        ("x = 1\n".encode("utf-16"), "line 1 is not utf-8: byte 0xff"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(data: bytes, message: str) -> None:
    with pytest.raises(DecodeError) as raised:
        decode(data)
    assert str(raised.value) == message
