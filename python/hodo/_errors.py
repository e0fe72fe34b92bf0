# SPDX-License-Identifier: MIT
"""What goes wrong, as exceptions: their texts are the library's."""
import os
from typing import Type


class Error(Exception):
    """Something that the library cannot do. str() is its message; errno says which error of the system it is like."""

    __module__ = "hodo"  # as users know it

    def __init__(self, text: str, errno: int = 0) -> None:
        super().__init__(text)
        self.errno = errno


class OpenError(Error):
    """The recording cannot be opened."""

    __module__ = "hodo"


class SelectionError(Error, ValueError):
    """A pattern, a filter, a name of a column or a time that makes no sense. Nothing was read."""

    __module__ = "hodo"


class ReadError(Error):
    """Reading failed in the middle: the disk, or memory."""

    __module__ = "hodo"


class ClosedError(Error, ValueError):
    """The recording, or what was read of it, has been closed."""

    __module__ = "hodo"


class RecordingWarning(UserWarning):
    """Something about a recording that is damaged, or foreign: what can be read is read. Or a name in a selection that
    the recording does not have."""

    __module__ = "hodo"


def failed(kind: Type[Error], result: int, text: str = "") -> Error:
    """The exception for a function's negative errno; text: what the library says."""
    return kind(text or os.strerror(-result), -result)
