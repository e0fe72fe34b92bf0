# SPDX-License-Identifier: MIT
"""view_page - takes the file of hodo view apart (docs/design/view.md), without a browser."""
import array
import base64
import json
import pathlib
import re
import struct
import zlib

TYPES = {"u8": "B", "u16": "H", "u32": "I", "i32": "i", "f64": "d"}


def part(html, name):
    """(header, {table: {column: values}}) of one element of the page."""
    packed = re.search(rf'id="{name}">([A-Za-z0-9+/=]*)</script>', html).group(1)
    data = zlib.decompress(base64.b64decode(packed, validate=True))
    magic, version, length = struct.unpack_from("<8sII", data)
    assert (magic, version) == (b"HODOVIEW", 1)
    header = json.loads(data[16:16 + length])
    base = (16 + length + 7) // 8 * 8
    tables = {}
    for table, about in header["tables"].items():
        tables[table] = {}
        for column, c in about["columns"].items():
            n, kind = c.get("n", about["n"]), TYPES[c["type"]]
            assert (base + c["at"]) % 8 == 0
            at = base + c["at"]
            tables[table][column] = array.array(kind, data[at:at + n * struct.calcsize(kind)])
            assert len(tables[table][column]) == n
    return header, tables


class Page:
    def __init__(self, path):
        self.html = pathlib.Path(path).read_text(encoding="utf-8")
        self.take("hodo-main", "hodo-text")

    def take(self, main, text):
        self.header, self.tables = part(self.html, main)
        self.text = part(self.html, text)[1]["text"]
        return self

    def rows(self, table):
        columns = self.tables[table]
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def texts(self):
        data = self.text["bytes"].tobytes()
        return [data[at:at + n].decode() for at, n in zip(self.text["at"], self.text["length"])]

    def name(self, row):
        return self.header["strings"][row["name"]]
