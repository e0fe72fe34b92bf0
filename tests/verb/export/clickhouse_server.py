# SPDX-License-Identifier: MIT
"""clickhouse_server - servers of ClickHouse of a test's own, and what comes between them and a client."""
import contextlib
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import threading
import urllib.error
import urllib.request

from hodo_test import wait_for

PROGRAM = shutil.which("clickhouse-server", path=os.environ["PATH"] + ":/usr/sbin:/usr/bin")
PASSWORD = "g&h'e<i\"m"

CONFIG = """<?xml version="1.0"?>
<yandex>
<logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<max_connections>64</max_connections><mark_cache_size>5368709</mark_cache_size><timezone>UTC</timezone>
<path>{data}/data/</path><tmp_path>{data}/tmp/</tmp_path><users_config>users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<remote_servers><both_s>{shards}</both_s></remote_servers>
</yandex>
"""
USER = ("<{name}><password>{password}</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>"
        "<quota>default</quota></{name}>")
USERS = """<?xml version="1.0"?>
<yandex><profiles><default><max_memory_usage>4000000000</max_memory_usage>
<connect_timeout_with_failover_ms>60000</connect_timeout_with_failover_ms></default></profiles>
<users>{users}</users><quotas><default></default></quotas></yandex>
"""


def free_ports(n):
    """Ports that the kernel gives to nobody: a server that ends and comes back still finds them free."""
    with contextlib.ExitStack() as stack:
        found = []
        while len(found) < n:
            s = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                s.bind(("127.0.0.1", random.randrange(12000, 32000)))
                found.append(s.getsockname()[1])
        return found


class Server:
    """It ends when stop() is called. shards: ports for TCP of the servers of the cluster both_s."""

    def __init__(self, folder, http=0, tcp=0, shards=(), data=None, wait=True):
        self.folder, self.process = pathlib.Path(folder), None
        self.folder.mkdir(parents=True)
        free = free_ports(2)
        self.http, self.tcp = http or free[0], tcp or free[1]
        shard = "<shard><replica><host>127.0.0.1</host><port>{}</port></replica></shard>"
        self.write("config.xml", CONFIG.format(folder=folder, data=data or folder, http=self.http, tcp=self.tcp,
                                               shards="".join(map(shard.format, shards or [self.tcp]))))
        escaped = PASSWORD.replace("&", "&amp;").replace("<", "&lt;")
        self.write("users.xml", USERS.format(users=USER.format(name="default", password="") +
                                             USER.format(name="writer", password=escaped)))
        self.start(wait)

    def write(self, name, text):
        self.folder.joinpath(name).write_text(text, encoding="utf-8")

    def start(self, wait=True):
        with open(self.folder / "output", "ab") as out:
            self.process = subprocess.Popen([PROGRAM, f"--config-file={self.folder}/config.xml"], cwd=self.folder,
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
        if wait:
            self.wait()

    def wait(self):
        wait_for(self.why_not, self.answers)

    def why_not(self):
        return f"a server, which said: {self.folder.joinpath('output').read_text(errors='replace')[-2000:]}"

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError(self.why_not())
        with contextlib.suppress(OSError):
            return self.ask("SELECT 1") == b"1\n"
        return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    stop = kill

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http}"

    def ask(self, sql, **settings):
        settings = "&".join(f"{k}={v}" for k, v in settings.items())
        request = urllib.request.Request(f"{self.url}/?{settings}", sql.encode("utf-8", "surrogateescape"))
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{sql}: {error.read().decode(errors='replace')}") from error

    def rows(self, sql):
        """A list for each row. Only numbers, and texts that are UTF-8."""
        answer = self.ask(sql + " FORMAT JSONCompact", output_format_json_quote_64bit_integers=0,
                          output_format_json_quote_denormals=1)
        return json.loads(answer)["data"]

    def number(self, sql):
        return self.rows(sql)[0][0]


class Proxy:
    """Between a client and a server: an INSERT of rows may meet with an accident, the next one of the list: None: it
    does not; "deaf": it comes to the server, whose answer is lost; a number: so many bytes of its end are lost; "reset":
    it does not come; a function: that is called once it came, and the answer is lost."""

    def __init__(self, case, port, *accidents):
        self.port_to, self.accidents, self.met, self.heads, self.bodies = port, list(accidents), 0, [], []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        case.addCleanup(self.close)
        threading.Thread(target=self.serve, daemon=True).start()

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.connection, args=[client], daemon=True).start()

    @staticmethod
    def message(file):
        """A whole request or answer: its head and body."""
        head, length, chunked = b"", 0, False
        while not head.endswith(b"\r\n\r\n"):
            line = file.readline()
            if not line:
                return None
            name, _, value = line.lower().partition(b":")
            length = int(value) if name == b"content-length" else length
            chunked |= name == b"transfer-encoding" and b"chunked" in value
            head += line
        body = file.read(length)
        while chunked:
            line = file.readline()
            body += line + file.read(int(line, 16) + 2)
            chunked = line.strip() not in (b"0", b"")
        return head, body

    def connection(self, client):
        server = socket.create_connection(("127.0.0.1", self.port_to))
        with client, server, client.makefile("rb") as asked, server.makefile("rb") as answered, \
                contextlib.suppress(OSError):
            while True:
                request = self.message(asked)
                if not request:
                    return
                head, body = request
                accident = None
                if b"multipart/form-data" in head:
                    with self.lock:
                        accident = self.accidents.pop(0) if self.accidents else None
                        self.met += accident is not None
                        self.heads.append(head)
                        self.bodies.append(body)
                if accident == "reset":
                    return
                cut = len(body) - accident if isinstance(accident, int) else len(body)
                server.sendall(head + body[:cut])
                if isinstance(accident, int):
                    server.shutdown(socket.SHUT_WR)
                if callable(accident):
                    accident()
                    return
                answer = self.message(answered)
                if accident is not None or not answer:
                    return
                client.sendall(b"".join(answer))
