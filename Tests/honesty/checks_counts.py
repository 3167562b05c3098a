"""3, 4, 13: nothing is lost, counted twice or passed over in silence."""

import socket
import threading

from honesty import check, within


@check("3", "count mode: sent is the server's count, 10 runs", "equal in every run")
def by_count(bench):
    rows = []
    with bench.server() as server:
        before = 0
        for connections in (1, 2, 3, 7, 10, 16, 33, 64, 100, 250):
            report = bench.report("-n", 20_011, "-c", connections, "-t", min(2, connections), server.url + "/bytes/10")
            after = server.count()
            rows.append((report["requests"]["sent"], report["requests"]["completed"], after - before))
            before = after + 1  # Asking is a request too.
    wrong = [row for row in rows if row != (20_011, 20_011, 20_011)]
    return within(not wrong, f"{len(rows) - len(wrong)} of {len(rows)} exact{'' if not wrong else ', first wrong: ' + str(wrong[0])}")


@check("3a", "duration mode: sent − completed in flight; after drain", "equal to the server's count")
def by_time(bench):
    with bench.server() as server:
        plain = bench.report("-d", "3s", "-c", 64, "-t", 2, server.url + "/bytes/10")["requests"]
        before = server.count() + 1
        drained = bench.report("-d", "3s", "-c", 64, "-t", 2, "--drain", "2s", server.url + "/bytes/10")["requests"]
        served = server.count() - before
    ok = plain["sent"] == plain["completed"] + plain["in_flight_at_stop"] and plain["failed"] == 0
    ok = ok and drained["in_flight_at_stop"] == 0 and drained["sent"] == drained["completed"] == served
    return within(ok, f"in flight {plain['in_flight_at_stop']}; drained {drained['completed']}, served {served}")


@check("4", "a server that never answers", "N timeouts, exit ≠ 0, at most -d + -T")
def silent(bench):
    with bench.server() as server:
        report = bench.report("-d", "4s", "-T", "1s", "-c", 10, server.url + "/never", allowed=(4,))
    failed, error = report["requests"]["failed"], report["errors"][0]
    length = report["run"]["measured_ns"] / 1e9
    # A timer may be 8 ms late, so the fourth round may miss the end.
    ok = failed in (30, 40) and error["class"] == "timeout" and error["count"] == failed and length <= 5.05
    return within(ok, f"{failed} timeouts, {length:.2f} s, exit {report['status']}")


ANSWER = (
    b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"4;x=y\r\nWiki\r\n5\r\npedia\r\n0\r\nTrailer: t\r\n\r\n"
)


class Splitting(threading.Thread):
    """Answers request k with the answer cut at its k-th byte, each half in a segment of its own."""

    def __init__(self, answer):
        super().__init__(daemon=True)
        self.answer, self.requests = answer, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.start()

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                more = connection.recv(65536)
                if not more:
                    return
                data += more
            data = data.split(b"\r\n\r\n", 1)[1]
            cut = self.requests % (len(self.answer) + 1)
            self.requests += 1
            for part in (self.answer[:cut], self.answer[cut:]):
                if part:
                    connection.sendall(part)
                    # Until the peer has taken it, what follows would join it.
                    while self.unread(connection):
                        pass

    @staticmethod
    def unread(connection):
        import fcntl
        import struct

        SIOCOUTQ = 0x5411
        return struct.unpack("i", fcntl.ioctl(connection, SIOCOUTQ, b"\0\0\0\0"))[0] > 0


@check("13", "an answer with 1xx, chunks and trailers, cut at every byte", "counts exact")
def split(bench):
    server = Splitting(ANSWER)
    count = 3 * (len(ANSWER) + 1)
    report = bench.report("-n", count, "-c", 1, "-t", 1, server.url)
    ok = report["requests"]["completed"] == count == server.requests and report["statuses"] == {"200": count}
    ok = ok and report["bytes"]["in_content"] == 9 * count and report["bytes"]["in"] == len(ANSWER) * count
    return within(ok, f"{report['requests']['completed']} of {count}, content {report['bytes']['in_content']}")
