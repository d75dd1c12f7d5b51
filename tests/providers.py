"""A provider of sign-ins on this machine: OpenID Connect, and GitHub's way of it."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "the-board"
SECRET = "the board's secret"


@dataclass
class Provider:
    """What the provider says of whoever signs in; `lies` replaces claims."""

    url: str = ""
    person: dict = field(default_factory=dict)
    lies: dict = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048))
    other_key: RSAKey | None = None  # signs instead of the published one
    nonce: str = ""
    asked: list = field(default_factory=list)
    broken: bool = False

    def configuration(self):
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def token(self):
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": self.nonce,
            **self.person,
            **self.lies,
        }
        signed = jwt.encode({"alg": "RS256"}, claims, self.other_key or self.key)
        return {"access_token": "at", "token_type": "Bearer", "id_token": signed}

    def answer(self, path, body):
        self.asked.append((path, body))
        return {
            "/.well-known/openid-configuration": self.configuration,
            "/token": self.token,
            "/keys": lambda: {"keys": [self.key.as_dict(private=False)]},
            "/login/oauth/access_token": lambda: {
                "access_token": "at",
                "token_type": "bearer",
            },
            "/user": lambda: self.person,
        }[path]()

    def consent(self, redirect):
        """The person agrees at the provider: where they are sent back to."""
        query = parse_qs(urlsplit(redirect).query)
        self.nonce = query.get("nonce", [""])[0]
        [back], [state] = query["redirect_uri"], query["state"]
        path = urlsplit(back).path
        return path, {"code": "a-code", "state": state}


@contextmanager
def running():
    """Serve a provider on a port of this machine."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length).decode()
            if provider.broken:
                self.send_error(503)
                return
            content = json.dumps(provider.answer(urlsplit(self.path).path, body))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(content.encode())

        do_POST = do_GET

        def log_message(self, *args):
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
