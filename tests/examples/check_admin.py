#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_admin.py HODO SERVER COMPARE: the server is traced through its admin port, killed, and recovered."""
import glob
import json
import os
import socket
import subprocess
import sys
import tempfile

hodo, program, compare = sys.argv[1:4]
LIMIT_S = 120


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
    subprocess.run([hodo, "recover", "-q", "-o", out, *paths], check=True, timeout=LIMIT_S)
    subprocess.run([sys.executable, compare, hodo, out], check=True, timeout=LIMIT_S)
    text = subprocess.run([hodo, "print", "--json", out], capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def check(directory):
    env = {k: v for k, v in os.environ.items() if not k.startswith("HODO_")}
    server = subprocess.Popen([program, directory], stdout=subprocess.PIPE, text=True, env=env)
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
