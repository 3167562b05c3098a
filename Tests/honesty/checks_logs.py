"""15 and on: what a server with a log of its own did, told by every figure that is about it."""

from honesty import check, within
from servers import OK, RESET, Logged


def every(count, what):
    """A server that does `what` with each request of that number, and answers the others."""
    return Logged(lambda path, number: what if number % count == count - 1 else OK)


@check("15", "1 % of requests met by RST", "failed = the log's resets, sent = its requests, exit 4")
def resets(bench):
    server = every(100, RESET)
    report = bench.report("-n", 20_000, "-c", 16, "-t", 2, server.url + "/", allowed=(4,))
    told, cut, read = report["requests"], server.count(RESET), server.count()
    ok = told["failed"] == cut == 200 and told["sent"] == read == 20_000 and told["sent_again"] == 0
    return within(ok, f"{told['failed']} failed, {cut} reset; {told['sent']} sent, {read} read")


@check("15a", "the same with --retry", "sent again = the log's resets, sent + again = its requests, exit 0")
def resent(bench):
    server = every(100, RESET)
    report = bench.report("--retry", "-n", 20_000, "-c", 16, "-t", 2, server.url + "/")
    told, cut, read = report["requests"], server.count(RESET), server.count()
    ok = told["sent_again"] == cut > 0 and told["sent"] == 20_000 and told["sent"] + cut == read
    return within(ok, f"{told['sent_again']} sent again, {cut} reset; {told['sent']} sent, {read} read")
