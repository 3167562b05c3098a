import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Uncurl
import UncurlEngine
import UncurlSemantics

/// What is sent after an answer: redirects, credentials, conditions, rests, retries.
enum SequenceCases {
    static var all: [RecordedCase] {
        redirects + places + managersRedirects + challenges + users + proxies + tunnels + retries + managersRetries
            + conditions + rests + resumableUploads + webSockets + otherWebSockets
    }

    private typealias Content = (name: String, method: String, data: Data?, isStream: Bool)

    private static let contents: [Content] = [
        ("GET", "GET", nil, false), ("HEAD", "HEAD", nil, false), ("POST of data", "POST", Sample.small, false),
        ("POST of a stream", "POST", Sample.small, true), ("PUT of data", "PUT", Sample.small, false),
        ("DELETE", "DELETE", nil, false),
    ]

    /// Sends by a task whose delegate follows redirects, gives its stream again, and answers challenges with a user.
    private static func send(
        _ content: Content,
        _ wire: Wire,
        _ session: URLSession,
        _ url: URL? = nil,
        fields: [(String, String)] = [],
        user: String? = nil
    ) async throws -> String {
        var request = SessionCases.request(url ?? wire.url("/first?q=1#f"), content.method, fields)
        if !content.isStream { request.httpBody = content.data }
        let task = content.isStream ? session.uploadTask(withStreamedRequest: request) : session.dataTask(with: request)
        return try await RecordedCase.text(Plain.end(of: task, stream: content.data, user: user)) + " "
    }

    // MARK: Redirects

    private static var redirects: [RecordedCase] {
        [301, 302, 303, 307, 308].flatMap { status in
            contents.flatMap { content in
                ["", "OTHER"].map { place in
                    RecordedCase(
                        "\(status) for \(content.name) to \(place.isEmpty ? "the same" : "another") origin",
                        answers: [reply("\(status) Go", "Location: \(place)/next", "Set-Cookie: a=1"), Wire.ok],
                        hasOther: true
                    ) { wire in
                        let session = wire.session {
                            $0.httpAdditionalHeaders = ["X-Session": "1", "Authorization": "s"]
                        }
                        defer { session.invalidateAndCancel() }
                        let own = [("X-Own", "1"), ("Cookie", "own=1"), ("Content-Type", "a/b"), ("Referer", "r")]
                        return try await send(content, wire, session, fields: own)
                    }
                }
            }
        }
    }

    private static var places: [RecordedCase] {
        ["?x", "//127.0.0.1:1/y", "../z#g", "", "mailto:a", "http://u:p@127.0.0.1:1/"].map { place in
            RecordedCase("a redirect to “\(place)”", answers: [reply("302 Found", "Location: \(place)"), Wire.ok]) {
                let session = $0.session { $0.connectionProxyDictionary = [:] }
                defer { session.invalidateAndCancel() }
                var request = SessionCases.request($0.url("/a/b/c?d#e"), "GET")
                request.terms.endpoint = .host("127.0.0.1", port: UInt16($0.port))
                return try await SessionCases.send(request, session)
            }
        }
    }

    private static let behaviors: [(name: String, behavior: RedirectBehavior)] = [
        ("followed", .follow), ("not followed", .doNotFollow),
        (
            "changed",
            .modify { _, request, _ in
                var request = request
                request.setValue("1", forHTTPHeaderField: "X-Changed")
                return request
            }
        ),
    ]

    private static var managersRedirects: [RecordedCase] {
        behaviors.map { name, behavior in
            RecordedCase("a manager's redirect, \(name)", answers: [reply("307 Go", "Location: /next"), Wire.ok]) {
                var request = HTTPRequest(.post, "first", parameters: ["a": 1], headers: ["X-Own": "1"])
                request.options.redirects = behavior
                return await RecordedCase.text($0.manager().response(to: request, serializer: .data))
            }
        }
    }

    // MARK: Credentials

    private static let schemes = [
        ("Basic", #"Basic realm="r""#),
        ("Digest MD5", #"Digest realm="r", nonce="n", qop="auth", opaque="o""#),
        ("Digest SHA-256", #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256, userhash=true"#),
        ("Digest without qop", #"Digest realm="r", nonce="n""#),
        ("Digest of sessions", #"Digest realm="r", nonce="n", qop="auth,auth-int", algorithm=MD5-sess"#),
        ("Digest and Basic", #"Basic realm="b", Digest realm="r", nonce="n", qop="auth""#),
        ("an unknown scheme", "Own x"),
    ]

    private static var challenges: [RecordedCase] {
        schemes.flatMap { scheme in
            contents.map { content in
                RecordedCase(
                    "\(scheme.0) for \(content.name), twice",
                    answers: [reply("401 No", "WWW-Authenticate: \(scheme.1)"), Wire.ok, Wire.ok]
                ) { wire in
                    let session = wire.session()
                    defer { session.invalidateAndCancel() }
                    let first = try await send(content, wire, session, user: "me")
                    return try await first + send(content, wire, session, user: "me")
                }
            }
        }
    }

    private static var users: [RecordedCase] {
        [
            RecordedCase("user of the URL", answers: [reply("401 No", "WWW-Authenticate: \(schemes[0].1)"), Wire.ok]) {
                let url = URL(string: "http://u%20v:p%3A@127.0.0.1:\($0.port)/x")!
                return try await SessionCases.send(URLRequest(url: url), $0.session())
            },
            RecordedCase(
                "a refused user",
                answers: [String](repeating: reply("401 No", "WWW-Authenticate: \(schemes[0].1)"), count: 3)
            ) {
                let session = $0.session()
                defer { session.invalidateAndCancel() }
                return try await send(contents[0], $0, session, user: "me")
            },
            RecordedCase(
                "a stale nonce",
                answers: [
                    reply("401 No", "WWW-Authenticate: \(schemes[1].1)"),
                    reply("401 No", #"WWW-Authenticate: Digest realm="r", nonce="n2", qop="auth", stale=true"#),
                    Wire.ok,
                ]
            ) {
                let session = $0.session()
                defer { session.invalidateAndCancel() }
                return try await send(contents[2], $0, session, user: "me")
            },
            RecordedCase(
                "a credential of a storage",
                answers: [reply("401 No", "WWW-Authenticate: \(schemes[0].1)"), Wire.ok]
            ) {
                let space = URLProtectionSpace(
                    host: "127.0.0.1",
                    port: $0.port,
                    protocol: "http",
                    realm: "r",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic
                )
                let session = $0.session()
                let known = URLCredential(user: "stored", password: "p", persistence: .forSession)
                session.configuration.urlCredentialStorage?.setDefaultCredential(known, for: space)
                return try await SessionCases.send(URLRequest(url: $0.url()), session)
            },
            RecordedCase(
                "a manager's credential",
                answers: [reply("401 No", "WWW-Authenticate: \(schemes[0].1)"), Wire.ok]
            ) {
                var request = HTTPRequest(.post, "p", parameters: ["a": 1])
                request.options.credential = URLCredential(user: "u", password: "p", persistence: .none)
                return await RecordedCase.text($0.manager().response(to: request, serializer: .data))
            },
        ]
    }

    // MARK: Proxies

    private static var proxies: [RecordedCase] {
        schemes.dropLast().flatMap { scheme in
            ["http://h.test:81/a?b", "https://h.test/a", "ws://h.test/a"].flatMap { url in
                [true, false].map { knowsUser in
                    let asks = "head " + reply("407 No", "Proxy-Authenticate: \(scheme.1)")
                    let end = "head " + (url.hasPrefix("http:") ? Wire.ok : reply("502 No"))
                    return RecordedCase(
                        "\(url) by a proxy that asks for \(scheme.0)\(knowsUser ? "" : ", without a user")",
                        answers: [asks, end],
                        later: [[end]]
                    ) { wire in
                        let session = wire.session { configuration in
                            var proxies: [AnyHashable: Any] = [:]
                            for kind in ["HTTP", "HTTPS"] {
                                proxies["\(kind)Enable"] = 1
                                proxies["\(kind)Proxy"] = "127.0.0.1"
                                proxies["\(kind)Port"] = wire.port
                            }
                            if knowsUser {
                                (proxies["kCFProxyUsernameKey"], proxies["kCFProxyPasswordKey"]) = ("u", "p")
                            }
                            configuration.connectionProxyDictionary = proxies
                        }
                        defer { session.invalidateAndCancel() }
                        let place = URL(string: url)!
                        guard url.hasPrefix("ws") else {
                            return try await SessionCases.send(URLRequest(url: place), session)
                        }
                        return try await RecordedCase.text(Plain.end(of: session.webSocketTask(with: place)))
                    }
                }
            }
        }
    }

    private static var tunnels: [RecordedCase] {
        contents.map { content in
            RecordedCase("\(content.name) in a tunnel", scripts: { _ in [Wire.tunnel] }) { wire in
                let session = wire.session {
                    let place = ProxyConfiguration.Endpoint.hostPort(host: "127.0.0.1", port: UInt16(wire.port))
                    let proxy = ProxyConfiguration(httpCONNECTProxy: place)
                    proxy.applyCredential(username: "u", password: "p")
                    $0.proxyConfigurations = [proxy]
                }
                defer { session.invalidateAndCancel() }
                return try await send(content, wire, session, URL(string: "http://h.test/x"))
            }
        }
    }

    // MARK: Retries

    private static var retries: [RecordedCase] {
        contents.map { content in
            RecordedCase("\(content.name) after the reset of a kept connection", answers: [Wire.ok, "reset"]) { wire in
                let session = wire.session()
                defer { session.invalidateAndCancel() }
                let first = try await send(contents[0], wire, session)
                return try await first + send(content, wire, session)
            }
        }
    }

    private static var managersRetries: [RecordedCase] {
        [HTTPMethod.get, .post, .put].flatMap { method in
            ["503 Later", "429 Much"].map { status in
                RecordedCase(
                    "a manager's retry of \(method) after \(status)",
                    answers: [reply(status), reply(status), Wire.ok]
                ) {
                    let manager = $0.manager()
                    manager.clock = ImmediateClock()
                    manager.interceptors = [
                        .adapting { request, attempt in
                            var request = request
                            request.setValue("\(attempt.retryCount)", forHTTPHeaderField: "X-Attempt")
                            return request
                        },
                        RetryPolicy(),
                    ]
                    let request = HTTPRequest(method, "p", parameters: ["a": 1])
                    return await RecordedCase.text(manager.response(to: request, serializer: .data))
                }
            }
        }
    }

    // MARK: Conditions and parts

    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    private static let validators: [(name: String, fields: String)] = [
        ("an entity tag", "ETag: \"v1\"\r\n"), ("a weak entity tag", "ETag: W/\"v1\"\r\n"),
        ("a date", "Last-Modified: \(date)\r\nDate: Mon, 07 Nov 1994 08:49:37 GMT\r\n"),
        ("both", "ETag: \"v1\"\r\nLast-Modified: \(date)\r\n"), ("neither", "X-Plain: 1\r\n"),
        ("an entity tag and Vary", "ETag: \"v1\"\r\nVary: X-Own\r\n"),
    ]

    private static var conditions: [RecordedCase] {
        validators.flatMap { validator in
            [nil, .reloadRevalidatingCacheData, .reloadIgnoringLocalCacheData].flatMap {
                (policy: URLRequest.CachePolicy?) in
                ["max-age=0", "max-age=600"].map { age in
                    let kept =
                        "HTTP/1.1 200 OK\r\nCache-Control: \(age)\r\n\(validator.fields)Content-Length: 2\r\n\r\nok"
                    let same = "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n"
                    return RecordedCase(
                        "stored with \(validator.name), \(age), policy \(policy.map { "\($0.rawValue)" } ?? "of the protocol")",
                        answers: [kept] + [String](repeating: same, count: 7)
                    ) { wire in
                        let session = wire.session { $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0) }
                        defer { session.invalidateAndCancel() }
                        var text = ""
                        for (round, method) in ["GET", "GET", "GET", "HEAD"].enumerated() {
                            var request = SessionCases.request(wire.url(), method, [("X-Own", "\(round / 2)")])
                            if round > 0, let policy { request.cachePolicy = policy }
                            text += try await RecordedCase.text(session.data(for: request).1) + " "
                        }
                        return text
                    }
                }
            }
        }
    }

    private static var rests: [RecordedCase] {
        validators.flatMap { validator in
            ["206", "200", "416"].map { status in
                let cut = "HTTP/1.1 200 OK\r\n\(validator.fields)Content-Length: 20\r\n\r\n0123456789"
                let part = reply(
                    "206 Partial Content",
                    validator.fields + "Content-Range: bytes 10-19/20",
                    content: "abcdefghij"
                )
                let answer = status == "206" ? part : reply("\(status) X", content: "whole")
                return RecordedCase(
                    "the rest of a download with \(validator.name), \(status)",
                    scripts: { _ in
                        [
                            [.receive(.headEnd), .send(cut), .finish],
                            [
                                .receive(.headEnd), .send(answer), .receive(.headEnd),
                                .send(reply("200 OK", content: "all")),
                            ],
                        ]
                    }
                ) { wire in
                    let session = wire.session()
                    defer { session.invalidateAndCancel() }
                    do {
                        _ = try await session.download(for: SessionCases.request(wire.url(), "GET", [("X-Own", "1")]))
                        return "whole at once"
                    } catch let error as URLError {
                        guard let data = error.downloadTaskResumeData else { return "nothing to resume" }
                        return try await RecordedCase.text(session.download(resumeFrom: data).1)
                    }
                }
            }
        }
    }

    // MARK: Uploads that resume

    private static let drafts: [URLSessionConfiguration.ResumableUploadVersion] = [.three, .five, .six]

    private static var resumableUploads: [RecordedCase] {
        drafts.flatMap { draft in
            ["data", "file", "stream"].flatMap { kind in
                ["whole", "cut", "cut and forgotten"].map { course in
                    RecordedCase(
                        "upload of a \(kind) by draft \(draft.rawValue), \(course)",
                        scripts: { _ in
                            scripts(draft, course)
                        }
                    ) { wire in
                        let session = wire.session { $0.resumableUploads = draft }
                        defer { session.invalidateAndCancel() }
                        let fields = [("Content-Type", "a/b"), ("X-Own", "1"), ("Authorization", "own")]
                        let request = SessionCases.request(wire.url("/files"), "POST", fields)
                        switch kind {
                        case "data":
                            return try await RecordedCase.text(session.upload(for: request, from: Sample.small).1)
                        case "file":
                            let file = try wire.file(Sample.small)
                            return try await RecordedCase.text(session.upload(for: request, fromFile: file).1)
                        default:
                            let task = session.uploadTask(withStreamedRequest: request)
                            return try await RecordedCase.text(Plain.end(of: task, stream: Sample.small))
                        }
                    }
                }
            }
        }
    }

    static func scripts(
        _ draft: URLSessionConfiguration.ResumableUploadVersion,
        _ course: String
    ) -> [RawScript] {
        let version = "Upload-Draft-Interop-Version: \(draft.rawValue)"
        let isOpen = draft == .three ? "Upload-Incomplete: ?1" : "Upload-Complete: ?0"
        let isEnd = draft == .three ? "Upload-Incomplete: ?0" : "Upload-Complete: ?1"
        let place = "HTTP/1.1 104 Upload Resumption Supported\r\n\(version)\r\nLocation: /7\r\n\r\n"
        let end = reply("201 Created", version, isEnd)
        guard course != "whole" else { return [[.receive(.request), .send(place + end)]] }
        let offset = "HTTP/1.1 204 No Content\r\nUpload-Offset: 4\r\n\(isOpen)\r\n\(version)\r\n\r\n"
        let asked = course == "cut" ? offset : reply("404 Not Found")
        return [
            [.receive(.request), .send(place), .reset],
            [.receive(.headEnd), .send(asked), .receive(.request), .send(end)],
        ]
    }

    // MARK: WebSockets

    private static var webSockets: [RecordedCase] {
        let redirect = reply("302 Found", "Location: /next")
        let challenge = reply("401 No", "WWW-Authenticate: Basic realm=\"r\"")
        let answers = [[reply("400 No")], [redirect, reply("400 No")], [challenge, reply("400 No")]]
        return answers.enumerated().flatMap { number, answers in
            [nil, ["one", "two"]].map { (protocols: [String]?) in
                RecordedCase("WebSocket \(number)\(protocols == nil ? "" : " with protocols")", answers: answers) {
                    wire in
                    let session = wire.session {
                        $0.httpAdditionalHeaders = ["X-Session": "1", "Sec-WebSocket-Key": "no"]
                    }
                    defer { session.invalidateAndCancel() }
                    let place = URL(string: "ws://127.0.0.1:\(wire.port)/socket?q")!
                    let task =
                        protocols.map { session.webSocketTask(with: place, protocols: $0) }
                        ?? session.webSocketTask(with: place)
                    return try await RecordedCase.text(Plain.end(of: task, user: "me"))
                }
            }
        }
    }

    private static var otherWebSockets: [RecordedCase] {
        [
            RecordedCase("WebSocket with fields", answers: [reply("400 No")]) { wire in
                let place = URL(string: "ws://127.0.0.1:\(wire.port)")!
                let fields = [("X-Own", "1"), ("Sec-WebSocket-Version", "8"), ("Upgrade", "x"), ("Origin", "o")]
                let session = wire.session()
                defer { session.invalidateAndCancel() }
                return try await RecordedCase.text(
                    Plain.end(of: session.webSocketTask(with: SessionCases.request(place, "GET", fields)))
                )
            },
            RecordedCase("a manager's WebSocket", answers: [reply("400 No")]) { wire in
                let manager = wire.manager()
                let task = try manager.webSocketTask(
                    "ws://127.0.0.1:\(wire.port)/x",
                    protocols: ["p"],
                    headers: ["X-A": "1"]
                )
                return try await RecordedCase.text(Plain.end(of: task))
            },
        ]
    }
}
