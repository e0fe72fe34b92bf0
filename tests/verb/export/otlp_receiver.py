# SPDX-License-Identifier: MIT
"""otlp_receiver - a receiver of OpenTelemetry's messages that answers as a test tells it to."""
import contextlib
import http.server
import socket
import struct
import threading

RESET = "reset"


class Receiver:
    """Listens on its own port. answers: one per request, in turn: a status, (status, headers[, body]), RESET,
    or an Event, for which it waits with its answer; all later requests get `then`."""

    def __init__(self, case, *answers, port=0, then=200):
        self.then = then
        self.answers, self.requests, self.lock = list(answers), [], threading.Lock()
        self.connections = []
        self.came = threading.Semaphore(0)  # once for each request
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                receiver.connections.append(self.request)
                super().setup()

            def do_POST(self):
                receiver.take(self)

            def log_message(self, format, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, request, client_address):
                pass  # a client that went away meanwhile

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()
        case.addCleanup(self.close)

    def close(self):
        """As if its process ended: the requests that it is working on get no answer."""
        self.server.shutdown()
        self.server.server_close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def take(self, handler):
        length = int(handler.headers["Content-Length"])
        body = handler.rfile.read(length)
        if len(body) < length:
            handler.close_connection = True  # close() came first: nobody has half a request
            return
        with self.lock:
            answer = self.answers.pop(0) if self.answers else self.then
            self.requests.append({"path": handler.path, "headers": handler.headers, "body": body, "answer": answer})
        self.came.release()
        if answer == RESET:
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()
            handler.close_connection = True
            return
        if isinstance(answer, threading.Event):
            answer.wait()
            answer = 200
        status, headers, data = (*answer, b"")[:3] if isinstance(answer, tuple) else (answer, {}, b"")
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": len(data)}.items():
            handler.send_header(name, str(value))
        handler.end_headers()
        handler.wfile.write(data)

    def requests_before(self, n, path="/v1/traces"):
        return [r["body"] for r in self.requests[:n] if r["path"] == path]

    def taken(self, path="/v1/traces"):
        """Bodies of the requests that it accepted."""
        return [r["body"] for r in self.requests if r["path"] == path and
                (r["answer"] == 200 or isinstance(r["answer"], threading.Event) or
                 isinstance(r["answer"], tuple) and r["answer"][0] == 200)]
