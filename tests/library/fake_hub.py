"""A small file server on loopback that can be told to go wrong."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeHub:
    """Serves `content` under every path. `fault` is one of the words below; `paths` are the paths asked for, `gave_up`
    tells that a fault that waits waited to its end."""

    def __init__(self, content, fault=""):
        self.content, self.fault = content, fault
        self.paths, self.headers = [], []
        self.release = threading.Event()
        self.gave_up = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,))

    @property
    def address(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self):
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                hub.paths.append(self.path)
                hub.headers.append(dict(self.headers))
                if hub.fault == "silent":
                    hub.gave_up = not hub.release.wait(10)
                elif hub.fault == "redirect" and not self.path.startswith("/cdn"):
                    self.send_response(302)
                    self.send_header("Location", "/cdn/file")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                elif hub.fault == "missing":
                    self.send_error(404)
                else:
                    self._send()

            def _send(self):
                body = hub.content
                self.send_response(200)
                if hub.fault != "no length":
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if hub.fault == "cut":
                    self.wfile.write(body[: len(body) // 2])
                elif hub.fault == "stall":
                    self.wfile.write(body[: len(body) // 2])
                    self.wfile.flush()
                    hub.gave_up = not hub.release.wait(10)
                else:
                    self.wfile.write(body)

        return Handler
