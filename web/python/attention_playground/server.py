"""Shows the page in the browser, from a small server of this process that only this computer reaches."""
import http.server
import mimetypes
import secrets
import sys
import threading
import webbrowser
from pathlib import Path

from .display import is_marimo

PAGE = Path(__file__).parent / "page"
TYPES = {".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json", ".html": "text/html; charset=utf-8", ".txt": "text/plain; charset=utf-8"}

_files = {}      # path -> bytes of what is shown; each board under a name that nobody guesses
_server = None
_lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # noqa: N802: the library calls it so
        host, path = self.headers.get("Host", ""), self.path.split("?")[0]
        if host not in ("%s:%d" % (name, self.server.server_port) for name in ("127.0.0.1", "localhost")):
            return self.send_error(403)  # a page of elsewhere that names itself as this computer
        content = self.content(path)
        if content is None:
            return self.send_error(404)
        self.send_response(200)
        kind = "." + path.rsplit(".", 1)[-1] if "." in path else ".html"
        self.send_header("Content-Type", TYPES.get(kind) or mimetypes.guess_type(path)[0] or "application/octet-stream")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store" if path in _files else "max-age=3600")
        self.end_headers()
        self.wfile.write(content)

    @staticmethod
    def content(path):
        if path in _files:
            return _files[path]
        board, _, name = path.lstrip("/").partition("/")
        if "/%s/" % board not in _files:
            return None
        file = (PAGE / name).resolve()
        return file.read_bytes() if PAGE.resolve() in file.parents and file.is_file() else None

    def log_message(self, *args):
        pass


def serve():
    """The server of this process, started when it is first needed."""
    global _server
    with _lock:
        if _server is None:
            _server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            _server.daemon_threads = True
            threading.Thread(target=_server.serve_forever, daemon=True, name="attention-playground").start()
    return _server


def page_with(name):
    """The page's own HTML, which opens a file beside it."""
    html = (PAGE / "index.html").read_text(encoding="utf-8")
    return html.replace("<attention-playground page>", '<attention-playground page src="%s">' % name, 1)


def open_file(content, name, block=None, browser=True):
    """Opens the page with a file of any format that it reads. Gives back the address."""
    if not (PAGE / "index.html").exists():
        raise FileNotFoundError("%s: the page is missing from this installation; install the wheel of attention-playground." % PAGE)
    server, board = serve(), "/%s/" % secrets.token_urlsafe(12)
    _files[board + name] = content
    _files[board] = page_with(name).encode()
    address = "http://127.0.0.1:%d%s" % (server.server_port, board)
    opened = browser and webbrowser.open(address)
    is_prompt = hasattr(sys, "ps1") or "IPython" in sys.modules or is_marimo()
    if block or (block is None and not is_prompt and browser):
        print("Attention Playground: %s   (Ctrl-C ends it)" % address, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
    elif browser and not opened:
        print("Attention Playground: %s" % address)
    return address
