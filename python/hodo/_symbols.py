# SPDX-License-Identifier: MIT
"""Names of functions, by the symbols that a recording has kept (docs/format.md, "Saved symbols")."""
import array
import bisect
import ctypes
import urllib.parse
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import _library as lib
from ._tables import Column, Table


def _taken(append: Callable[[Any], Any]) -> bytes:
    """What that appends to a text of the library's; nothing if it fails."""
    text = lib.read.hodo_read_text_new()
    length = ctypes.c_size_t()
    try:
        if not text or append(text) < 0:
            return b""
        data = lib.read.hodo_read_text_data(text, ctypes.byref(length))
        return ctypes.string_at(data, length.value) if data else b""
    finally:
        lib.read.hodo_read_text_free(text)


def _shown(symbol: bytes) -> bytes:
    """A name as people write it."""
    return _taken(lambda text: lib.read.hodo_read_text_symbol(text, symbol))


class _Functions:
    """The functions of one object, by their addresses in its file."""

    def __init__(self, text: bytes) -> None:
        found = sorted(self._functions(text), key=lambda f: f[0])
        names = {start: name for start, _, name, _ in found}
        self.starts = [start for start, _, _, _ in found]
        self.ends = [start + size if size else found[i + 1][0] if i + 1 < len(found) else start + 1
                     for i, (start, size, _, _) in enumerate(found)]
        self.names = [names.get(whole, name) for _, _, name, whole in found]

    @staticmethod
    def _functions(text: bytes) -> Iterator[Tuple[int, int, bytes, int]]:
        """Start, size, name, and the start of what it is a part of. What is damaged is left out."""
        for line in text.split(b"\n"):
            words = line.split(b" ")
            if words[0] != b"s" or len(words) not in (6, 7):
                continue
            try:
                start, size = int(words[1], 16), int(words[2], 16)
                yield start, size, urllib.parse.unquote_to_bytes(words[5]), int(words[6], 16) if words[6:] else start
            except ValueError:
                continue

    def at(self, address: int) -> Optional[bytes]:
        i = bisect.bisect_right(self.starts, address) - 1
        return self.names[i] if i >= 0 and address < self.ends[i] else None


def _place(o: Any, address: int) -> Optional[bytes]:
    """What hodo's verbs call an address without a symbol: "file+0x2f40", the same in each process; None: in no file."""
    _, slash, file = (o.path or b"").rpartition(b"/")
    return file + b"+" + hex(address - o.base).encode() if slash and address >= o.base else None


class Symbols:
    """The names of a recording's functions; by one thread at a time."""

    def __init__(self) -> None:
        self._files: Dict[Tuple[bytes, bytes], Optional[_Functions]] = {}
        self.unnamed: Dict[str, None] = {}  # files that have functions without a name

    def _functions(self, reader: Any, pointer: Any) -> Optional[_Functions]:
        o = pointer.contents
        key = (o.path or b"", bytes(o.build_id)[:o.build_id_len])
        if key not in self._files:
            saved = _taken(lambda text: lib.read.hodo_read_saved_symbols(reader, pointer, text))
            self._files[key] = _Functions(saved) if saved else None
        return self._files[key]

    def names(self, reader: Any, wanted: Dict[Tuple[int, str], List[int]]) -> Dict[Tuple[int, str, int], bytes]:
        """The names of addresses, by process ID, path of the object, and address: those of files have one."""
        result = {}
        for i in range(lib.read.hodo_read_nprocesses(reader)):
            p = lib.read.hodo_read_process(reader, i).contents
            for k in range(p.nobjects):
                o = p.objects[k]
                path = lib.text_of(o.path)
                for address in wanted.get((p.pid, path), ()):
                    if not o.start <= address < o.end or (p.pid, path, address) in result:
                        continue
                    functions = self._functions(reader, ctypes.pointer(o))
                    name = functions.at(address - o.base) if functions else None
                    shown = _shown(name) if name else _place(o, address)
                    if shown:
                        result[p.pid, path, address] = shown
                        if not name:
                            self.unnamed[path] = None
        return result


def name_calls(table: Table, symbols: Symbols, reader: Any) -> None:
    """Gives a table of calls the column function, and in parent the names of calls."""
    keys = list(zip(table["pid"].tolist(), table["object"].tolist(), table["address"].tolist()))
    wanted: Dict[Tuple[int, str], List[int]] = {}
    for pid, path, address in set(keys):
        wanted.setdefault((pid, path or ""), []).append(address)
    names = symbols.names(reader, wanted)
    texts: Dict[str, int] = {}

    def number(text: str) -> int:
        return texts.setdefault(text, len(texts))

    known = {key: number(lib.text_of(names[key]) if key in names else hex(key[2])) for key in set(keys)}
    functions = array.array("I", (known[key] for key in keys))
    of_call = dict(zip(table["id"].tolist(), functions))
    parents = [of_call.get(parent_id) if parent_id is not None and span is None else None if span is None else
               number(span) for parent_id, span in zip(table["parent_id"].tolist(), table["parent"].tolist())]
    every = list(texts)
    columns = {}
    for name, column in table.columns.items():
        if name == "address":
            columns["function"] = Column._of_texts("function", functions, every, ())
        columns[name] = column
    columns["parent"] = Column._of_texts("parent", array.array("I", (p or 0 for p in parents)), every,
                                         [p is not None for p in parents])
    table.columns = columns


def inside_calls(table: Table) -> bool:
    """Whether some spans are inside of calls, whose names are not known yet."""
    return table["parent"].nulls > table["parent_id"].nulls


def name_parents(table: Table, calls: Table) -> None:
    """Gives parent of a table of spans the names of calls."""
    of_call = dict(zip(calls["id"].tolist(), calls["function"].tolist()))
    parents = [of_call.get(parent_id) if span is None else span
               for parent_id, span in zip(table["parent_id"].tolist(), table["parent"].tolist())]
    texts: Dict[str, int] = {}
    numbers = array.array("I", (0 if p is None else texts.setdefault(p, len(texts)) for p in parents))
    table.columns["parent"] = Column._of_texts("parent", numbers, list(texts), [p is not None for p in parents])
