#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_example_admin.py HODO SERVER COMPARE: the server is traced through its admin port, killed, and recovered."""
import glob
import os
import socket
import subprocess
import sys
import tempfile

from hodo_test import LIMIT_S, compare, environment, events, hodo

program = sys.argv[2]


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S)
        self.file = self.socket.makefile("rw", encoding="utf-8", newline="\n")

    def ask(self, line):
        self.file.write(line + "\n")
        self.file.flush()
        return self.file.readline().rstrip("\n")


def recovered(directory, *paths):
    out = f"{directory}/trace"
    hodo("recover", "-q", "-o", out, *paths, status=0)
    compare(out)
    return events(out)


def check(directory):
    server = subprocess.Popen([program, directory], stdout=subprocess.PIPE, text=True, env=environment())
    try:
        ports = dict(server.stdout.readline().split() for _ in range(2))
        service, admin = Client(int(ports["service"])), Client(int(ports["admin"]))
        assert service.ask("get before") == admin_hash("before")
        assert admin.ask("trace stat").startswith("error ")
        assert admin.ask("trace stop").startswith("error ")
        assert admin.ask("trace start a b").startswith("error Invalid")
        assert admin.ask("trace start") == "ok 0"
        assert admin.ask("trace start").startswith("error ")
        for i in range(100):
            assert service.ask(f"get key{i}") == admin_hash(f"key{i}")
        assert admin.ask("trace stat") == "ok 300"
        assert admin.ask("trace snapshot a hundred keys") == "ok 1"
        assert admin.ask("trace off server:get") == "ok 2"  # the span's begin and end
        for i in range(10):
            service.ask(f"get late{i}")
        assert admin.ask("trace stat") == "ok 310"
        assert admin.ask("trace on *:*") == "ok 3"
        assert service.ask("trace stop") == "error what?"  # not from the service's port
        assert admin.ask("nonsense") == "error what?"
        service.ask("get last")
        server.kill()
    finally:
        server.kill()
        server.wait()
    flights, snapshots = glob.glob(f"{directory}/*.flight"), glob.glob(f"{directory}/*.snapshot")
    assert len(flights) == 1 and len(snapshots) == 1, os.listdir(directory)
    keys = [e["fields"]["key"] for e in recovered(directory, *flights) if e["name"] == "server:found"]
    assert keys == [f"key{i}" for i in range(100)] + [f"late{i}" for i in range(10)] + ["last"], keys
    assert len(recovered(directory, *snapshots)) == 300


def admin_hash(key):
    value = 0
    for c in key.encode():
        value = (value * 31 + c) & 0xffffffff
    return str(value - (1 << 32) if value >= 1 << 31 else value)


with tempfile.TemporaryDirectory(prefix="hodo-admin-") as d:
    check(d)
