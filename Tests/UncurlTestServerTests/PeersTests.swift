import TestSupport
import Testing

@testable import UncurlTestServer

/// Clients that are not ours, against the server. `./dev test` installs them.
@Suite(.ownThread)
struct PeersTests {
    @Test("curl agrees with the server on every kind of response")
    func curl() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        func fetch(_ options: String, _ path: String) throws -> EndedProgram {
            try EndedProgram(shell: "curl -s -m 60 \(options) '\(server.url(path))' 2>&1")
        }
        #expect(try fetch("", "/").out == "Uncurl test server\n")
        #expect(try fetch("--compressed", "/gzip").out.contains("\"gzipped\": true"))
        #expect(try fetch("--compressed", "/deflate").out.contains("\"deflated\": true"))
        #expect(try fetch("--compressed", "/deflate?raw=1").out.contains("\"deflated\": true"))
        #expect(try fetch("-L", "/redirect/5").out.contains("/get"))
        #expect(try fetch("-b '' -L", "/cookies/set/a/1").out.contains("\"a\": \"1\""))
        #expect(try fetch("-u user:pass", "/basic-auth/user/pass").out.contains("\"user\": \"user\""))
        #expect(try fetch("--digest -u u:p", "/digest-auth/auth/u/p?x=1,2").out.contains("\"user\": \"u\""))
        #expect(try fetch("-r 2-4", "/range/26").out == "cde")
        #expect(try fetch("", "/chunked/3/0").out == "chunk\nchunk\nchunk\n")
        #expect(try fetch("-0", "/chunked/3/0").out == "chunk\nchunk\nchunk\n")
        #expect(try fetch("", "/close").out == "until the end\nuntil the end\nuntil the end\n")
        #expect(try fetch("-d a=1 -d b=2", "/post").out.contains("\"b\": \"2\""))
        #expect(try fetch("-F f=@/dev/null\\;filename=x -F g=h", "/post").out.contains("\"g\": \"h\""))
        #expect(try fetch("-I", "/bytes/77").out.contains("Content-Length: 77\r\n"))
        #expect(try fetch("-X OPTIONS -i", "/get").out.contains("Allow: GET, HEAD, OPTIONS\r\n"))
        #expect(try fetch("-o /dev/null -w '%{size_download}'", "/stream-bytes/100000?chunk_size=777").out == "100000")
        #expect(try fetch("-i", "/hints").out.hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: "))
        #expect(try fetch("-o /dev/null", "/truncate").status == 18)
        #expect(try fetch("-o /dev/null", "/reset").status == 56)
        let upload = try fetch("-H 'Expect: 100-continue' -v --data-binary @/proc/self/exe", "/upload").out
        #expect(upload.contains("HTTP/1.1 100 Continue") && upload.contains("\"bytes\": "))
        #expect(!upload.contains("timed out waiting"))
    }

    @Test("Python's http.client reads what the server sends")
    func python() throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let script = """
            import http.client, json
            c = http.client.HTTPConnection("127.0.0.1", \(server.port), timeout=60)
            def get(path, method="GET", **rest):
                c.request(method, path, **rest)
                r = c.getresponse()
                return r.status, r.read(), r
            for path in ["/get", "/json", "/anything/x?a=1", "/ip", "/headers", "/user-agent", "/uuid", "/cookies"]:
                status, body, _ = get(path)
                assert status == 200 and isinstance(json.loads(body), dict), path
            for n in [0, 1, 16384, 16385, 300000]:
                assert len(get(f"/bytes/{n}")[1]) == n
            assert get("/bytes/100")[1] == get("/bytes/20000")[1][:100] == get("/bytes/100?seed=0")[1]
            body = bytes(range(256)) * 1000
            assert get("/echo", "POST", body=body)[1] == body
            pieces = iter([b"one", b"", b"two"])
            assert get("/echo", "POST", body=pieces, encode_chunked=True,
                       headers={"Transfer-Encoding": "chunked"})[1] == b"onetwo"
            sent = {"a": [1, 2.5, None, "\\u00e9\\U0001f680"], "b": {"c": True}}
            assert json.loads(get("/post", "POST", body=json.dumps(sent))[1])["json"] == sent
            assert [json.loads(l)["id"] for l in get("/stream/5")[1].splitlines()] == [0, 1, 2, 3, 4]
            assert get("/trailers")[1] == b"piece\\n" * 3
            assert get("/status/299")[0] == 299 and get("/", "HEAD")[1] == b""
            assert len(get("/headers-large/30000")[2].getheader("X-Large-Fill")) > 25000
            assert get("/image/png")[1][:8] == b"\\x89PNG\\r\\n\\x1a\\n" and get("/image/jpeg")[1][-2:] == b"\\xff\\xd9"
            import zlib
            assert zlib.decompress(get("/deflate")[1]) and zlib.decompress(get("/deflate?raw=1")[1], -15)
            import gzip
            assert gzip.decompress(get("/gzip")[1])
            try: get("/download/1000?shouldProduceError=true")
            except http.client.IncompleteRead as e: assert len(e.partial) == 500
            else: assert False
            print("agreed")
            """
        let run = try EndedProgram(shell: "python3 - 2>&1 <<'EOF'\n\(script)\nEOF\n")
        #expect(run.out == "agreed\n")
        #expect(server.connectionsAccepted == 1)
    }
}
