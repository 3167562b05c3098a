#!/usr/bin/env python3
"""Runs a program with an https URL of a server of its own, trusted for this once; fails unless it prints 200 and the length."""
import http.server
import os
import ssl
import subprocess
import sys
import tempfile
import threading

BODY = b"hello, https"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *arguments):
        pass


with tempfile.TemporaryDirectory() as folder:
    key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "certificate.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                    "-addext", "extendedKeyUsage=serverAuth"], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    run = subprocess.run([sys.argv[1], f"https://localhost:{server.server_port}/"], capture_output=True, text=True, timeout=60,
                         env=dict(os.environ, SSL_CERT_FILE=certificate, no_proxy="localhost"))
    print("https:", run.stdout.strip())
    sys.exit(0 if run.stdout.split() == ["200", str(len(BODY))] else 1)
