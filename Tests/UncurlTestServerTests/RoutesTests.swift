import Testing
import UncurlHTTP1
import UncurlTLS
import UncurlText

@testable import UncurlTestServer

@Suite struct RoutesTests {
    private func ask(
        _ target: String,
        _ method: String = "GET",
        fields: [Pair] = [],
        body: String = "",
        random: UInt64 = 0
    ) -> RouteResponse {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        var request = RouteRequest()
        request.method = method
        request.path = parts[0]
        request.rawQuery = parts.count > 1 ? parts[1] : ""
        request.fields = [Pair(name: "Host", value: "a")] + fields
        request.authority = "a"
        request.body = Array(body.utf8)
        request.bodyLength = UInt64(body.utf8.count)
        request.random = random
        return RouteResponse.respond(to: request)
    }

    private func text(_ response: RouteResponse) -> String {
        guard case .bytes(let bytes) = response.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func json(_ response: RouteResponse) -> JSONTree? {
        guard case .bytes(let bytes) = response.body else { return nil }
        return try? JSONReader.read(bytes)
    }

    private func field(_ name: String, of response: RouteResponse) -> String? {
        response.fields.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    @Test("/get shows args, headers, origin and url as httpbin does")
    func get() {
        let response = ask(
            "/get?b=2&a=1&b=3",
            fields: [Pair(name: "x-tWo", value: "1"), Pair(name: "X-Two", value: "2")]
        )
        #expect(
            text(response) == """
                {
                  "args": {
                    "a": "1",
                    "b": [
                      "2",
                      "3"
                    ]
                  },
                  "headers": {
                    "Host": "a",
                    "X-Two": "1,2"
                  },
                  "origin": "127.0.0.1",
                  "url": "http://a/get?b=2&a=1&b=3"
                }

                """
        )
        #expect(field("content-type", of: response) == "application/json")
    }

    @Test("a body lands in data and json, form or files, by its type")
    func bodies() {
        let plain = json(ask("/post", "POST", body: "{\"a\": [1, 2.50]}"))
        #expect(plain?["data"] == .string("{\"a\": [1, 2.50]}"))
        #expect(plain?["json"] == .object(["a": .array([.integer(1), .number("2.50")])]))
        let type = Pair(name: "Content-Type", value: "application/x-www-form-urlencoded; charset=utf-8")
        let form = json(ask("/put", "PUT", fields: [type], body: "a=1&b=x+y%21&a=2"))
        #expect(form?["form"] == .object(["a": .array([.string("1"), .string("2")]), "b": .string("x y!")]))
        #expect(form?["data"] == .string(""))
        let multipart = Pair(name: "content-type", value: "multipart/form-data; boundary=\"x y\"")
        let parts = """
            --x y\r
            Content-Disposition: form-data; name="field"\r
            \r
            value\r
            --x y\r
            Content-Disposition: form-data; name="file"; filename="a\\"b.txt"\r
            Content-Type: text/plain\r
            \r
            line\r
            --not the boundary\r
            --x y--\r

            """
        let files = json(ask("/anything", "PATCH", fields: [multipart], body: parts))
        #expect(files?["form"] == .object(["field": .string("value")]))
        #expect(files?["files"] == .object(["file": .string("line\r\n--not the boundary")]))
        #expect(files?["method"] == .string("PATCH"))
        #expect(json(ask("/delete", "DELETE", body: "{bad"))?["json"] == .null)
    }

    @Test("JSON in many levels is shown in not much more than its length")
    func deep() throws {
        let zeros = [String](repeating: "0", count: 1_000).joined(separator: ",")
        let body = String(repeating: "[", count: 250) + zeros + String(repeating: "]", count: 250)
        let response = ask("/post", "POST", body: body)
        var shown = try #require(json(response)?["json"])
        for _ in 1..<250 { shown = try #require(shown.items.first) }
        #expect(shown.items.count == 1_000)
        #expect(text(response).utf8.count < 4 * body.utf8.count)
    }

    @Test("octets that are not UTF-8 are shown as a data URL")
    func binaryData() {
        #expect(RouteResponse.text(of: [0xFF, 0x00], type: "image/x") == "data:image/x;base64,/wA=")
    }

    @Test("an unknown path is 404, another method 405 with Allow, OPTIONS shows the methods")
    func methods() {
        #expect(ask("/nothing").status == 404)
        #expect(ask("/get/more").status == 404)
        #expect(ask("/get", "POST").status == 405)
        #expect(field("allow", of: ask("/get", "POST")) == "GET, HEAD, OPTIONS")
        #expect(ask("/post").status == 405)
        #expect(field("allow", of: ask("/post", "OPTIONS")) == "POST, OPTIONS")
        #expect(ask("/brotli").status == 501)
    }

    @Test("every route answers HEAD or names its methods, and no route is silent by mistake")
    func everyRoute() {
        for (name, route) in RouteResponse.table where name != "never" {
            for method in route.methods {
                let response = ask("/\(name)", method)
                #expect((200...501).contains(response.status), "\(method) /\(name)")
                #expect(response.fate != .silence, "\(method) /\(name)")
            }
        }
    }

    @Test("each status has its required fields, and weights decide among several statuses")
    func statuses() {
        #expect(field("location", of: ask("/status/302")) == "/redirect/1")
        #expect(field("www-authenticate", of: ask("/status/401")) == "Basic realm=\"Fake Realm\"")
        guard case .none = ask("/status/204").body else {
            Issue.record("204 has a body")
            return
        }
        #expect(ask("/status/200:0,503:1").status == 503)
        let picked = (0..<64).map { ask("/status/200:1,500:3", random: $0 << 58).status }
        #expect(picked.filter { $0 == 200 }.count == 16)
        for bad in ["", "abc", "100", "1000", "200:x", "200,", "200:-1"] {
            #expect([400, 404].contains(ask("/status/\(bad)").status), "\(bad)")
        }
    }

    @Test("redirects count down and end at /get")
    func redirects() {
        #expect(field("location", of: ask("/redirect/3")) == "/relative-redirect/2")
        #expect(field("location", of: ask("/relative-redirect/1")) == "/get")
        #expect(field("location", of: ask("/absolute-redirect/2")) == "http://a/absolute-redirect/1")
        #expect(field("location", of: ask("/redirect/2?absolute=true")) == "http://a/absolute-redirect/1")
        let there = ask("/redirect-to?url=http%3A%2F%2Fb%2F%3Fx%3D1&status_code=307", "POST")
        #expect(there.status == 307)
        #expect(field("location", of: there) == "http://b/?x=1")
        #expect(ask("/redirect-to?url=/x&statusCode=301").status == 301)
        #expect(ask("/redirect-to?url=/x&status_code=200").status == 400)
        #expect(ask("/redirect-to").status == 400)
        #expect(ask("/redirect/0").status == 400)
    }

    @Test("cookies are shown, set and deleted")
    func cookies() {
        let shown = ask("/cookies", fields: [Pair(name: "Cookie", value: "a=1; b=x=y")])
        #expect(json(shown)?["cookies"] == .object(["a": .string("1"), "b": .string("x=y")]))
        let set = ask("/cookies/set?a=1&b=2")
        #expect(set.status == 302)
        #expect(set.fields.filter { $0.name == "Set-Cookie" }.map(\.value) == ["a=1; Path=/", "b=2; Path=/"])
        #expect(field("set-cookie", of: ask("/cookies/set/n/v%20w")) == "n=v w; Path=/")
        #expect(field("set-cookie", of: ask("/cookies/delete?a"))?.contains("Max-Age=0") == true)
        #expect(ask("/cookies/set?a=1%3B%20Domain=b").status == 400)
    }

    @Test("each protected route accepts its own credentials only")
    func credentials() {
        let good = Pair(name: "Authorization", value: "bAsic " + base64Text(Array("user:pass:word".utf8)))
        #expect(json(ask("/basic-auth/user/pass%3Aword", fields: [good]))?["authenticated"] == .bool(true))
        #expect(ask("/basic-auth/user/other", fields: [good]).status == 401)
        #expect(field("www-authenticate", of: ask("/basic-auth/u/p")) == "Basic realm=\"Fake Realm\"")
        #expect(ask("/hidden-basic-auth/u/p").status == 404)
        #expect(ask("/hidden-basic-auth/user/pass:word", fields: [good]).status == 200)
        let token = Pair(name: "authorization", value: "Bearer abc")
        #expect(json(ask("/bearer", fields: [token]))?["token"] == .string("abc"))
        #expect(ask("/bearer").status == 401)
    }

    @Test("validators decide between whole, 304 and 412")
    func validators() {
        func etag(_ name: String, _ value: String) -> Int {
            ask("/etag/x", fields: [Pair(name: name, value: value)]).status
        }
        #expect(ask("/etag/x").status == 200)
        #expect(etag("If-None-Match", "\"x\"") == 304)
        #expect(etag("If-None-Match", "W/\"x\"") == 304)
        #expect(etag("If-None-Match", "\"y\", *") == 304)
        #expect(etag("If-None-Match", "\"y\"") == 200)
        #expect(etag("If-Match", "\"x\"") == 200)
        #expect(etag("If-Match", "W/\"x\"") == 412)
        #expect(etag("If-Match", "*") == 200)
        #expect(ask("/cache").status == 200)
        #expect(ask("/cache", fields: [Pair(name: "If-Modified-Since", value: "x")]).status == 304)
        #expect(field("cache-control", of: ask("/cache/60")) == "public, max-age=60")
    }

    @Test(
        "a range is honoured, cut or refused by RFC 9110 §14",
        arguments: [
            ("bytes=0-0", 206, "bytes 0-0/30", 1), ("bytes=10-", 206, "bytes 10-29/30", 20),
            ("bytes=-5", 206, "bytes 25-29/30", 5), ("bytes=-99", 206, "bytes 0-29/30", 30),
            ("BYTES=28-99", 206, "bytes 28-29/30", 2), ("bytes=30-", 416, "bytes */30", 0),
            ("bytes=-0", 416, "bytes */30", 0), ("bytes=5-4", 200, nil, 30), ("bytes=0-1,3-4", 200, nil, 30),
            ("lines=0-1", 200, nil, 30), ("bytes=x-1", 200, nil, 30),
            ("bytes=10-99999999999999999999", 206, "bytes 10-29/30", 20), ("bytes=10-x", 200, nil, 30),
            ("bytes=99999999999999999999-", 200, nil, 30),
        ] as [(String, Int, String?, UInt64)]
    )
    func ranges(value: String, status: Int, contentRange: String?, length: UInt64) {
        let response = ask("/range/30", fields: [Pair(name: "Range", value: value)])
        #expect(response.status == status)
        #expect(field("content-range", of: response) == contentRange)
        if case .generated(_, .length(let count)) = response.body {
            #expect(count == length)
        } else {
            #expect(length == 0, "\(response.body)")
        }
    }

    @Test("a HEAD has no range: it gets the fields of the whole")
    func rangeOfHead() {
        let response = ask("/range/30", "HEAD", fields: [Pair(name: "Range", value: "bytes=0-1")])
        #expect(response.status == 200 && field("content-range", of: response) == nil)
    }

    @Test("validators in several field lines are one list, and If-None-Match counts after an If-Match that holds")
    func validatorLists() {
        func etag(_ fields: [(String, String)]) -> Int {
            ask("/etag/x", fields: fields.map { Pair(name: $0.0, value: $0.1) }).status
        }
        #expect(etag([("If-None-Match", "\"y\""), ("if-none-match", "\"x\"")]) == 304)
        #expect(etag([("If-Match", "\"y\""), ("If-Match", "\"x\"")]) == 200)
        #expect(etag([("If-Match", "\"x\""), ("If-None-Match", "\"x\"")]) == 304)
        #expect(etag([("If-Match", "\"y\""), ("If-None-Match", "\"x\"")]) == 412)
        let comma = Pair(name: "If-None-Match", value: "\"y\", \"a,b\"")
        #expect(ask("/etag/a,b", fields: [comma]).status == 304 && ask("/etag/b", fields: [comma]).status == 200)
    }

    @Test("Digest credentials are for the request's own target, and may quote commas and quotes")
    func digestTargets() {
        func status(_ uri: String, for target: String, realm: String = "Fake Realm") -> Int {
            let nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093"
            func hash(_ text: String) -> String { hexText(MessageDigest.md5.hash(Array(text.utf8).span) ?? []) }
            let key = "\(hash("u\"\\:Fake Realm:p")):\(nonce):00000001:c:auth:\(hash("GET:\(uri)"))"
            let text =
                "Digest USERNAME = \"u\\\"\\\\\", realm=\"\(realm)\",nonce=\"\(nonce)\" ,uri=\"\(uri)\", qop=auth,nc=00000001,"
                + " cnonce=\"c\", response=\"\(hash(key))\""
            return ask(target, fields: [Pair(name: "Authorization", value: text)]).status
        }
        let route = "/digest-auth/auth/u%22%5C/p"
        #expect(status(route, for: route) == 200)
        #expect(status("\(route)?x=1,2&realm=a", for: "\(route)?x=1,2&realm=a") == 200)
        #expect(status("http://a\(route)?x", for: "\(route)?x") == 200)
        #expect(status("\(route)?", for: route) == 200)
        #expect(status("\(route)?x=2", for: "\(route)?x=1") == 400)
        #expect(status("/other", for: route) == 400)
        #expect(status(route, for: route, realm: "Other") == 401)
    }

    @Test("If-Range with another validator gets the whole")
    func ifRange() {
        let range = Pair(name: "Range", value: "bytes=0-1")
        #expect(ask("/range/9", fields: [range, Pair(name: "If-Range", value: "\"range9\"")]).status == 206)
        #expect(ask("/range/9", fields: [range, Pair(name: "If-Range", value: "\"old\"")]).status == 200)
    }

    @Test("server-sent events have ids, and a client that reconnects gets the events after its last one")
    func events() {
        func text(_ lastID: String? = nil) -> String? {
            let response = ask(
                "/sse?count=3&delay=0",
                fields: lastID.map { [Pair(name: "Last-Event-ID", value: $0)] } ?? []
            )
            guard case .generated(var body, .chunked) = response.body else { return nil }
            var pieces: [UInt8] = []
            while body.next(into: &pieces) != .end {}
            return String(decoding: pieces, as: UTF8.self)
        }
        #expect(text()?.hasPrefix("id: 1\nevent: count\ndata: {\"number\": 1}\n\nid: 2\n") == true)
        #expect(text("2") == "id: 3\nevent: count\ndata: {\"number\": 3}\n\n")
        #expect(ask("/sse?count=3", fields: [Pair(name: "Last-Event-ID", value: "3")]).status == 204)
        #expect(field("content-type", of: ask("/sse")) == "text/event-stream")
    }

    @Test("numbers out of range are refused with a line that names the range")
    func badNumbers() {
        for target in [
            "/bytes/-1", "/bytes/x", "/bytes/9999999999999999999999", "/range/1e3", "/delay/-1", "/delay/nan",
            "/redirect/99999", "/chunked/x/0", "/drip?numbytes=0", "/drip?code=204", "/freeze?ms=999999",
            "/latency", "/latency?ms=-1", "/sse?count=-1", "/latency?from=2&to=1", "/latency?ms=10001",
            "/headers-large/99999999", "/bytes/1?seed=x", "/stream-bytes/1?chunk_size=0", "/links/0",
        ] {
            let response = ask(target)
            #expect(response.status == 400, "\(target)")
            #expect(text(response).hasSuffix("\n"), "\(target)")
        }
    }

    @Test("a delay takes fractions and is cut at ten seconds")
    func delays() {
        #expect(ask("/delay/0.25").delay == .milliseconds(250))
        #expect(ask("/delay/900").delay == .seconds(10))
    }

    @Test("a latency is fixed, or evenly spread between two ends")
    func latency() {
        #expect(ask("/latency?ms=2.5").delay == .microseconds(2_500))
        #expect(ask("/latency?from=1&to=3", random: 0).delay == .milliseconds(1))
        #expect(ask("/latency?from=1&to=3", random: .max).delay > .microseconds(2_999))
        #expect(ask("/latency?from=1&to=3", random: 1 << 63).delay == .milliseconds(2))
    }

    @Test("UUIDs are version 4, and differ")
    func uuids() throws {
        let uuid = try #require(json(ask("/uuid", random: 5))?["uuid"]?.string)
        let parts = uuid.split(separator: "-").map { Array($0) }
        #expect(parts.map(\.count) == [8, 4, 4, 4, 12])
        #expect(parts[2][0] == "4" && "89ab".contains(parts[3][0]))
        #expect(text(ask("/uuid", random: 6)) != text(ask("/uuid", random: 5)))
    }

    @Test("Base64 and pages of links come as asked")
    func content() {
        #expect(text(ask("/base64/SFRUUEJJTiBpcyBhd2Vzb21l")) == "HTTPBIN is awesome")
        #expect(ask("/base64/!!!").status == 400)
        #expect(field("location", of: ask("/links/3")) == "/links/3/0")
        #expect(text(ask("/links/3/1")).contains("<a href='/links/3/0'>0</a> 1 <a href='/links/3/2'>2</a>"))
        #expect(ask("/links/3/3").status == 404)
    }
}
