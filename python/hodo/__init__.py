# SPDX-License-Identifier: MIT
"""Recordings of Hodoscope: iterated over, filtered, and as tables for numpy, pandas and Arrow.

    import hodo

    with hodo.open("hodo.data") as recording:
        for event in recording.events("kv:get", filter="shard == 3"):
            print(event.ts, event.thread, event.fields["key"])
        table = recording.spans("kv:request").pandas()

This is libhodo-read, by ctypes: nothing is compiled, and Python's own modules suffice. numpy, pandas and pyarrow are
used where their values are asked for. docs/howto/python.md shows it all.
"""
import os
from typing import Union

from ._errors import ClosedError, Error, OpenError, ReadError, RecordingWarning, SelectionError
from ._recording import EventClass, Loss, Process, Recording, Time
from ._tables import Column, Event, Table

__all__ = ["ClosedError", "Column", "Error", "Event", "EventClass", "Loss", "OpenError", "Process", "ReadError",
           "Recording", "RecordingWarning", "SelectionError", "Table", "Time", "open"]


def open(path: "Union[str, os.PathLike[str]]") -> Recording:  # pylint: disable=redefined-builtin
    """Opens a recording: a directory such as hodo.data, the folder of one process in it, or a file of hodo pack."""
    return Recording(path)
