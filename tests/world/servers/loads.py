# SPDX-License-Identifier: MIT
"""loads - Debian's servers, as installed, each with its own load tool, and checks that it answered correctly."""
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess

from hodo_test import children, skip, wait_for

SECONDS = int(os.environ.get("SECONDS_OF_LOAD", "12"))
PATIENCE_S = 600  # for a command on a busy machine


def program(*names):
    for name in names:
        found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
        if found:
            return found
    skip(f"{names[0]} is not installed: scripts/deps servers")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


class Server:
    """A server with its load; subclasses define both."""

    def __init__(self, directory):
        self.dir = directory
        self.port = free_port()
        self.process = None

    def user(self):
        return None

    def start(self, argv, **more):
        if os.geteuid() == 0 and self.user():
            entry = pwd.getpwnam(self.user())
            more.update(user=entry.pw_uid, group=entry.pw_gid, extra_groups=[])
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=open(self.dir / "out", "ab"),
                                        stderr=subprocess.STDOUT, cwd=self.dir, **more)
        wait_for(f"{argv[0]}, listening", lambda: answers(self.port), 0.1)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def pids(self):
        return [self.process.pid] + children(self.process.pid)


class Redis(Server):
    OPTIONS = []

    def setup(self):
        self.start([program("redis-server"), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                    "--dir", str(self.dir), "--daemonize", "no", *self.OPTIONS])

    def load(self):
        return [program("redis-benchmark"), "-p", str(self.port), "-t", "set,get,lpush,lpop", "-n", "4000000",
                "-c", "20", "-q"]

    def faults(self, text, ended):
        return re.findall(r"(?im)^.*(?:error|disconnected|refused).*$", text)


class Nginx(Server):
    def setup(self):
        (self.dir / "index.html").write_text("x" * 2000)
        (self.dir / "nginx.conf").write_text(f"""
worker_processes 2; daemon off; pid {self.dir}/pid; error_log {self.dir}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log off; client_body_temp_path {self.dir}/body; proxy_temp_path {self.dir}/proxy;
  fastcgi_temp_path {self.dir}/fastcgi; uwsgi_temp_path {self.dir}/uwsgi; scgi_temp_path {self.dir}/scgi;
  server {{ listen 127.0.0.1:{self.port}; root {self.dir}; }}
}}
{"user root;" if os.geteuid() == 0 else ""}
""")
        self.start([program("nginx"), "-c", str(self.dir / "nginx.conf"), "-e", str(self.dir / "error.log")])

    def load(self):
        return [program("wrk"), "-t", "2", "-c", "20", "-d", str(SECONDS), "--timeout", "60s",
                f"http://127.0.0.1:{self.port}/index.html"]

    def faults(self, text, ended):
        faults = re.findall(r"(?m)^.*(?:Socket errors|Non-2xx).*$", text)
        if ended and not re.search(r"\d+ requests in", text):
            faults.append("no request was answered")
        return faults + re.findall(r"(?m)^.*\[(?:alert|emerg|crit)\].*$", (self.dir / "error.log").read_text())


class Postgresql(Server):
    def user(self):
        return "postgres" if os.geteuid() == 0 else None

    def tool(self, name):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
        return str(found[-1]) if found else program(name)

    def run(self, argv):
        more = {}
        if self.user():
            entry = pwd.getpwnam(self.user())
            more.update(user=entry.pw_uid, group=entry.pw_gid, extra_groups=[])
        subprocess.run(argv, check=True, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=open(self.dir / "out", "ab"),
                       stderr=subprocess.STDOUT, **more)

    def setup(self):
        initdb = self.tool("initdb")
        if self.user():
            shutil.chown(self.dir, self.user())
        self.run([initdb, "-D", str(self.dir / "data"), "-A", "trust", "-U", "bench", "--no-sync"])
        self.start([self.tool("postgres"), "-D", str(self.dir / "data"), "-p", str(self.port), "-c",
                    "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self.dir}", "-c", "fsync=off", "-c",
                    "lc_messages=C"])
        connection = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "bench"]
        # It listens before it is ready; clients are refused until then, with a FATAL in its log.
        wait_for("postgres, ready", lambda: "ready to accept connections" in (self.dir / "out").read_text(), 0.1)
        self.run([self.tool("createdb"), *connection, "load"])
        self.run([self.tool("pgbench"), *connection, "-i", "-q", "load"])

    def load(self):
        return [self.tool("pgbench"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "bench", "-c", "8", "-j", "2",
                "-T", str(SECONDS), "-n", "load"]

    def balances(self):
        """Whether all accounts, tellers and branches agree with the history of transactions."""
        sums = ["(select sum({0}balance) from pgbench_{1})".format(name[0], name)
                for name in ("accounts", "tellers", "branches")]
        query = f"select {', '.join(sums)}, (select coalesce(sum(delta), 0) from pgbench_history)"
        done = subprocess.run([program("psql"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "bench", "-Atc", query,
                               "load"], check=False, capture_output=True, text=True, timeout=PATIENCE_S)
        found = done.stdout.strip().split("|")
        return [] if len(found) == 4 and len(set(found)) == 1 else [f"balances: {found} {done.stderr}"]

    def faults(self, text, ended):
        faults = re.findall(r"(?im)^.*(?:error|fatal|aborted|terminated).*$", text)
        if ended and "number of failed transactions: 0 " not in text:
            faults.append("some transaction failed")
        log = (self.dir / "out").read_text()
        return faults + re.findall(r"(?m)^.*(?:PANIC|FATAL|was terminated by signal).*$", log)
