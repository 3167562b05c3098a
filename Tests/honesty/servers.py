"""A server that writes down every request it reads, and does with it what a check wants: answer now or later, or end the connection."""

import heapq
import itertools
import select
import socket
import struct
import threading
import time

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
RESET, CLOSE = "reset", "close"


class Cut(bytes):
    """Octets to send before the connection is closed."""


class Slow(bytes):
    """Octets to send one at a time, a millisecond apart."""


class Logged(threading.Thread):
    """One thread, one epoll set. `act(path, number)` says what becomes of a request: bytes to send, RESET or CLOSE; or one of these and the
    seconds to wait before it. `log` has a row for each request, in the order they were read: when, its path, what was done, and when. `carried` has the number of requests of each connection, in the order of
    accepting."""

    def __init__(self, act):
        super().__init__(daemon=True)
        self.act, self.log, self.carried, self.names = act, [], [], {}
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.poller, self.connections, self.unread = select.epoll(), {}, {}
        self.later, self.order = [], itertools.count()
        self.poller.register(self.listener, select.EPOLLIN)
        self.start()

    def run(self):
        while True:
            wait = max(0, self.later[0][0] - time.monotonic()) if self.later else None
            for number, _ in self.poller.poll(wait):
                if number == self.listener.fileno():
                    self.accept()
                elif number in self.connections:
                    self.read(number)
            while self.later and self.later[0][0] <= time.monotonic():
                _, _, connection, row, what = heapq.heappop(self.later)
                self.carry_out(connection, row, what)

    def accept(self):
        connection, _ = self.listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections[connection.fileno()] = connection
        self.names[connection.fileno()] = len(self.carried)
        self.carried.append(0)
        self.unread[connection.fileno()] = b""
        self.poller.register(connection, select.EPOLLIN)

    def read(self, number):
        connection = self.connections[number]
        try:
            data = connection.recv(65536)
        except OSError:
            data = b""
        if not data:
            return self.drop(connection)
        *heads, self.unread[number] = (self.unread[number] + data).split(b"\r\n\r\n")
        for head in heads:
            path = head.split(b" ", 2)[1].decode()
            with self.lock:
                row = [time.monotonic(), path, None, None]
                what = self.act(path, len(self.log))
                self.log.append(row)
                self.carried[self.names[number]] += 1
            what, wait = what if isinstance(what, tuple) else (what, 0)
            if wait > 0:
                heapq.heappush(self.later, (row[0] + wait, next(self.order), connection, row, what))
            else:
                self.carry_out(connection, row, what)

    def carry_out(self, connection, row, what):
        row[2], row[3] = what, time.monotonic()
        if connection.fileno() < 0:
            return
        if what == RESET:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.drop(connection)
        elif what == CLOSE:
            self.drop(connection)
        else:
            sent = 1 if isinstance(what, Slow) else len(what)
            try:
                connection.sendall(what[:sent])
            except OSError:
                return self.drop(connection)
            if sent < len(what):
                heapq.heappush(self.later, (row[3] + 0.001, next(self.order), connection, row, Slow(what[sent:])))
            elif isinstance(what, Cut):
                self.drop(connection)

    def drop(self, connection):
        if connection.fileno() < 0:
            return
        self.poller.unregister(connection)
        self.connections.pop(connection.fileno(), None)
        connection.close()

    def count(self, what=None, path=None):
        """Requests so far: all, those that met `what`, or those for `path`."""
        with self.lock:
            return sum((what is None or row[2] == what) and (path is None or row[1] == path) for row in self.log)
