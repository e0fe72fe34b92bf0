#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Symbols by build-id from servers: hodo symbols with http addresses, and --debuginfod in the readers."""
import http.server
import os
import shutil
import signal
import socket
import threading
import urllib.error
import urllib.request

import hodo_test
import symbols_case
from hodo_test import main, run, wait_for
from symbols_case import BUILT, NAMES, files

READERS = {"list": ("--functions",), "print": (), "report": (), "graph": (), "view": ("-f", "-o", "page.html"),
           "export": ("--to", "callgrind", "-f", "-o", "callgrind.out")}


class Handler(http.server.SimpleHTTPRequestHandler):
    """What is below /PLACE/ is answered as PLACE says; "good" as it should be."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def begin(self):
        """Counts the request. Returns the place, and the rest of the path."""
        place, _, rest = self.path.lstrip("/").partition("/")
        self.server.seen.append((self.command, place, rest))
        return place, rest

    def answer(self, status, body=b"", length=None, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if length != "none":
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        if length is not None:
            self.close_connection = True

    def file(self, rest):
        path = os.path.join(self.server.root, rest)
        return symbols_case.pathlib.Path(path).read_bytes() if os.path.isfile(path) else None

    def do_HEAD(self):
        _, rest = self.begin()
        self.answer(404 if self.file(rest) is None else 200)

    def do_GET(self):
        place, rest = self.begin()
        data = self.file(rest)
        if place == "shut":
            self.answer(403, b"\x1b[31mno\n" * 10)
        elif place == "password":
            good = self.headers.get("Authorization") == "Basic bWU6c2VjcmV0" # me:secret
            self.answer(200 if good else 401, data if good else b"")
        elif place == "broken":
            self.answer(500)
        elif place == "away":
            self.answer(302, Location=f"file://{self.server.root}/{rest}")
        elif place == "around":
            self.answer(302, Location=self.path)
        elif data is None or place == "empty":
            self.answer(404, b"nothing")
        elif place == "half":
            self.answer(200, data[:len(data) // 2], length=len(data))
        elif place == "open": # the end of the connection marks its end
            self.answer(200, data[:len(data) // 2], length="none")
        elif place == "wrong":
            self.answer(200, self.server.wrong)
        elif place == "text":
            self.answer(200, b"<html>no file here</html>")
        elif place == "endless":
            self.endless()
        elif place == "stalled":
            self.answer(200, data[:1000], length=len(data))
            self.wfile.flush()
            self.server.stalled.set()
            self.server.go_on.wait()
        else:
            self.answer(200, data)

    def endless(self):
        self.answer(200, length="none")
        try:
            while not self.server.go_on.is_set():
                self.wfile.write(b"\x7fELF" * 16384)
        except OSError:
            self.close_connection = True

    def do_PUT(self):
        place, rest = self.begin()
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if place == "shut":
            return self.answer(405)
        path = os.path.join(self.server.root, rest)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
        return self.answer(201)


class Served(symbols_case.Case):
    """`url` of a server with the contents of the folder `root`: BUILT's files, as hodo symbols push puts them."""
    PUSHED = True

    def setUp(self):
        super().setUp()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.seen, server.stalled, server.go_on = [], threading.Event(), threading.Event()
        server.root = self.path(f"root-{self._testMethodName}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        for ending in (server.server_close, thread.join, server.shutdown, server.go_on.set):
            self.addCleanup(ending)
        self.server, self.host = server, f"127.0.0.1:{server.server_port}"
        self.url = f"http://{self.host}"
        os.mkdir(server.root)
        if self.PUSHED:
            self.hodo("symbols", "push", server.root, "full", status=0)

    def seen(self, method):
        return sorted(rest for how, _, rest in self.server.seen if how == method)

    def unused_port(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            return s.getsockname()[1]


class Server(Served):
    PUSHED = False

    def test_put_and_got(self):
        """All bytes are right, and nothing is fetched twice."""
        url = f"{self.url}/good"
        self.fails(f"{url}: no symbols of ", "pull", url, "trace")
        done = self.hodo("symbols", "push", f"http://me:secret@{self.host}/good/", "full", status=0)
        self.assertRegex(done.stderr, rf"\Ahodo: 4 files, [\d.]+ KiB, in {url}/\n\Z")
        full = files(self.path("full"))
        self.assertEqual(files(self.server.root), {f"buildid/{self.ids[name]}/{kind}": full[name] for name in BUILT
                                                   for kind in ("debuginfo", "executable")})
        self.hodo("symbols", "push", url, "full", status=0)
        self.assertEqual(len(self.seen("PUT")), 4)
        self.server.seen.clear()
        for _ in range(2):
            self.pull(url, "trace", status=0)
        want = {f"buildid/{self.ids[name]}/debuginfo": full[name] for name in BUILT}
        self.assertEqual(files(self.store), want)
        self.assertEqual(self.seen("GET"), sorted(want))
        self.check_named()

    def test_takes_none(self):
        self.fails("shut: HTTP 405: it takes no files by PUT: 0 files were sent: run it again", "push",
                   f"{self.url}/shut", "full/app")

    def test_password(self):
        self.hodo("symbols", "push", self.server.root, "full", status=0)
        shown = f"http://{self.host}/password"
        for wrong in ("", "me:secreT@"):
            url = f"http://{wrong}{self.host}/password"
            self.fails(f"{shown}: HTTP 401: give it a name and password in ~/.netrc", "pull", url, "trace")
        with open(self.path(".netrc"), "w", encoding="ascii") as f:
            f.write("machine 127.0.0.1 login me password secret\n")
        try:
            self.pull(shown, "trace", status=0)
        finally:
            os.unlink(self.path(".netrc"))
        shutil.rmtree(self.store)
        self.pull(f"http://me:secret@{self.host}/password", "trace", status=0)


class Broken(Served):
    """No partial or wrong file gets its name; existing files stay, and the next run gets the rest."""

    def check_failed(self, words, place, *options):
        self.fails(words, "pull", *options, f"{self.url}/{place}", "trace")
        self.assertEqual(self.names_of_files(), set())

    def test_answers(self):
        for place, words in (("shut", "HTTP 403: give it a name and password in ~/.netrc"), ("broken", "HTTP 500"),
                             ("half", "transfer closed with"), ("away", "file"), ("around", "redirects")):
            self.check_failed(words, place)
            self.assertEqual(len(self.server.seen), 6 if place == "around" else 1, place)
            self.server.seen.clear()
        self.pull(f"{self.url}/good", "trace", status=0)
        self.check_named()

    def test_files(self):
        self.server.wrong = files(self.path("full"))["app"].replace(bytes.fromhex(self.ids["app"]), 20 * b"x")
        for place, words in (("open", "cut short"), ("wrong", "another build"), ("text", "no ELF file")):
            done = self.pull(f"{self.url}/{place}", "trace")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.count("\n"), 4)
            for name in BUILT:
                for kind in ("debuginfo", "executable"):
                    self.assertIn(f"{place}: the {kind} of {name}, build-id {self.ids[name]} is {words}: not used",
                                  done.stderr)
            self.assertEqual(self.names_of_files(), set())

    def test_endless(self):
        done = self.pull("--max-size", "1M", f"{self.url}/endless", "trace")
        self.assertEqual(done.returncode, 1)
        self.assertIn("larger than 1.0 MiB: left out", done.stderr)
        self.assertEqual(self.names_of_files(), set())

    def test_goes_on(self):
        """The second file fails: the first is there, and is not fetched again."""
        path = os.path.join(self.server.root, "buildid", self.ids["libshared.so"], "debuginfo")
        os.rename(path, path + ".away")
        os.mkdir(path) # 404
        self.pull(f"{self.url}/good", "trace", status=0)
        os.rmdir(path)
        os.rename(path + ".away", path)
        self.server.seen.clear()
        self.assertIn("and 1 from before", self.pull(f"{self.url}/good", "trace", status=0).stderr)
        self.assertEqual(len(self.seen("GET")), 1)
        self.check_named()

    def test_nobody_there(self):
        url = f"http://127.0.0.1:{self.unused_port()}"
        for verb, given in (("pull", "trace"), ("push", "full/app")):
            self.fails(f"symbols: {url}: Failed to connect", verb, url, given)

    def test_interrupted(self):
        pull = self.start(hodo_test.HODO, "symbols", "pull", f"{self.url}/stalled", "trace", stderr=-1)
        self.assertTrue(self.server.stalled.wait(600))
        parts = symbols_case.pathlib.Path(self.store)
        wait_for("half a file", lambda: any(p.stat().st_size for p in parts.rglob(".*.part")))
        pull.send_signal(signal.SIGINT)
        said = pull.communicate(timeout=600)[1]
        self.assertEqual(pull.returncode, 1)
        self.assertEqual(said, f"hodo: symbols: interrupted: 0 files are in {self.store}: run it again to get the "
                               "rest\n")
        self.assertEqual(self.names_of_files(), set())
        self.pull(f"{self.url}/good", "trace", status=0)
        self.check_named()


    def test_progress(self):
        """On a terminal."""
        ours, theirs = os.openpty()
        self.addCleanup(os.close, ours)
        pull = self.start(hodo_test.HODO, "symbols", "pull", f"{self.url}/stalled", "trace", stderr=theirs)
        os.close(theirs)
        shown = b""
        while b"B of " not in shown:
            shown += os.read(ours, 1000)
        self.assertRegex(shown, rb"hodo: \d+ B of [\d.]+ KiB, http://\S+/stalled\x1b\[K\r")
        pull.send_signal(signal.SIGINT)
        self.assertEqual(pull.wait(600), 1)


class Readers(Served):
    """--debuginfod: only then readers ask servers."""

    def shown(self, verb, *options, **how):
        done = self.hodo(verb, *READERS[verb], *options, "trace", status=0, **how)
        return self.path(READERS[verb][-1]) if "-o" in READERS[verb] else done.stdout, done.stderr

    def has_names(self, shown):
        if os.path.exists(shown):
            with open(shown, encoding="utf-8") as f:
                shown = f.read()
        return "hidden_inner" in shown and "hidden_shared" in shown

    def test_only_if_asked(self):
        env = {"DEBUGINFOD_URLS": f"{self.url}/good"}
        for verb in READERS:
            if verb != "view":
                self.assertFalse(self.has_names(self.shown(verb, env=env)[0]), verb)
        self.assertEqual(self.server.seen, [])

    def test_every_reader(self):
        for verb in READERS:
            if verb == "view" and "without the page" in self.hodo("view", "-f", "-o", "page.html", "trace").stderr:
                continue
            env = {"DEBUGINFOD_URLS": f"{self.url}/good", "DEBUGINFOD_CACHE_PATH": self.path(f"client-of-{verb}")}
            shown, said = self.shown(verb, "--debuginfod", env=env)
            if verb != "view": # in the page it is compressed
                self.assertTrue(self.has_names(shown), verb)
            self.assertNotIn("by address", said)
            self.assertEqual(self.seen("GET"), sorted(f"buildid/{id}/debuginfo" for id in self.ids.values()), verb)
            self.server.seen.clear()
            # From now on, the client has the files itself.
            self.shown(verb, "--debuginfod", env=env)
            self.assertEqual(self.server.seen, [])

    def test_by_environment(self):
        env = {"DEBUGINFOD_URLS": f"{self.url}/good"}
        self.check_unnamed(env={**env, "HODO_DEBUGINFOD": "0"})
        self.check_named(env={**env, "HODO_DEBUGINFOD": "1"})

    def test_lines(self):
        """For a program that has all its names, but no lines."""
        os.mkdir(self.path("run"))
        for name in BUILT:
            run("strip", "-g", "-o", self.path("run", name), self.path("full", name), status=0)
        self.hodo("record", "-q", "--functions", "-o", "named", "--", self.path("run", "app"), status=0)
        shutil.rmtree(self.path("run"))
        self.check_named(recording="named")
        export = ("export", "--to", "callgrind", "-o", "-", "named")
        env = {"DEBUGINFOD_URLS": f"{self.url}/good"}
        self.assertNotIn("/app.c\n", self.ok(*export, env=env))
        self.assertIn("/app.c\n", self.ok(*export, "--debuginfod", env=env))

    def test_no_server_is_named(self):
        for how in ({}, {"env": {"DEBUGINFOD_URLS": " "}}):
            hodo_test.Case.fails(self, 1, "DEBUGINFOD_URLS names no server", "report", "--debuginfod", "trace", **how)

    def test_nothing_good(self):
        """A message of one line, and addresses."""
        self.server.wrong = files(self.path("full"))["app"].replace(bytes.fromhex(self.ids["app"]), 20 * b"x")
        for place in ("wrong", "text", "half", "open", "empty", "broken"):
            env = {"DEBUGINFOD_URLS": f"{self.url}/{place}", "DEBUGINFOD_CACHE_PATH": self.path(f"client-{place}")}
            self.check_unnamed("--debuginfod", env=env)
        env = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{self.unused_port()}"}
        said = self.hodo("print", "--debuginfod", "trace", status=0, env=env).stderr
        self.assertRegex(said, r"\Ahodo: warning: debuginfod: [^\n]*: Connection refused: functions whose symbols are "
                               r"not here are shown by address\n\Z")
        self.assertEqual(self.hodo("print", "-q", "--debuginfod", "trace", status=0, env=env).stderr, "")


class Debuginfod(Served):
    """elfutils' server, with the folder to which the files were pushed."""

    def setUp(self):
        super().setUp()
        if not shutil.which("debuginfod"):
            self.skipTest("debuginfod is not installed: scripts/deps test")
        # It does not accept port 0; another program may take a free port first.
        while not self.serve():
            pass

    def serve(self):
        port = self.unused_port()
        self.own_url = f"http://127.0.0.1:{port}"
        process = self.start("debuginfod", "-d", ":memory:", "-p", port, "-F", self.server.root, stdout=-3, stderr=-3)
        wait_for("debuginfod", lambda: process.poll() is not None or self.is_scanned())
        return process.poll() is None

    def is_scanned(self):
        url = f"{self.own_url}/buildid/{self.ids['app']}/debuginfo"
        try:
            with urllib.request.urlopen(url, timeout=600) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def test_pull(self):
        wait_for("names", lambda: self.pull(self.own_url, "trace").returncode == 0 and self.names() == (NAMES, False))
        self.assertEqual(files(self.store), {f"buildid/{self.ids[name]}/debuginfo": files(self.path("full"))[name]
                                             for name in BUILT})

    def test_reader(self):
        wait_for("all files", lambda: self.pull(self.own_url, "trace").returncode == 0 and
                 len(self.names_of_files()) == len(BUILT))
        shutil.rmtree(self.store)
        self.check_unnamed()
        self.check_named("--debuginfod", env={"DEBUGINFOD_URLS": self.own_url})


main()
