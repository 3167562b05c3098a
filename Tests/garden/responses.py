"""A thousand hostile responses, in named families: the same ones for the same seed."""
import gzip
import random
import zlib
from dataclasses import dataclass

BODY = b"whole"


@dataclass
class Item:
    family: str
    octets: bytes
    # What the server does behind the octets: closes the connection, or leaves it open.
    stays_open: bool = False
    # So many octets a segment; 0: all at once.
    piece: int = 0


def answer(fields=b"", body=BODY, status=b"HTTP/1.1 200 OK", end=b"\r\n"):
    return status + b"\r\n" + fields + (b"\r\n" if fields else b"") + end + body


def sized(body=BODY, extra=b""):
    return answer(b"Content-Length: %d" % len(body) + (b"\r\n" + extra if extra else b""), body)


def chunked(rest, extra=b""):
    return answer(b"Transfer-Encoding: chunked" + (b"\r\n" + extra if extra else b""), rest)


def changed(octets, random):
    """The octets with one of them flipped or doubled, or something put in or taken out, in the first kilobyte."""
    octets = bytearray(octets)
    place = random.randrange(min(len(octets), 1_024))
    choice = random.randrange(4)
    if choice == 0:
        octets[place] ^= 1 << random.randrange(8)
    elif choice == 1:
        octets[place:place] = random.choice([b"\r", b"\n", b"\r\n", b"\x00", b" ", b":", b"0", b",", b";", b"\xff"])
    elif choice == 2:
        del octets[place:place + random.randint(1, 4)]
    else:
        octets[place:place] = octets[place:place + random.randint(1, 12)]
    return bytes(octets)


def members(random):
    """Each family: its name and a function that makes its next member."""
    pick = random.choice
    good = b"5\r\nwhole\r\n0\r\n\r\n"
    names = [b"X", b"Content-Type", b"Server", b"Set-Cookie", b"ETag", b"Connection", b"Date"]
    controls = [bytes([octet]) for octet in [*range(0, 9), 11, 12, *range(14, 32), 127]]
    high = [b"\x80", b"\xff", b"\xc3\xa4", b"\xe2\x80\xa8", b"\xc2\xa0"]
    lines = [b"\n", b"\r", b"\r\r\n", b"\n\r", b"\r\n"]

    def well_formed():
        body = random.randbytes(pick([0, 1, 5, 300, 5_000]))
        return pick([sized(body), answer(b"", body), chunked(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"),
                     chunked(b"5\r\nwhole\r\n0\r\nX-Trailer: y\r\n\r\n"), sized(extra=b"X-Empty:"), answer(b"Content-Length: 5", BODY, b"HTTP/1.0 200 OK")])

    def odd_length():
        value = pick([b"+5", b"-5", b"5 ", b" 5", b"\t5", b"0x5", b"5,5", b"5, 5", b"5,6", b"05", b"0000000000000000000005", b"5.0", b"5e0", b"", b" ", b"five",
                      b"5;q=1", b"\"5\"", b"5_0", b"18446744073709551621", b"99999999999999999999", b"9223372036854775808", b"4294967301", b"5\x0b", b"\xd9\xa5",
                      b"-0", b"5\x00", b"5 5", b"5,", b",5", b"1e1"])
        return answer(b"Content-Length: " + value)

    def two_lengths():
        first, second = pick([(b"5", b"5"), (b"5", b"6"), (b"6", b"5"), (b"5", b"05"), (b"0", b"5"), (b"5", b""), (b"5", b"-5"), (b"5", b"five")])
        return answer(b"Content-Length: " + first + pick([b"\r\n", b"\r\nX: y\r\n"]) + pick([b"Content-Length", b"content-length", b"CONTENT-LENGTH"]) + b": " + second)

    def length_and_chunks():
        length, coding = b"Content-Length: %d" % pick([0, 5, 15, 3, 100]), b"Transfer-Encoding: chunked"
        first, second = pick([(length, coding), (coding, length)])
        return answer(first + b"\r\n" + second, good)

    def odd_coding():
        value = pick([b"chunked, chunked", b"gzip, chunked", b"chunked, gzip", b"identity", b"identity, chunked", b"xchunked", b"chunkedx", b"Chunked", b"CHUNKED",
                      b"\tchunked", b"chunked\t", b"chunked;x=y", b"chunked,", b",chunked", b", chunked ,", b"\"chunked\"", b"chunked\r\n , identity", b"", b" ",
                      b"chun\x00ked", b"chunked\x0b", b"c\xc4\xa7unked", b"chunked chunked", b"trailers", b"x, chunked", b"deflate"])
        if random.random() < 0.3:
            return answer(b"Transfer-Encoding: " + value + b"\r\nTransfer-Encoding: " + pick([b"chunked", b"identity", b"gzip"]), good)
        name = pick([b"Transfer-Encoding", b"Transfer-Encoding ", b"Transfer_Encoding", b" Transfer-Encoding", b"transfer-encoding"])
        return answer(name + b": " + value, good)

    def chunks_in_1_0():
        return answer(b"Transfer-Encoding: " + pick([b"chunked", b"gzip", b"identity"]) + pick([b"", b"\r\nContent-Length: 5", b"\r\nConnection: keep-alive"]), good, b"HTTP/1.0 200 OK")

    def chunk_size():
        size = pick([b"05", b"0000000000000000000000005", b"+5", b"-5", b"0x5", b" 5", b"5 ", b"5\t", b"\t5", b"5_", b"5.", b"", b"g", b"5g", b"fffffffffffffffff",
                     b"ffffffffffffffff", b"8000000000000005", b"10000000000000005", b"100000005", b"5\x00", b"5\x0b", b"\xef\xbc\x95", b"5\"", b"5,", b"5\r"])
        return chunked(size + b"\r\nwhole\r\n0\r\n\r\n")

    def chunk_extension():
        extension = pick([b";", b";x", b";x=y", b"; x = y", b";x=\"y\"", b";x=\"y\r\nz\"", b";x=\"\n\"", b";\n", b";x\ny", b";x\ry", b";x=\"", b";=", b";;", b" ;x", b"\t;x", b";x\x00",
                          b";" + b"x" * pick([100, 20_000, 200_000]), b";x=\xff", b"x"])
        return chunked(b"5" + extension + b"\r\nwhole\r\n" + pick([b"0", b"0" + extension[:50]]) + b"\r\n\r\n")

    def chunk_ends():
        return chunked(pick([b"5\nwhole\r\n0\r\n\r\n", b"5\r\nwhole\n0\r\n\r\n", b"5\r\nwhole\r\n0\n\n", b"5\nwhole\n0\n\n", b"5\r\nwhole0\r\n\r\n", b"5\r\nwholeX\r\n0\r\n\r\n",
                             b"5\rwhole\r0\r\r", b"5\r\nwhole\r\r\n0\r\n\r\n", b"5\r\nwhole\r\n\r\n0\r\n\r\n", b"5\r\nwhole\r\n0\r\n", b"5\r\nwhole\r\n0", b"5\r\nwhole\r\n",
                             b"5\r\nwhole", b"5\r\nwho", b"5\r\nwholeXX0\r\n\r\n", b"5\r\r\nwhole\r\n0\r\n\r\n", b"5\r\nwhole\r\n00\r\n\r\n", b"\r\n5\r\nwhole\r\n0\r\n\r\n"]))

    def trailers():
        section = pick([b"X: y\r\n\r\n", b"X : y\r\n\r\n", b"X\r\n\r\n", b": y\r\n\r\n", b" X: y\r\n\r\n", b"X: y\r\n z\r\n\r\n", b"X: y\n\n", b"X: y\r\r\n\r\n", b"X: \x00\r\n\r\n",
                        b"Content-Length: 3\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n", b"Set-Cookie: a=b\r\n\r\n", b"X: y\r\n", b"X: " + b"y" * 100_000 + b"\r\n\r\n",
                        b"X: y\r\n" * 3_000 + b"\r\n", b"\x80: y\r\n\r\n"])
        return chunked(b"5\r\nwhole\r\n0\r\n" + section)

    def status_line():
        line = pick([b"HTTP/1.2 200 OK", b"HTTP/1.9 200 OK", b"HTTP/2 200 OK", b"HTTP/2.0 200 OK", b"HTTP/0.9 200 OK", b"HTTP/3.1 200 OK", b"http/1.1 200 OK", b"HtTP/1.1 200 OK",
                     b"HTTP/1.1  200 OK", b"HTTP/1.1\t200 OK", b"HTTP/1.1 200", b"HTTP/1.1 200 ", b"HTTP/1.1 200\tOK", b"HTTP/1.1 99 No", b"HTTP/1.1 1000 No", b"HTTP/1.1 20 No",
                     b"HTTP/1.1 2OO OK", b"HTTP/1.1 +20 OK", b"HTTP/1.1 -20 OK", b"HTTP/1.1 000 OK", b"HTTP/1.1 600 OK", b"HTTP/1.1 999 OK", b"HTTP/1.1 200OK", b"ICY 200 OK",
                     b"HTTP/1.10 200 OK", b"HTTP/01.1 200 OK", b"HTTP/1. 200 OK", b"HTTP/.1 200 OK", b"HTTP/1,1 200 OK", b"HTTP 200 OK", b"HTTPS/1.1 200 OK", b" HTTP/1.1 200 OK",
                     b"\r\nHTTP/1.1 200 OK", b"\r\n\r\nHTTP/1.1 200 OK", b"\nHTTP/1.1 200 OK", b"xHTTP/1.1 200 OK", b"HTTP/1.1 200 O\x00K", b"HTTP/1.1 200 O\rK", b"HTTP/1.1 200 \xff",
                     b"HTTP/1.1 200 " + b"x" * 50_000, b"HTTP/1.1 2\xd9\xa00 OK", b"200 OK", b"", b"\xef\xbb\xbfHTTP/1.1 200 OK"])
        return answer(b"Content-Length: 5", status=line)

    def line_ends():
        ends = [pick(lines) for _ in range(4)]
        return b"HTTP/1.1 200 OK" + ends[0] + b"X: y" + ends[1] + b"Content-Length: 5" + ends[2] + ends[3] + BODY

    def field_name():
        name = pick([b"X ", b"X\t", b"", b" ", pick(controls) + b"X", b"X" + pick(controls), pick(high), b"X Y", b"X\"", b"(X)", b"X,", b"X;Y", b"@X", b"{X}", b"[X]", b"X/Y", b"X\\", b"X" * 70_000])
        return answer(name + b": y\r\nContent-Length: 5")

    def no_colon():
        line = pick([b"X", b"X y", b"Content-Length", b"\t", b" : ", b"X=y", b"HTTP/1.1 200 OK"])
        return answer(pick([line + b"\r\nContent-Length: 5", b"Content-Length: 5\r\n" + line]))

    def field_value():
        value = pick([b"y" + pick(controls) + b"z", pick(high), b"y\rz", b"y\nz", b"y\r", b"\x00", b"y" * pick([9_000, 70_000, 300_000])])
        return answer(pick(names) + b": " + value + b"\r\nContent-Length: 5")

    def folded():
        return answer(pick([b"X: y\r\n z\r\nContent-Length: 5", b"X: y\r\n\tz\r\nContent-Length: 5", b" X: y\r\nContent-Length: 5", b"Content-Length:\r\n 5", b"Content-Length: \r\n\t5",
                            b"Content-Length: 5\r\n 0", b"Content-Length: 5\r\n ", b"X: y\n z\r\nContent-Length: 5", b"Transfer-Encoding:\r\n chunked\r\nContent-Length: 5"]))

    def informational():
        before = pick([b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n", b"HTTP/1.1 199 X\r\n\r\n", b"HTTP/1.1 102 P\r\n\r\n" * pick([2, 10, 150]),
                       b"HTTP/1.1 100 C\r\nContent-Length: 5\r\n\r\n", b"HTTP/1.1 100 C\r\nContent-Length: 5\r\n\r\nwhole", b"HTTP/1.1 103 C\r\nTransfer-Encoding: chunked\r\n\r\n",
                       b"HTTP/1.1 100\r\n\r\n", b"HTTP/1.0 100 C\r\n\r\n", b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", b"HTTP/1.1 100 C\n\n"])
        return before + sized()

    def without_content():
        status = pick([b"204 No Content", b"304 Not Modified", b"205 Reset Content"])
        fields = pick([b"", b"Content-Length: 5", b"Content-Length: 0", b"Transfer-Encoding: chunked", b"Content-Length: x"])
        return answer(fields, pick([b"", BODY, good]), b"HTTP/1.1 " + status)

    def cut():
        whole = pick([sized(), chunked(good), sized(b"x" * 10_000), sized(extra=b"Content-Encoding: gzip")])
        return whole[:random.randrange(len(whole))]

    def more_behind():
        first = pick([sized(), chunked(good), answer(b"", b"", b"HTTP/1.1 204 No Content"), sized(b"")])
        return first + pick([b"x", b"\r\n", b"\r\n\r\n", BODY, sized(b"other"), b"HTTP/1.1 400 Bad\r\n\r\n", b"\x00" * 100, b"y" * 100_000])

    def large():
        return pick([answer(b"\r\n".join(b"X-%d: y" % number for number in range(pick([50, 90, 110, 300, 2_000]))) + b"\r\nContent-Length: 5"),
                     answer(b"X: " + b"y" * pick([4_000, 8_100, 16_000, 33_000, 66_000, 140_000, 400_000]) + b"\r\nContent-Length: 5"),
                     answer(b"\r\n".join([b"Set-Cookie: " + b"c" * 2_000] * pick([3, 20, 60])) + b"\r\nContent-Length: 5")])

    def content_coding():
        plain = b"content " * 40
        zipped = gzip.compress(plain, mtime=0)
        name, body = pick([(b"gzip", zipped), (b"gzip", zipped[:-4]), (b"gzip", zipped[:20]), (b"gzip", zipped + b"trailing"), (b"gzip", zipped + zipped), (b"gzip", b""), (b"gzip", BODY),
                           (b"x-gzip", zipped), (b"GZIP", zipped), (b"deflate", zlib.compress(plain)), (b"deflate", zlib.compress(plain)[2:-4]), (b"deflate", BODY),
                           (b"gzip, gzip", gzip.compress(zipped, mtime=0)), (b"gzip, deflate", zlib.compress(zipped)), (b"identity", plain), (b"unknown", plain), (b"gzip, identity", zipped),
                           (b"", plain), (b"gzip;q=1", zipped), (b"gzip", zipped[:-8] + b"\x00" * 8), (b"gzip," * 12 + b"gzip", zipped), (b"gzip", gzip.compress(b"\x00" * 3_000_000, mtime=0))])
        return sized(body, b"Content-Encoding: " + name)

    def connection():
        return sized(extra=pick([b"Connection: close", b"Connection: keep-alive", b"Connection: close, keep-alive", b"Connection: \x80", b"Connection: upgrade\r\nUpgrade: h2c", b"Keep-Alive: timeout=-1",
                                 b"Keep-Alive: timeout=99999999999999999999", b"Connection: content-length", b"Connection: ,,,", b"Proxy-Connection: close"]))

    def fields_of_others():
        return sized(extra=pick([b"Set-Cookie: =", b"Set-Cookie: a=b; Max-Age=-9999999999999999999", b"Set-Cookie: a=b; Expires=Thu, 99 Foo 99999 99:99:99 GMT", b"Set-Cookie: " + b"a" * 9_000 + b"=b",
                                 b"Location: http://[::1/", b"Location: //", b"Content-Type: text/html; charset=nonsense", b"Content-Type: ;;;", b"Content-Disposition: attachment; filename=\"../../x\"",
                                 b"Date: yesterday", b"Age: -1", b"Cache-Control: max-age=99999999999999999999", b"Content-Range: bytes 5-1/3", b"Content-Encoding: ", b"Alt-Svc: h3=\":1\"; ma=-1",
                                 b"Strict-Transport-Security: max-age=x", b"WWW-Authenticate: Digest realm=\"", b"Retry-After: -5", b"Link: <", b"ETag: \"", b"Vary: *", b"Trailer: Content-Length"]))

    def mutated():
        octets = pick([sized(), chunked(good), sized(extra=b"X: y\r\nConnection: close"), chunked(b"3;a=b\r\nwho\r\n2\r\nle\r\n0\r\nT: u\r\n\r\n")])
        for _ in range(random.randint(1, 3)):
            octets = changed(octets, random)
        return octets

    return {name.__name__.replace("_", " "): name for name in [
        well_formed, odd_length, two_lengths, length_and_chunks, odd_coding, chunks_in_1_0, chunk_size, chunk_extension, chunk_ends, trailers, status_line, line_ends, field_name, no_colon,
        field_value, folded, informational, without_content, cut, more_behind, large, content_coding, connection, fields_of_others, mutated]}


def corpus(count=1_000, seed=19):
    """So many items, evenly of every family. A few of each leave the connection open, or come octet by octet."""
    source = random.Random(seed)
    families = list(members(source).items())
    items, seen = [], set()
    for number in range(count):
        name, make = families[number % len(families)]
        octets = make()
        # A family with few members goes on with its members changed in one place.
        for _ in range(20):
            if octets not in seen:
                break
            octets = make()
        while octets in seen and octets:
            octets = changed(octets, source)
        seen.add(octets)
        choice = source.random()
        items.append(Item(name, octets, stays_open=choice < 0.15, piece=1 if choice > 0.9 and len(octets) < 2_000 else 0))
    return items
