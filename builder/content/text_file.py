"""Text files as authors write them: UTF-8, whatever the line ends."""

from __future__ import annotations

import errno
import re
from pathlib import Path

from builder.errors import Diagnostic, Diagnostics


def read_regular(path: Path) -> bytes:
    """Read a file.

    Raises
    ------
    OSError
        If that is not possible, or if it is no regular file: a pipe can keep a build waiting
        for ever.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "this is not a regular file", str(path))
    return path.read_bytes()


def read_text(path: Path, shown: str, diagnostics: Diagnostics) -> str | None:
    """Read a UTF-8 text file; report what is wrong with it and return None if that fails."""
    try:
        text = read_regular(path).decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except FileNotFoundError:
        diagnostics.add(Diagnostic(shown, 0, 0, "missing-file", "this file does not exist"))
    except OSError as error:
        diagnostics.add(Diagnostic(shown, 0, 0, "unreadable-file", str(error.strerror)))
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        message = f"byte {error.object[error.start]:#04x} is not UTF-8 text"
        diagnostics.add(Diagnostic(shown, line, 0, "not-utf8", message, "save the file as UTF-8"))
    else:
        control = re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text)
        if control is None:
            return text
        line = text.count("\n", 0, control.start()) + 1
        message = f"character {ord(control[0]):#04x} is no text"
        hint = "delete it, or save the file as UTF-8"
        diagnostics.add(Diagnostic(shown, line, 0, "control-character", message, hint))
    return None
