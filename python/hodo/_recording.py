# SPDX-License-Identifier: MIT
"""A recording: what it says of itself, and what is read of it."""
import contextlib
import ctypes
import dataclasses
import datetime
import errno as errors
import operator
import os
import sys
import threading
import warnings
from typing import Any, Dict, FrozenSet, Iterator, List, Optional, Sequence, Tuple, Union

from . import _library as lib
from ._errors import ClosedError, OpenError, ReadError, RecordingWarning, SelectionError, failed
from ._library import text_of
from ._symbols import Symbols, inside_calls, name_calls, name_parents
from ._tables import Chunk, Column, Event, Table

#: When: an int is ns since the epoch; a float is seconds from the recording's begin; a datetime is a time of day.
Time = Union[int, float, datetime.datetime]

_EVENTS, _SPANS, _CALLS = range(3)
_EVENT_ROWS = 4096  # of a batch that is iterated over: the first event comes soon
_OWN = (os.path.dirname(os.path.abspath(__file__)) + os.sep, contextlib.__file__)  # where frames are not the caller's
_HEAD = ("ts", "host", "process", "pid", "thread", "tid", "cpu")


@dataclasses.dataclass(frozen=True)
class EventClass:
    """What all events of one name of one process have in common."""

    process: str
    pid: int
    name: str
    kind: str               #: "event", "mark", "span_begin", "counter" …
    fields: Dict[str, str]  #: types by name
    file: str
    line: int


@dataclasses.dataclass(frozen=True)
class Process:
    """One process that was recorded, or the kernel."""

    ts: int                #: begin of its first packet, ns since the epoch; 0: there is none
    host: Optional[str]    #: None: not known
    process: str           #: its name
    pid: int
    ppid: int
    uid: int
    exe: str
    kernel: Optional[str]  #: the kernel's release, if this is the kernel
    recording: str         #: the recording's path
    folder: str            #: in there
    uuid: str              #: 32 hexadecimal digits
    end_ns: int
    complete: bool         #: its recording ended in an orderly way
    events: int            #: as the packets' headers say, and a file that is cut short still has
    lost: int              #: events that happened and are not in the recording


@dataclasses.dataclass(frozen=True)
class Loss:
    """Where events are missing."""

    ts: int           #: not before, ns since the epoch
    host: Optional[str]
    process: str
    pid: int
    cpu: int          #: -1: of the fallback ring
    end_ns: int       #: not after
    discarded: int
    overwritten: int
    damaged: int


class _Reader:
    """The library's reader; by one thread at a time. Closed once, by whoever owns it."""

    def __init__(self, path: str) -> None:
        self.said: List[str] = []
        self.pointer = ctypes.c_void_p()
        self._warn = lib.WARN(lambda _, text: self.said.append(text_of(text)))  # lives as long as the reader
        error = ctypes.create_string_buffer(lib.ERROR_BYTES)
        options = lib.sized(lib.Options, warn=self._warn, error=ctypes.cast(error, ctypes.c_char_p),
                            error_bytes=len(error))
        result = lib.read.hodo_read_open(ctypes.byref(self.pointer), os.fsencode(path), ctypes.byref(options))
        if result < 0:
            raise failed(OpenError, result, text_of(error.value))

    def close(self) -> None:
        pointer, self.pointer = self.pointer, ctypes.c_void_p()
        lib.read.hodo_read_close(pointer)

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self.close()


def _encoded(value: Union[str, int, None], what: str) -> Optional[bytes]:
    if value is None:
        return None
    result = str(value).encode("utf-8", "surrogateescape")
    if b"\0" in result:
        raise SelectionError(f"{what}: has a NUL in it", errors.EINVAL)
    return result


@dataclasses.dataclass(frozen=True)
class _Selection:
    events: Union[str, Sequence[str], None]
    filter: Optional[str]
    process: Union[str, int, None]
    thread: Union[str, int, None]
    host: Optional[str]
    since: Optional[Time]
    until: Optional[Time]

    def apply(self, reader: _Reader, begin_ns: int) -> None:
        """Has the reader give what is selected."""
        names = self.events if self.events is None or isinstance(self.events, str) else ",".join(self.events)
        selection = lib.sized(lib.Selection, events=_encoded(names, "events"), filter=_encoded(self.filter, "filter"),
                              process=_encoded(self.process, "process"), thread=_encoded(self.thread, "thread"),
                              host=_encoded(self.host, "host"))
        error = ctypes.create_string_buffer(lib.ERROR_BYTES)
        since = _nanoseconds(self.since, begin_ns, lib.LIMIT_MIN, "since")
        until = _nanoseconds(self.until, begin_ns, lib.LIMIT_MAX, "until")
        lib.read.hodo_read_limit(reader.pointer, since, until)
        result = lib.read.hodo_read_select(reader.pointer, ctypes.byref(selection), False, error, len(error))
        if result < 0:
            raise failed(SelectionError if result != -errors.ENOMEM else ReadError, result, text_of(error.value))


def _callers_level() -> int:
    """The stacklevel, for warnings.warn() in the function that calls this, of the line that used the module."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN):
        frame, level = frame.f_back, level + 1
    return level


def _nanoseconds(when: Optional[Time], begin_ns: int, default: int, what: str) -> int:
    if when is None:
        return default
    if isinstance(when, datetime.datetime):
        delta = when.astimezone(datetime.timezone.utc) - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        result = ((delta.days * 86400 + delta.seconds) * 1000000 + delta.microseconds) * 1000
    elif isinstance(when, float):
        if when != when or abs(when) > 1e10:
            raise SelectionError(f"{when}: is no time", errors.EINVAL)
        result = begin_ns + round(when * 1e9)
    else:
        try:
            result = operator.index(when)
        except TypeError:
            raise TypeError(f"{what}: {when!r}: takes ns since the epoch (int), seconds from the recording's begin "
                            "(float) or a datetime.datetime") from None
    return max(lib.LIMIT_MIN, min(result, lib.LIMIT_MAX))


class Recording:
    """A recording that is open: `with hodo.open("hodo.data") as recording: …`

    Several threads may use a recording at once; each iterator that it gives is to be used by one thread at a time.
    Reading and counting release Python's lock. After close() everything that would read raises ClosedError."""

    def __init__(self, path: "Union[str, os.PathLike[str]]") -> None:
        given = os.fsdecode(path)
        if "\0" in given:
            raise OpenError(f"{given!r}: has a NUL in it", errors.EINVAL)
        self.path = os.path.abspath(given)
        self._lock = threading.Lock()  # of the reader, and of what has been said
        self._said: Dict[str, bool] = {}
        self._closed = False
        self._reader = _Reader(self.path)
        self._scanned = False
        self._symbols = Symbols()
        self._floats: Optional[Dict[str, FrozenSet[str]]] = None
        #: When the recording begins, in ns since the epoch; 0: it has no packets.
        self.begin_ns: int = lib.read.hodo_read_begin_ns(self._reader.pointer)
        self._tell(self._reader)

    # ---------------------------------------------------------------- open and closed

    def close(self) -> None:
        """Ends the use of the recording; again does no harm."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._reader.close()

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<hodo.Recording {self.path}{' (closed)' if self._closed else ''}>"

    def _check(self) -> None:
        if self._closed:
            raise ClosedError(f"{self.path}: the recording has been closed", errors.EBADF)

    @contextlib.contextmanager
    def _own(self) -> Iterator[_Reader]:
        """The reader of what the recording says of itself, by this thread alone."""
        with self._lock:
            self._check()
            yield self._reader
        self._tell(self._reader)

    def _tell(self, reader: _Reader) -> None:
        """Passes on what the library warned of: each once."""
        while reader.said:
            text = reader.said.pop(0)
            if text not in self._said:
                self._said[text] = True
                warnings.warn(text, RecordingWarning, stacklevel=_callers_level())

    @property
    def warnings(self) -> List[str]:
        """What is damaged or foreign in the recording, as far as it has been read; names of events, fields and hosts
        that were asked for and that it does not have; files whose functions have no names."""
        return list(self._said)

    # ------------------------------------------------------------------- what it says

    def _each_process(self, reader: _Reader) -> "Iterator[Any]":
        for i in range(lib.read.hodo_read_nprocesses(reader.pointer)):
            yield lib.read.hodo_read_process(reader.pointer, i)

    def _scan(self, reader: _Reader) -> None:
        if not self._scanned:
            result = lib.read.hodo_read_scan(reader.pointer)
            if result < 0:
                raise failed(ReadError, result)
            self._scanned = True

    @property
    def processes(self) -> List[Process]:
        """The processes, and the kernel, that were recorded."""
        result = []
        with self._own() as reader:
            self._scan(reader)
            for pointer in self._each_process(reader):
                p = pointer.contents
                streams = [p.streams[i].contents for i in range(p.nstreams)]
                lost = lib.read.hodo_read_lost(reader.pointer, ctypes.cast(pointer, ctypes.c_void_p))
                begins = [s.begin_ns for s in streams if s.packets]
                ends = [s.end_ns for s in streams if s.packets]
                result.append(Process(
                    ts=min(begins) if begins else p.end_ns if p.complete else 0, host=text_of(p.hostname) or None,
                    process=text_of(p.comm), pid=p.pid, ppid=p.ppid, uid=p.uid, exe=text_of(p.exe),
                    kernel=text_of(p.kernel) if p.kernel is not None else None, recording=self.path,
                    folder=text_of(p.folder), uuid=bytes(p.uuid).hex(),
                    end_ns=p.end_ns if p.complete else max(ends) if ends else 0, complete=bool(p.complete),
                    events=sum(s.events - s.damaged for s in streams),
                    lost=sum(getattr(lost, name) for name, _ in lib.Lost._fields_)))
        return result

    @property
    def classes(self) -> List[EventClass]:
        """The events that were recorded, or could have been: what columns there can be."""
        result = []
        with self._own() as reader:
            for pointer in self._each_process(reader):
                p = pointer.contents
                for i in range(p.nclasses):
                    c = p.classes[i].contents
                    fields = {text_of(f.name): lib.type_name(f.type) for f in (c.fields[k] for k in range(c.nfields))}
                    result.append(EventClass(text_of(p.comm), p.pid, text_of(c.name),
                                             lib.read.hodo_read_kind_name(c.kind).decode(), fields, text_of(c.file),
                                             c.line))
        return result

    def _float_fields(self) -> Dict[str, FrozenSet[str]]:
        """By the names of events their fields that are floating point numbers, or arrays of these, in all processes."""
        if self._floats is None:
            found: Dict[str, Dict[str, bool]] = {}
            for c in self.classes:
                for name, kind in c.fields.items():
                    fields = found.setdefault(c.name, {})
                    fields[name] = fields.get(name, True) and kind.startswith("f")
            self._floats = {name: frozenset(f for f, is_float in fields.items() if is_float)
                            for name, fields in found.items()}
        return self._floats

    @property
    def lost(self) -> Dict[str, int]:
        """How many events happened and are not in the recording, by cause."""
        with self._own() as reader:
            self._scan(reader)
            lost = lib.read.hodo_read_lost(reader.pointer, None)
        return {name: getattr(lost, name) for name, _ in lib.Lost._fields_}

    def losses(self) -> List[Loss]:
        """Where events are missing; of all of the recording, which is read for this."""
        result: List[Loss] = []

        def found(_: object, pointer: Any) -> int:
            loss = pointer.contents
            p = loss.process.contents
            result.append(Loss(ts=loss.from_ns, host=text_of(p.hostname) or None, process=text_of(p.comm), pid=p.pid,
                               cpu=loss.stream.contents.cpu, end_ns=loss.until_ns, discarded=loss.discarded,
                               overwritten=loss.overwritten, damaged=loss.damaged))
            return 0

        with self._own() as reader:
            status = lib.read.hodo_read_losses(reader.pointer, lib.FOUND_LOSS(found), None)
            if status < 0:
                raise failed(ReadError, status)
        return result

    # ------------------------------------------------------------------------ reading

    def events(self, events: Union[str, Sequence[str], None] = None, *, filter: Optional[str] = None,
               process: Union[str, int, None] = None, thread: Union[str, int, None] = None, host: Optional[str] = None,
               since: Optional[Time] = None, until: Optional[Time] = None) -> Iterator[Event]:
        """The events in order of time, one after the other: `for event in recording.events("kv:*"): …`

        events: patterns, as a list or with commas: "kv:*,!kv:put". filter: an expression, see hodo-filter(7).
        process, thread: a number, or a glob for the name. host: a glob for its name, in a recording that
        `hodo merge` made. since, until: from and before when, see Time."""
        selection = _Selection(events, filter, process, thread, host, since, until)
        floats = self._float_fields()
        none: FrozenSet[str] = frozenset()
        for table, written in self._batches(_EVENTS, selection, [*_HEAD, "name"], _EVENT_ROWS, True):
            heads: List[List[Any]] = [column.tolist() for column in table.columns.values()]
            for head in zip(zip(*heads), written):
                self._check()
                yield Event(*head, floats.get(head[0][-1], none))

    def batches(self, events: Union[str, Sequence[str], None] = None, columns: Optional[Sequence[str]] = None, *,
                filter: Optional[str] = None, process: Union[str, int, None] = None,
                thread: Union[str, int, None] = None, host: Optional[str] = None, since: Optional[Time] = None,
                until: Optional[Time] = None, rows: int = 0) -> Iterator[Table]:
        """As table(), some ten thousand rows at a time (rows: how many at the most): for recordings that are larger
        than memory."""
        selection = _Selection(events, filter, process, thread, host, since, until)
        for table, _ in self._batches(_EVENTS, selection, columns, rows, False):
            yield table

    def table(self, events: Union[str, Sequence[str], None] = None, columns: Optional[Sequence[str]] = None, *,
              filter: Optional[str] = None, process: Union[str, int, None] = None,
              thread: Union[str, int, None] = None, host: Optional[str] = None, since: Optional[Time] = None,
              until: Optional[Time] = None) -> Table:
        """The events as a table, selected as by events(): its columns are ts, host, process, pid, thread, tid, cpu;
        text, if there are marks among them; name; and one for each field that they have.

        columns: those that are wanted; reading is the faster the fewer they are."""
        return self._table(_EVENTS, _Selection(events, filter, process, thread, host, since, until), columns)

    def spans(self, events: Union[str, Sequence[str], None] = None, columns: Optional[Sequence[str]] = None, *,
              filter: Optional[str] = None, process: Union[str, int, None] = None,
              thread: Union[str, int, None] = None, host: Optional[str] = None, since: Optional[Time] = None,
              until: Optional[Time] = None) -> Table:
        """Spans, pairs of begin and end, and system calls as a table, a row for each, in the order in which they end:
        ts (when it began), host, process, pid, thread, tid, cpu, name, kind, state, end_ns, duration_ns, self_ns,
        off_cpu_ns, depth, id, parent_id, parent (the name of the span or call that it is inside of), end_tid, and a
        column for each field of their begins.

        Selected as by events(), by the event that ends them: `filter="$duration > 1ms"`. Where spans are inside of
        calls, names of these take some time: name the columns if you can do without parent."""
        selection = _Selection(events, filter, process, thread, host, since, until)
        names = [columns] if isinstance(columns, str) else columns
        if names is not None and "parent" not in names:
            return self._table(_SPANS, selection, names)
        table = self._table(_SPANS, selection, None if names is None else [*names, "parent_id"])
        if inside_calls(table):
            name_parents(table, self.calls(["id", "function"], host=host, since=since, until=until))
        if names is not None:
            table.columns = {name: table[name] for name in names}
        return table

    def calls(self, columns: Optional[Sequence[str]] = None, *, process: Union[str, int, None] = None,
              thread: Union[str, int, None] = None, host: Optional[str] = None, since: Optional[Time] = None,
              until: Optional[Time] = None) -> Table:
        """Calls of functions as a table, a row for each, in the order in which they end: ts (when it was entered),
        host, process, pid, thread, tid, cpu, function (its name, by the symbols that the recording has kept; else
        its file and address in it, "shop+0x2f40"; else the address), address, object (the file that it is
        in), state, end_ns, duration_ns, self_ns, depth, id, parent_id, parent (the name of the call or span that it is
        inside of).

        Names take some time: name the columns if you can do without function and parent."""
        selection = _Selection(None, None, process, thread, host, since, until)
        if columns is not None and not {"function", "parent"} & set([columns] if isinstance(columns, str) else columns):
            return self._table(_CALLS, selection, columns)
        table = self._table(_CALLS, selection, None)
        with self._own() as reader:
            name_calls(table, self._symbols, reader.pointer)
            reader.said += (f"{path}: functions are shown by address: the recording has not kept their symbols; 'hodo "
                            "query' also asks the symbol store" for path in self._symbols.unnamed)
        if columns is not None:
            table.columns = {name: table[name] for name in ([columns] if isinstance(columns, str) else columns)}
        return table

    def _table(self, kind: int, selection: _Selection, columns: Optional[Sequence[str]]) -> Table:
        result: Optional[Table] = None
        for batch, _ in self._batches(kind, selection, columns, 0, False, empty=True):
            if result is None:
                result = batch
                continue
            for column, more in zip(result.columns.values(), batch.columns.values()):
                for chunk in more._chunks:
                    column._add(chunk, 0)
                column.nulls += more.nulls
            result._rows += len(batch)
        assert result is not None
        return result

    def _batches(self, kind: int, selection: _Selection, columns: Optional[Sequence[str]], rows: int, json: bool,
                 empty: bool = False) -> Iterator[Tuple[Table, List[Any]]]:
        """Tables of some rows each, and what the events are as JSON. empty: also one without rows, if there is none.
        Each has a reader of its own, so that nothing else that reads this recording is in its way."""
        self._check()
        reader = _Reader(self.path)
        pointer = ctypes.c_void_p()
        try:
            selection.apply(reader, self.begin_ns)
            if json and lib.read.hodo_read_spans(reader.pointer) < 0:  # so that ends say how long it took
                raise failed(ReadError, -errors.ENOMEM)
            pointer = _open_columns(reader, kind, columns, rows, json)
            texts: List[str] = []
            batch = ctypes.POINTER(lib.Batch)()
            got = 1
            while got > 0:
                self._check()
                got = lib.read.hodo_read_columns_next(pointer, ctypes.byref(batch))
                self._tell(reader)
                if got < 0:
                    raise failed(ReadError, got)
                if got > 0 or empty:
                    found = batch.contents if got > 0 else lib.read.hodo_read_columns_schema(pointer).contents
                    _learn_texts(pointer, texts)
                    yield _taken(found, texts), _taken_json(found) if json and got > 0 else []
                    empty = False
        finally:
            lib.read.hodo_read_columns_free(pointer)
            reader.close()


def _open_columns(reader: _Reader, kind: int, columns: Optional[Sequence[str]], rows: int, json: bool) -> Any:
    """The library's columns."""
    if isinstance(columns, str):
        columns = [columns]
    pointer = ctypes.c_void_p()
    error = ctypes.create_string_buffer(lib.ERROR_BYTES)
    options = lib.sized(lib.ColumnsOptions, table=kind, rows=rows, json=json, error_bytes=len(error),
                        error=ctypes.cast(error, ctypes.c_char_p))
    if columns is not None:
        names = (ctypes.c_char_p * max(len(columns), 1))(*(_encoded(name, "columns") for name in columns))
        options.names, options.nnames = names, len(columns)
    result = lib.read.hodo_read_columns_new(ctypes.byref(pointer), reader.pointer, ctypes.byref(options))
    if result < 0:
        raise failed(SelectionError if result != -errors.ENOMEM else ReadError, result, text_of(error.value))
    return pointer


def _learn_texts(pointer: Any, texts: List[str]) -> None:
    """Adds what dictionaries have more than before. All columns share the list."""
    while True:
        text = lib.read.hodo_read_columns_text(pointer, len(texts))
        if text is None:
            return
        texts.append(text.decode())


def _taken_chunk(column: Any, rows: int) -> Chunk:
    """A copy of a column's values: the library's live until the next batch."""
    if not rows:
        return Chunk(0, b"", b"\0\0\0\0" if column.type >= lib.STR and not column.dictionary else None, None)
    offsets = ctypes.string_at(column.offsets, 4 * (rows + 1)) if column.offsets else None
    n = rows if offsets is None else int.from_bytes(offsets[-4:], "little")
    return Chunk(rows, ctypes.string_at(column.values, n * column.bytes) if n else b"", offsets,
                 ctypes.string_at(column.valid, (rows + 7) // 8) if column.valid else None)


def _taken(batch: Any, texts: List[str]) -> Table:
    columns = []
    for i in range(batch.ncolumns):
        c = batch.columns[i].contents
        column = Column(c.name.decode(), c.type, c.dictionary, texts)
        column._add(_taken_chunk(c, batch.rows), c.nulls if batch.rows else 0)
        columns.append(column)
    return Table(columns, batch.rows)


def _taken_json(batch: Any) -> List[Any]:
    c = batch.json.contents
    column = Column("json", c.type, False, [])
    column._add(_taken_chunk(c, batch.rows), 0)
    return column.tolist()
