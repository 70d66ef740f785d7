"""A server that speaks as OpenAI's does, as far as lm-eval asks: completions and chat."""

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_MOST_REQUESTS = 200


@dataclass
class Server:
    """Where the server listens, and the bodies of the requests that it answered."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def serve(write):
    """Serve until the block ends; ``write`` answers a prompt, and None is an error of the server.

    Bytes, or other JSON than a text, are sent in place of the whole answer.

    It listens on the loopback interface only, and answers no more than a few hundred requests.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append(body)
            asked = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
            answers = [write(text) for text in ([asked] if isinstance(asked, str) else asked)]
            if None in answers or len(server.requests) > _MOST_REQUESTS:
                self.send_error(500)
                return
            choices = [
                {"index": number, "message": {"content": answer}, "text": answer}
                for number, answer in enumerate(answers)
            ]
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            sent = {"choices": choices} if isinstance(answers[0], str) else answers[0]
            self.wfile.write(sent if isinstance(sent, bytes) else json.dumps(sent).encode())

        def log_message(self, *_):
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        server = Server(f"http://127.0.0.1:{listener.server_port}/v1")
        threading.Thread(target=listener.serve_forever, args=(0.05,)).start()
        try:
            yield server
        finally:
            listener.shutdown()
