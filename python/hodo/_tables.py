# SPDX-License-Identifier: MIT
"""Tables in columns, and what they become: lists, numpy arrays, pandas data frames, tables of Arrow."""
import array
import json
import struct
from typing import Any, Dict, FrozenSet, ItemsView, Iterator, KeysView, List, NamedTuple, Optional, Sequence, Tuple

from . import _library as lib


class Chunk(NamedTuple):
    """A column's values in one batch, as <hodo/columns.h> lays them out."""

    rows: int
    values: bytes
    offsets: Optional[bytes]
    valid: Optional[bytes]


def _bits(valid: bytes, rows: int) -> List[bool]:
    return [bool(valid[i >> 3] >> (i & 7) & 1) for i in range(rows)]


class Column:
    """The values of one column of a table. `name`; `type`, such as "u32", "str", "f64[]"; `nulls`, the number of rows
    without a value; and ways to have the values: `tolist()`, `array()`, `numpy()`, `pandas()`, `arrow()`."""

    def __init__(self, name: str, kind: int, dictionary: bool, texts: Sequence[str]) -> None:
        self.name = name
        self.type = lib.type_name(kind)
        self.nulls = 0
        self._kind = kind
        self._dictionary = dictionary
        self._texts = texts
        self._chunks: List[Chunk] = []
        self._rows = 0

    def _add(self, chunk: Chunk, nulls: int) -> None:
        self._chunks.append(chunk)
        self._rows += chunk.rows
        self.nulls += nulls

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"<hodo.Column {self.name}: {self._rows} of {self.type}>"

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    @staticmethod
    def _of_texts(name: str, numbers: "array.array[int]", texts: Sequence[str], valid: Sequence[bool]) -> "Column":
        """A column of texts that come again and again; valid: empty if all rows have one."""
        column = Column(name, lib.STR, True, texts)
        bits = bytearray((len(valid) + 7) // 8)
        for i, is_valid in enumerate(valid):
            bits[i >> 3] |= is_valid << (i & 7)
        column._add(Chunk(len(numbers), numbers.tobytes(), None, bytes(bits) if valid else None),
                    sum(1 for is_valid in valid if not is_valid))
        return column

    # ---------------------------------------------------------------- Python's own

    def _element(self) -> str:
        return "I" if self._dictionary else lib.LETTERS[self._kind & ~lib.ARRAY]

    def _list_of(self, chunk: Chunk) -> List[Any]:
        if chunk.offsets is not None:
            return self._varying(chunk)
        values = memoryview(chunk.values).cast(self._element()).tolist() if chunk.rows else []
        if self._dictionary:
            texts = self._texts
            return [texts[v] for v in values]
        return [v != 0 for v in values] if self._kind == lib.BOOL else values

    def _varying(self, chunk: Chunk) -> List[Any]:
        assert chunk.offsets is not None
        at = memoryview(chunk.offsets).cast("I").tolist()
        data = chunk.values
        if self._kind == lib.BYTES:
            return [data[a:b] for a, b in zip(at, at[1:])]
        if self._kind == lib.STR:
            text = data.decode()
            if len(text) == len(data):
                return [text[a:b] for a, b in zip(at, at[1:])]
            return [data[a:b].decode() for a, b in zip(at, at[1:])]
        values = memoryview(data).cast(self._element()).tolist() if data else []
        if self._kind == lib.BOOL | lib.ARRAY:
            values = [v != 0 for v in values]
        return [values[a:b] for a, b in zip(at, at[1:])]

    def tolist(self) -> List[Any]:
        """The values as Python's: int, float, bool, str, bytes, lists of these; None where there is no value."""
        result: List[Any] = []
        for chunk in self._chunks:
            values = self._list_of(chunk)
            if chunk.valid is not None:
                values = [v if is_valid else None for v, is_valid in zip(values, _bits(chunk.valid, chunk.rows))]
            result += values
        return result

    def array(self) -> "array.array[Any]":
        """The values as an array of the module array; 0 where there is no value, and valid() says where that is.

        Texts that come again and again (name, process, thread, labels) are stored once: the array has a number for
        each row, and `column.texts()[number]` is the text. The numbers mean something with the texts of this table
        only. `column.tolist()` has the texts themselves."""
        if any(chunk.offsets is not None for chunk in self._chunks):
            raise TypeError(f"{self.name}: values of type {self.type} differ in length: use tolist() or numpy()")
        result = array.array(self._element())
        for chunk in self._chunks:
            result.frombytes(chunk.values)
        return result

    def texts(self) -> Sequence[str]:
        """What the numbers of array() stand for: of columns such as name, process and thread; empty for others."""
        return self._texts if self._dictionary else ()

    def valid(self) -> List[bool]:
        """For each row whether it has a value."""
        return [is_valid for chunk in self._chunks
                for is_valid in (_bits(chunk.valid, chunk.rows) if chunk.valid is not None else [True] * chunk.rows)]

    # ---------------------------------------------------------------------- numpy

    def _numbers(self) -> Any:
        """The values of one size, as numpy has them; where there is none, 0."""
        import numpy as np

        dtype = np.dtype(np.uint32 if self._dictionary else bool if self._kind == lib.BOOL else self._element())
        parts = [np.frombuffer(chunk.values, dtype) for chunk in self._chunks]
        return np.concatenate(parts) if parts else np.empty(0, dtype)

    def _mask(self) -> Any:
        """True where there is no value, as numpy's masks have it."""
        import numpy as np

        mask = np.zeros(self._rows, bool)
        at = 0
        for chunk in self._chunks:
            if chunk.valid is not None:
                bits = np.frombuffer(chunk.valid, np.uint8)
                mask[at:at + chunk.rows] = np.unpackbits(bits, bitorder="little")[:chunk.rows] == 0
            at += chunk.rows
        return mask

    def numpy(self) -> Any:
        """The values as an array of numpy's. Numbers have its type of the same size; rows without one make it a masked
        array. Texts, bytes and arrays are objects, None where there is no value."""
        import numpy as np

        if self._dictionary:
            result = np.array([*self._texts, None], object).take(self._numbers(), mode="clip")
            if self.nulls:
                result[self._mask()] = None
            return result
        if self._kind < lib.STR:
            values, masked = self._numbers(), np.ma  # type: Any, Any
            return masked.array(values, mask=self._mask()) if self.nulls else values
        result = np.empty(self._rows, object)
        result[:] = self.tolist() if self._kind in (lib.STR, lib.BYTES) else None
        if self._kind & lib.ARRAY:
            for i, value in enumerate(self._arrays()):
                result[i] = value
        return result

    def _arrays(self) -> Iterator[Any]:
        """Arrays of numpy's that share one memory; None."""
        import numpy as np

        dtype = np.dtype(bool if self._kind == lib.BOOL | lib.ARRAY else self._element())
        for chunk in self._chunks:
            values = np.frombuffer(chunk.values, dtype)
            assert chunk.offsets is not None
            at = memoryview(chunk.offsets).cast("I").tolist()
            valid = _bits(chunk.valid, chunk.rows) if chunk.valid is not None else None
            for i in range(chunk.rows):
                yield values[at[i]:at[i + 1]] if valid is None or valid[i] else None

    # --------------------------------------------------------------------- pandas

    def pandas(self) -> Any:
        """The values as pandas keeps them: numbers as of numpy, or as its types with missing values; texts that come
        again and again as categories."""
        import numpy as np
        import pandas as pd

        if self._dictionary:
            codes = self._numbers().astype(np.int32)
            if self.nulls:
                codes[self._mask()] = -1
            used = np.bincount(codes[codes >= 0], minlength=len(self._texts)).nonzero()[0]
            number = np.full(len(self._texts) + 1, -1, np.int32)  # the last one is that of -1
            number[used] = np.arange(len(used), dtype=np.int32)
            return pd.Categorical.from_codes(number[codes], [self._texts[i] for i in used])
        if self._kind < lib.STR and self.nulls:
            values, mask = self._numbers(), self._mask()
            if values.dtype.kind == "b":
                return pd.arrays.BooleanArray(values, mask)
            if values.dtype.kind == "f":
                return pd.arrays.FloatingArray(values, mask)
            return pd.arrays.IntegerArray(values, mask)
        return self.numpy()

    # ---------------------------------------------------------------------- Arrow

    def _arrow_type(self, kind: int) -> Any:
        import pyarrow as pa

        if kind & lib.ARRAY:
            return pa.list_(self._arrow_type(kind & ~lib.ARRAY))
        if kind == lib.STR:
            return pa.string()
        if kind == lib.BYTES:
            return pa.binary()
        if kind == lib.BOOL:
            return pa.bool_()
        letter = lib.LETTERS[kind]
        if letter in "fd":
            return pa.float32() if letter == "f" else pa.float64()
        return pa.type_for_alias(("u" if letter.isupper() else "") + f"int{8 * struct.calcsize(letter)}")

    def _arrow_chunk(self, chunk: Chunk) -> Any:
        import pyarrow as pa

        valid = None if chunk.valid is None else pa.py_buffer(chunk.valid)
        values = pa.py_buffer(chunk.values)
        if self._dictionary:
            return pa.Array.from_buffers(pa.int32(), chunk.rows, [valid, values])
        if chunk.offsets is None:
            if self._kind == lib.BOOL:
                return pa.Array.from_buffers(pa.uint8(), chunk.rows, [valid, values]).cast(pa.bool_())
            return pa.Array.from_buffers(self._arrow_type(self._kind), chunk.rows, [valid, values])
        offsets = pa.py_buffer(chunk.offsets)
        if not self._kind & lib.ARRAY:
            return pa.Array.from_buffers(self._arrow_type(self._kind), chunk.rows, [valid, offsets, values])
        element = self._kind & ~lib.ARRAY
        n = len(chunk.values) // struct.calcsize(lib.LETTERS[element])
        stored = pa.uint8() if element == lib.BOOL else self._arrow_type(element)
        inner = pa.Array.from_buffers(stored, n, [None, values])
        if element == lib.BOOL:
            inner = inner.cast(pa.bool_())
        return pa.Array.from_buffers(pa.list_(inner.type), chunk.rows, [valid, offsets], children=[inner])

    def arrow(self) -> Any:
        """The values as a chunked array of pyarrow's, a chunk for each batch. Nothing but bools is copied; texts that
        come again and again are a dictionary."""
        import pyarrow as pa

        parts = [self._arrow_chunk(chunk) for chunk in self._chunks]
        if not self._dictionary:
            return pa.chunked_array(parts, self._arrow_type(self._kind))
        texts = pa.array(list(self._texts), pa.string())
        return pa.chunked_array([pa.DictionaryArray.from_arrays(part, texts) for part in parts],
                                pa.dictionary(pa.int32(), pa.string()))


class Table:
    """Rows of a recording, in columns. `len(table)`: how many rows; `table["ts"]`: a column; `table.columns`: all of
    them by name; `for row in table`: each row, as a dict. What was read stays when the recording is closed."""

    def __init__(self, columns: Sequence[Column], rows: int) -> None:
        self.columns: Dict[str, Column] = {column.name: column for column in columns}
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        names = list(self.columns)
        for row in zip(*(column.tolist() for column in self.columns.values())):
            yield dict(zip(names, row))

    def __repr__(self) -> str:
        return f"<hodo.Table of {self._rows} rows: {', '.join(self.columns)}>"

    def numpy(self) -> Dict[str, Any]:
        """All columns as arrays of numpy's, by name."""
        return {name: column.numpy() for name, column in self.columns.items()}

    def pandas(self) -> Any:
        """A pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame({name: column.pandas() for name, column in self.columns.items()})

    def arrow(self) -> Any:
        """A table of pyarrow's."""
        import pyarrow as pa

        return pa.table({name: column.arrow() for name, column in self.columns.items()})


def _number(value: Any) -> Any:
    """Of a floating point field, what JSON has no number for ("NaN", "Infinity") is a text there."""
    if isinstance(value, list):
        return [_number(v) for v in value]
    return float(value) if isinstance(value, str) else value


class Event:
    """One event. Its fields and the like are taken apart when they are asked for; names and times are fast.

    `event["key"]` is a field, `"key" in event` says whether it has it, `event.get("key")` is None if not, and
    `dict(event)` has them all; `for name in event` goes through their names."""

    __slots__ = ("ts", "host", "process", "pid", "thread", "tid", "cpu", "name", "_json", "_floats", "_object",
                 "_fields")

    ts: int                #: when, in ns since the epoch
    host: Optional[str]    #: of the machine or container that was recorded; None: not known
    process: str           #: its name
    pid: int
    thread: str            #: its name
    tid: int
    cpu: int               #: -1: written through the fallback ring
    name: str              #: "kv:get"

    def __init__(self, head: Tuple[Any, ...], text: str, floats: FrozenSet[str] = frozenset()) -> None:
        self.ts, self.host, self.process, self.pid, self.thread, self.tid, self.cpu, self.name = head
        self._json = text
        self._floats = floats
        self._object: Optional[Dict[str, Any]] = None
        self._fields: Optional[Dict[str, Any]] = None

    @property
    def json(self) -> Dict[str, Any]:
        """All that `hodo print --json` says of the event, but for names of functions."""
        if self._object is None:
            self._object = json.loads(self._json)
        return self._object

    @property
    def fields(self) -> Dict[str, Any]:
        """The fields by name; bytes as hexadecimal digits."""
        if self._fields is None:
            fields: Dict[str, Any] = self.json["fields"]
            if not self._floats.isdisjoint(fields):
                fields = {k: _number(v) if k in self._floats else v for k, v in fields.items()}
            self._fields = fields
        return self._fields

    @property
    def labels(self) -> Dict[str, str]:
        """What values of fields are called, by the fields' names."""
        result: Dict[str, str] = self.json.get("labels", {})
        return result

    @property
    def context(self) -> Dict[str, Any]:
        """What was recorded beside the fields (hodo record --context)."""
        result: Dict[str, Any] = self.json.get("context", {})
        return result

    @property
    def text(self) -> Optional[str]:
        """What a mark says; None: this is none."""
        return self.json.get("text")

    @property
    def duration_ns(self) -> Optional[int]:
        """Of what ends something: how long it took; None: not known, or it ends nothing."""
        return self.json.get("duration_ns")

    def __getitem__(self, field: str) -> Any:
        return self.fields[field]

    def __contains__(self, field: object) -> bool:
        return field in self.fields

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def get(self, field: str, default: Any = None) -> Any:
        """The field, or what is given in its place where there is none."""
        return self.fields.get(field, default)

    def keys(self) -> KeysView[str]:
        """The names of the fields."""
        return self.fields.keys()

    def items(self) -> ItemsView[str, Any]:
        """The fields with their names."""
        return self.fields.items()

    def __repr__(self) -> str:
        return f"<hodo.Event {self._json}>"
