# SPDX-License-Identifier: MIT
"""libhodo-read, as <hodo/read.h> and <hodo/columns.h> declare it: found, loaded, and its structs.

Nothing here is for users. Structs have the members that this package reads; later versions of the library may add
more at their ends.
"""
import ctypes
import os
import pathlib
from ctypes import POINTER, Structure, c_bool, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint8
from ctypes import c_uint32, c_uint64, c_void_p
from typing import Any, Iterator, List, Optional, Tuple, Type

SONAME = "libhodo-read.so.0"
ERROR_BYTES = 1024
WARN = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)


def _members(**types: Any) -> List[Tuple[str, Any]]:
    return list(types.items())


class Options(Structure):
    _fields_ = _members(size=c_size_t, warn=WARN, data=c_void_p, error=c_char_p, error_bytes=c_size_t)


class Lost(Structure):
    _fields_ = _members(full=c_uint64, too_large=c_uint64, busy=c_uint64, overwritten=c_uint64, unwritten=c_uint64,
                        unknown=c_uint64, damaged=c_uint64)


class Labels(Structure):
    _fields_ = _members(n=c_uint32, values=POINTER(c_int64), names=POINTER(c_char_p))


class Field(Structure):
    _fields_ = _members(name=c_char_p, type=c_uint32, labels=POINTER(Labels))


class Class(Structure):
    _fields_ = _members(size=c_size_t, id=c_uint32, kind=c_uint32, name=c_char_p, format=c_char_p, file=c_char_p,
                        func=c_char_p, object=c_char_p, line=c_uint32, nfields=c_uint32, fields=POINTER(Field))


class Stream(Structure):
    _fields_ = _members(size=c_size_t, name=c_char_p, cpu=c_int32, bytes=c_uint64, packets=c_uint64, events=c_uint64,
                        damaged=c_uint64, begin_ns=c_int64, end_ns=c_int64, lost=Lost, room=c_uint64)


class Clock(Structure):
    _fields_ = _members(kind=c_uint32, freq_hz=c_uint64, offset_s=c_int64, offset_ticks=c_int64)


class Object(Structure):
    _fields_ = _members(size=c_size_t, path=c_char_p, base=c_uint64, start=c_uint64, end=c_uint64, from_ns=c_int64,
                        until_ns=c_int64, functions=c_uint32, build_id_len=c_uint32, build_id=c_uint8 * 32)


class Process(Structure):
    _fields_ = _members(size=c_size_t, folder=c_char_p, pid=c_uint32, ppid=c_uint32, uid=c_uint32, start=c_uint32,
                        comm=c_char_p, exe=c_char_p, mode=c_uint32, complete=c_bool, end_ns=c_int64,
                        ring_bytes=c_uint64, packet_bytes=c_uint64, uuid=c_uint8 * 16, clock=Clock,
                        nclasses=c_uint32, nthreads=c_uint32, nstreams=c_uint32, nwarnings=c_uint32,
                        classes=POINTER(POINTER(Class)), threads=c_void_p, streams=POINTER(POINTER(Stream)),
                        warnings=POINTER(c_char_p), bytes=c_uint64, nobjects=c_uint32, objects=POINTER(Object),
                        snapshot_why=c_char_p, snapshot_number=c_uint32, snapshot_ns=c_int64, kernel=c_char_p,
                        owner=c_uint32, nested=c_bool, hostname=c_char_p)


class Loss(Structure):
    _fields_ = _members(size=c_size_t, process=POINTER(Process), stream=POINTER(Stream), from_ns=c_int64,
                        until_ns=c_int64, discarded=c_uint64, overwritten=c_uint64, damaged=c_uint64)


class Selection(Structure):
    _fields_ = _members(size=c_size_t, events=c_char_p, process=c_char_p, thread=c_char_p, filter=c_char_p,
                        host=c_char_p)


class Column(Structure):
    _fields_ = _members(size=c_size_t, name=c_char_p, type=c_uint32, bytes=c_uint32, dictionary=c_bool, label=c_bool,
                        nulls=c_uint32, valid=c_void_p, values=c_void_p, offsets=c_void_p)


class Batch(Structure):
    _fields_ = _members(size=c_size_t, rows=c_uint32, ncolumns=c_uint32, columns=POINTER(POINTER(Column)),
                        json=POINTER(Column))


class ColumnsOptions(Structure):
    _fields_ = _members(size=c_size_t, table=c_int, names=POINTER(c_char_p), nnames=c_uint32, rows=c_uint32,
                        json=c_bool, error=c_char_p, error_bytes=c_size_t)


FOUND_LOSS = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Loss))
LIMIT_MIN, LIMIT_MAX = -(1 << 63), (1 << 63) - 1

_FUNCTIONS = {
    "hodo_read_open": (c_int, POINTER(c_void_p), c_char_p, POINTER(Options)),
    "hodo_read_close": (None, c_void_p),
    "hodo_read_nprocesses": (c_uint32, c_void_p),
    "hodo_read_process": (POINTER(Process), c_void_p, c_uint32),
    "hodo_read_begin_ns": (c_int64, c_void_p),
    "hodo_read_lost": (Lost, c_void_p, c_void_p),
    "hodo_read_scan": (c_int, c_void_p),
    "hodo_read_losses": (c_int, c_void_p, FOUND_LOSS, c_void_p),
    "hodo_read_limit": (None, c_void_p, c_int64, c_int64),
    "hodo_read_spans": (c_int, c_void_p),
    "hodo_read_select": (c_int, c_void_p, POINTER(Selection), c_bool, c_char_p, c_size_t),
    "hodo_read_columns_new": (c_int, POINTER(c_void_p), c_void_p, POINTER(ColumnsOptions)),
    "hodo_read_columns_free": (None, c_void_p),
    "hodo_read_columns_schema": (POINTER(Batch), c_void_p),
    "hodo_read_columns_next": (c_int, c_void_p, POINTER(POINTER(Batch))),
    "hodo_read_columns_text": (c_char_p, c_void_p, c_uint32),
    "hodo_read_saved_symbols": (c_int, c_void_p, POINTER(Object), c_void_p),
    "hodo_read_text_new": (c_void_p,),
    "hodo_read_text_data": (c_void_p, c_void_p, POINTER(c_size_t)),
    "hodo_read_text_symbol": (c_int, c_void_p, c_char_p),
    "hodo_read_text_free": (None, c_void_p),
    "hodo_read_type_name": (c_char_p, c_uint32),
    "hodo_read_kind_name": (c_char_p, c_uint32),
}


def _places() -> Iterator[str]:
    """Where the library may be: as HODO_READ_LIBRARY says; in the prefix of this package; as the loader knows it."""
    named = os.environ.get("HODO_READ_LIBRARY")
    if named:
        yield named
        return
    for parent in list(pathlib.Path(__file__).resolve().parents)[2:4]:  # PREFIX/lib of PREFIX/lib/python3/dist-packages
        yield from sorted(str(file) for pattern in (SONAME, f"*/{SONAME}") for file in parent.glob(pattern))
    yield SONAME


def _load() -> ctypes.CDLL:
    why = ""
    for place in _places():
        try:
            library = ctypes.CDLL(place)
        except OSError as error:
            why = str(error)
            continue
        try:
            for name, (result, *arguments) in _FUNCTIONS.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
        except AttributeError:
            raise ImportError(f"{place} is older than this package: install both of the same version") from None
        return library
    raise ImportError(f"{why}: install libhodo-read, or let HODO_READ_LIBRARY name it")


read = _load()

# ------------------------------------------------------------------------ types

ARRAY = 0x40
STR, BYTES, BOOL, PTR = 14, 15, 9, 13
# Letters as of the modules array and struct, by enum hodo_type. BOOL is a byte.
LETTERS = {1: "b", 2: "B", 3: "h", 4: "H", 5: "i", 6: "I", 7: "q", 8: "Q", 9: "B", 10: "b", 11: "f", 12: "d",
           13: "Q", 15: "B"}


def type_name(kind: int) -> str:
    """"i32", "str", "u8[]" …"""
    return str(read.hodo_read_type_name(kind).decode())


def text_of(value: Optional[bytes]) -> str:
    """A byte that is not UTF-8 becomes the character of that number, as everywhere."""
    if value is None:
        return ""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "".join(c if not "\udc80" <= c <= "\udcff" else chr(ord(c) - 0xdc00)
                       for c in value.decode("utf-8", "surrogateescape"))


def sized(kind: Type[Structure], **members: object) -> Structure:
    """A struct whose member `size` says how large it is."""
    return kind(size=ctypes.sizeof(kind), **members)
