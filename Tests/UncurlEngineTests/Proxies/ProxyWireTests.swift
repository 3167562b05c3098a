import ScriptedPeer
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics

@testable import UncurlEngine

/// What goes over the wire to a scripted proxy, and what becomes of its answers.
@Suite("Proxies on the wire", .ownThread, .timeLimit(.minutes(5)))
struct ProxyWireTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private let basicChallenge = bytes(
        "HTTP/1.1 407 Auth\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 4\r\n\r\nwho?"
    )

    private func engine(_ proxy: RawServer, _ kind: Proxy.Kind = .http, _ userInfo: String = "") throws -> EngineHarness
    {
        var configuration = EngineConfiguration()
        // A machine may be busy with other tests for longer than a network should be.
        configuration.timeouts = Timeouts(connect: nil, idle: nil)
        configuration.proxies = OriginProxies(try self.proxy(proxy, kind, userInfo))
        return try EngineHarness(configuration)
    }

    private func proxy(_ server: RawServer, _ kind: Proxy.Kind = .http, _ userInfo: String = "") throws -> Proxy {
        try Proxy(url: "\(kind.rawValue)://\(userInfo)127.0.0.1:\(server.port)")
    }

    /// A plain request that takes a tunnel, since it is to be sent to another place than its origin.
    private func tunnelled(method: String = "GET") throws -> EngineRequest {
        var options = EngineRequest.Options()
        options.endpoint = .host("behind.test", port: 81)
        options.decodesContent = false
        return try EngineRequest(method: method, origin: Origin(host: "origin.test"), options: options)
    }

    private func plain(
        _ target: String = "/x?y",
        method: String = "GET",
        body: Content = .none,
        _ change: (inout EngineRequest.Options) -> Void = { _ in }
    ) throws -> EngineRequest {
        var options = EngineRequest.Options()
        options.decodesContent = false
        change(&options)
        return try EngineRequest(
            method: method,
            origin: Origin(host: "origin.test", port: 8080),
            target: target,
            body: body,
            options: options
        )
    }

    private let head = "GET http://origin.test:8080/x?y HTTP/1.1\r\nHost: origin.test:8080\r\n"
    private let connect = "CONNECT behind.test:81 HTTP/1.1\r\nHost: behind.test:81\r\n"
    private let inside = "GET / HTTP/1.1\r\nHost: origin.test\r\n\r\n"

    // MARK: Absolute-form

    @Test("a plain request goes to the proxy in absolute-form with the origin's Host, and connections are kept")
    func absolute() async throws {
        let proxy = try RawServer.start(otherwise: .answering(ok))
        let engine = try engine(proxy)
        for _ in 0..<2 {
            let result = await engine.run(try plain())
            #expect(result.text == "ok" && result.report?.connection?.proxy?.port == proxy.port)
        }
        #expect(proxy.connections.map(\.receivedText) == [head + "\r\n" + head + "\r\n"])
    }

    @Test("the server-wide OPTIONS has no path in absolute-form, and a pipeline is absolute in each of its heads")
    func otherForms() async throws {
        let proxy = try RawServer.start(otherwise: .answering(ok))
        let engine = try engine(proxy, .http, "u:p@")
        _ = await engine.run(try plain("*", method: "OPTIONS"))
        let host = "Host: origin.test:8080\r\n"
        #expect(proxy.connections[0].receivedText == "OPTIONS http://origin.test:8080 HTTP/1.1\r\n\(host)\r\n")
        let here = try URLHost("127.0.0.1")
        let pipeline = try plain(method: "POST", body: .bytes(bytes("ab"))) {
            $0.pipelineDepth = 2
            $0.proxies = OriginProxies(
                Proxy(
                    .http,
                    host: here,
                    port: proxy.port,
                    credentials: Credentials(user: "u", password: "p"),
                    isPreemptive: true
                )
            )
        }
        #expect(await engine.run(pipeline).outcomes == 2)
        let one =
            "POST http://origin.test:8080/x?y HTTP/1.1\r\n\(host)Content-Length: 2\r\n"
            + "Proxy-Authorization: Basic dTpw\r\n\r\nab"
        #expect(proxy.connections[1].receivedText == one + one)
    }

    @Test(
        "a 407 of the proxy is answered once, on a connection of its own, and never delivered; after it, none is needed"
    )
    func basic() async throws {
        let proxy = try RawServer.start([.answering(basicChallenge)], otherwise: .answering(ok))
        let engine = try engine(proxy, .http, "u:p@")
        let result = await engine.run(try plain())
        #expect(result.text == "ok" && result.status == 200 && result.outcomes == 1)
        #expect(result.report?.retried == true)
        let second = await engine.run(try plain())
        #expect(second.text == "ok" && second.report?.retried == false)
        let authorized = head + "Proxy-Authorization: Basic dTpw\r\n\r\n"
        #expect(proxy.connections.map(\.receivedText) == [head + "\r\n", authorized + authorized])
    }

    @Test("Digest answers cover the absolute target and count up; a body in memory is sent again")
    func digest() async throws {
        let challenge = bytes(
            "HTTP/1.1 407 Auth\r\nProxy-Authenticate: Digest realm=p, nonce=n, qop=auth\r\nContent-Length: 0\r\n\r\n"
        )
        let proxy = try RawServer.start(
            [.answering(challenge)],
            otherwise: [.receive(.headEnd), .receive(.bytes(4)), .send(ok), .startOver]
        )
        let engine = try engine(proxy, .http, "u:p@")
        for _ in 0..<2 {
            let result = await engine.run(try plain(method: "POST", body: .bytes(bytes("body"))))
            #expect(result.text == "ok")
        }
        let sent = proxy.connections[1].receivedText
        #expect(sent.split(separator: "body").count == 2)
        #expect(sent.contains(#"uri="http://origin.test:8080/x?y""#))
        #expect(sent.contains("nc=00000001") && sent.contains("nc=00000002"))
    }

    @Test(
        "a Digest answer to a proxy repeats octets that are no UTF-8, with and without a tunnel",
        arguments: [false, true]
    )
    func opaqueOctets(isTunnelled: Bool) async throws {
        let realm = bytes("realm=\"f") + [0xFC] + bytes("r alle\"")
        let challenge =
            bytes("HTTP/1.1 407 Auth\r\nProxy-Authenticate: Digest ") + realm
            + bytes(", nonce=n, qop=auth\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        let proxy = try RawServer.start(
            [[.receive(.headEnd), .send(challenge), .close]],
            otherwise: isTunnelled
                ? [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\r\n"), .receive(.headEnd), .send(ok)] : .answering(ok)
        )
        let engine = try engine(proxy, .http, "u:p@")
        #expect(await engine.run(isTunnelled ? try tunnelled() : try plain()).text == "ok")
        #expect(proxy.received(1).contains(realm))
    }

    @Test("a 407 that cannot be answered is the proxy's error with its challenges", arguments: ["", "u:p@"])
    func unanswered(userInfo: String) async throws {
        let proxy = try RawServer.start(otherwise: .answering(basicChallenge))
        let engine = try engine(proxy, .http, userInfo)
        let result = await engine.run(try plain())
        guard case .proxy(.authenticationRequired(let refusal)) = result.error else {
            Issue.record("\(result)")
            return
        }
        #expect(refusal.status == 407 && refusal.challenges.first?.realm == "p" && result.head == nil)
        #expect(proxy.connections.count == (userInfo.isEmpty ? 1 : 2))
    }

    @Test("a streamed body that cannot begin anew is not sent again; one that waits for a 100 has not begun")
    func streams() async throws {
        let proxy = try RawServer.start(
            [.answering(basicChallenge), .answering(basicChallenge)],
            otherwise: [.receive(.headEnd), .send("HTTP/1.1 100 C\r\n\r\n"), .receive(.bytes(3)), .send(ok)]
        )
        func stream(_ change: (inout EngineRequest.Options) -> Void = { _ in }) throws -> EngineRequest {
            try plain(method: "POST", body: .stream(length: 3, replayable: false), change)
        }
        let result = await (try engine(proxy, .http, "u:p@")).run(try stream()) {
            $0.bodyParts = [.bytes(bytes("abc"))]
        }
        guard case .proxy(.authenticationRequired) = result.error else {
            Issue.record("\(result)")
            return
        }
        let waiting = try stream {
            $0.expectsContinueAbove = 0
            $0.continueWait = .seconds(60)
        }
        let second = await (try engine(proxy, .http, "u:p@")).run(waiting) { $0.bodyParts = [.bytes(bytes("abc"))] }
        #expect(second.text == "ok" && second.sent == 3)
        let sent = proxy.connections[2].receivedText
        #expect(sent.hasSuffix("Expect: 100-continue\r\nProxy-Authorization: Basic dTpw\r\n\r\nabc"))
    }

    @Test("new credentials answer the last challenge of their proxy at once, and no other proxy gets them unasked")
    func newCredentials() async throws {
        let proxy = try RawServer.start(otherwise: .answering(basicChallenge))
        let other = try RawServer.start(otherwise: .answering(ok))
        let engine = try EngineHarness()
        func run(_ server: RawServer, _ userInfo: String) async throws -> Recorded {
            let own = try self.proxy(server, .http, userInfo)
            return await engine.run(try plain { $0.proxies = OriginProxies(own) })
        }
        for userInfo in ["", "u:p@"] { _ = try await run(proxy, userInfo) }
        let sent = proxy.connections.map(\.receivedText)
        #expect(sent == [head + "\r\n", head + "Proxy-Authorization: Basic dTpw\r\n\r\n"])
        #expect(try await run(other, "u:p@").text == "ok")
        #expect(other.connections.map(\.receivedText) == [head + "\r\n"])
    }

    @Test("without a proxy, and inside a tunnel, a 407 is an answer like any other")
    func foreign407() async throws {
        let server = try RawServer.start(otherwise: .answering(basicChallenge))
        let direct = await (try EngineHarness()).run(try get(server.port))
        #expect(direct.status == 407 && direct.text == "who?")
        let proxy = try RawServer.start(
            otherwise: [
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\r\n"), .receive(.headEnd), .send(basicChallenge),
            ]
        )
        let result = await (try engine(proxy, .http, "u:p@")).run(try tunnelled())
        #expect(result.status == 407 && result.text == "who?" && proxy.connections.count == 1)
    }

    @Test("Proxy-Authorization is not the caller's to set: it would go to the origin")
    func reserved() throws {
        var fields = HTTPFields()
        try fields.append("proxy-authorization", "Basic eA==")
        #expect(throws: EngineError.invalidRequest(.reservedField("Proxy-Authorization"))) {
            try EngineRequest(origin: origin(1), fields: fields)
        }
    }

    @Test("requests with different proxies, or credentials for one, never share a connection")
    func apart() async throws {
        let proxy = try RawServer.start(otherwise: .answering(ok))
        let engine = try EngineHarness()
        for user in ["a", "b", "a"] {
            let own = try self.proxy(proxy, .http, "\(user):p@")
            #expect(await engine.run(try plain { $0.proxies = OriginProxies(own) }).text == "ok")
        }
        #expect(proxy.connections.count == 2)
    }

    @Test("a proxy that does not listen is the proxy's error, not the origin's")
    func unreachable() async throws {
        let proxy = try RawServer.start()
        let engine = try engine(proxy)
        proxy.stop()
        guard case .proxy(.unreachable(let cause)) = await engine.run(try plain()).error else {
            Issue.record("not unreachable")
            return
        }
        #expect(cause.errno == .connectionRefused)
    }

    // MARK: CONNECT

    @Test("a plain upgrade takes a tunnel through a proxy, which would keep it to itself otherwise")
    func upgrade() async throws {
        let proxy = try RawServer.start(
            otherwise: [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\r\n"), .receive(.headEnd), .send(ok)]
        )
        let request = try plain { $0.upgrade = ["websocket"] }
        #expect(await (try engine(proxy)).run(request).text == "ok")
        let sent = proxy.connections[0].receivedText
        #expect(
            sent.hasPrefix("CONNECT origin.test:8080 HTTP/1.1\r\nHost: origin.test:8080\r\n\r\nGET /x?y HTTP/1.1\r\n")
        )
    }

    @Test("a tunnel is asked for with host and port; inside it nothing of the proxy's is sent", .scenario(37))
    func tunnel() async throws {
        let proxy = try RawServer.start(
            otherwise: [
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"), .receive(.headEnd),
                .send(ok),
            ]
        )
        let engine = try engine(proxy, .http, "u:p@")
        #expect(await engine.run(try tunnelled()).text == "ok")
        #expect(proxy.connections.map(\.receivedText) == [connect + "\r\n" + inside])
    }

    @Test("a 407 to CONNECT is answered on the same connection if that is kept, on another if not", .scenario(37))
    func tunnelAuthentication() async throws {
        let open = "HTTP/1.1 200 OK\r\n\r\n"
        let authorized = connect + "Proxy-Authorization: Basic dTpw\r\n\r\n"
        let keeping = try RawServer.start(
            [
                [
                    .receive(.headEnd), .send(basicChallenge), .receive(.headEnd), .send(open), .receive(.headEnd),
                    .send(ok),
                ]
            ]
        )
        var result = await (try engine(keeping, .http, "u:p@")).run(try tunnelled())
        #expect(result.text == "ok")
        #expect(keeping.connections.map(\.receivedText) == [connect + "\r\n" + authorized + inside])
        let closing = bytes("HTTP/1.1 407 Auth\r\nProxy-Authenticate: Basic realm=p\r\nConnection: close\r\n\r\nwho?")
        let second: RawScript = [.receive(.headEnd), .send(open), .receive(.headEnd), .send(ok)]
        for ending in [RawStep.finish, .close] {
            let proxy = try RawServer.start([[.receive(.headEnd), .send(closing), ending]], otherwise: second)
            result = await (try engine(proxy, .http, "u:p@")).run(try tunnelled())
            #expect(result.text == "ok" && result.report?.retried == false)
            #expect(proxy.connections.map(\.receivedText) == [connect + "\r\n", authorized + inside])
        }
    }

    @Test(
        "a proxy that closes after its 407 without a word of it is asked once more, on another connection",
        .scenario(37),
        arguments: ["", "Proxy-Connection: close\r\n"]
    )
    func tunnelClosedUnannounced(field: String) async throws {
        let challenge = bytes(
            "HTTP/1.1 407 Auth\r\nProxy-Authenticate: Basic realm=p\r\n\(field)Content-Length: 4\r\n\r\nwho?"
        )
        let open: RawScript = [
            .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\r\n"), .receive(.headEnd), .send(ok),
        ]
        for ending in [RawStep.finish, .close] {
            let proxy = try RawServer.start([[.receive(.headEnd), .send(challenge), ending]], otherwise: open)
            let result = await (try engine(proxy, .http, "u:p@")).run(try tunnelled())
            #expect(result.text == "ok" && proxy.connections.count == 2)
            let asked = connect + "Proxy-Authorization: Basic dTpw\r\n\r\n" + inside
            #expect(proxy.connections.last?.receivedText == asked)
        }
        // What was begun cannot be asked again, and neither can the first CONNECT of a connection.
        let cut: RawScript = [.receive(.headEnd), .send(challenge), .receive(.headEnd), .send("HTTP/1.1 2"), .finish]
        let proxy = try RawServer.start([cut], otherwise: [.receive(.headEnd), .finish])
        #expect(await (try engine(proxy, .http, "u:p@")).run(try tunnelled()).error == .proxy(.closed(nil)))
        #expect(proxy.connections.count == (field.isEmpty ? 1 : 2))
    }

    @Test("credentials that the proxy rejects are sent once", .scenario(37), arguments: ["", "u:p@"])
    func tunnelRejected(userInfo: String) async throws {
        let proxy = try RawServer.start(otherwise: .answering(basicChallenge))
        let result = await (try engine(proxy, .http, userInfo)).run(try tunnelled())
        guard case .proxy(.authenticationRequired(let refusal)) = result.error else {
            Issue.record("\(result)")
            return
        }
        #expect(refusal.content == bytes("who?") && refusal.challenges.count == 1)
        let asked = proxy.connections.map(\.receivedText).joined().split(separator: "CONNECT").count
        #expect(asked == (userInfo.isEmpty ? 1 : 2))
    }

    @Test(
        "another answer is the proxy's error with its status and its words, never the origin's response",
        .scenario(37)
    )
    func refused() async throws {
        let proxy = try RawServer.start(
            otherwise: .answering(bytes("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\n\r\noops"))
        )
        let engine = try engine(proxy)
        let result = await engine.run(try tunnelled())
        guard case .proxy(.refused(let refusal)) = result.error else {
            Issue.record("\(result)")
            return
        }
        #expect(refusal.status == 502 && refusal.reason == "Bad Gateway" && refusal.content == bytes("oops"))
        #expect(result.head == nil && result.body.isEmpty)
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }

    @Test(
        "bytes behind the 200 belong to the tunnel: no server speaks first, and TLS finds no TLS there",
        .scenario(37)
    )
    func bytesBehind() async throws {
        let proxy = try RawServer.start(otherwise: [
            .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 400 B\r\n\r\n"),
        ])
        let engine = try engine(proxy)
        #expect(await engine.run(try tunnelled()).error == .unsolicitedBytes)
        let secure = try EngineRequest(origin: Origin(scheme: .https, host: "origin.test"))
        guard case .tls = await engine.run(secure).error else {
            Issue.record("the bytes did not reach TLS")
            return
        }
        #expect(proxy.connections[1].receivedText.hasPrefix("CONNECT origin.test:443 HTTP/1.1\r\n"))
    }

    @Test("the proxy ends the connection, at once, inside its head, or by a reset", .scenario(37))
    func ended() async throws {
        for script: RawScript in [
            [.receive(.headEnd), .finish], [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nA: b\r\n"), .finish],
        ] {
            let proxy = try RawServer.start(otherwise: script)
            #expect(await (try engine(proxy)).run(try tunnelled()).error == .proxy(.closed(nil)))
        }
        let proxy = try RawServer.start(otherwise: [.receive(.headEnd), .reset])
        #expect(await (try engine(proxy)).run(try tunnelled()).error == .proxy(.closed(.connectionReset)))
    }

    @Test("a head without end meets its limit, and a silent proxy the limit on connecting", .scenario(37))
    func endless() async throws {
        let endless = try RawServer.start(
            otherwise: [
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n"),
                .flood(bytes("A: \(String(repeating: "b", count: 997))\r\n")),
            ]
        )
        guard case .proxy(.malformedResponse(let error)) = await (try engine(endless)).run(try tunnelled()).error,
            case .limitExceeded(.headBytes) = error.kind
        else {
            Issue.record("no limit")
            return
        }
        let silent = try RawServer.start()
        var configuration = EngineConfiguration()
        configuration.proxies = OriginProxies(try proxy(silent))
        configuration.timeouts.connect = .milliseconds(50)
        #expect(await (try EngineHarness(configuration)).run(try tunnelled()).error == .timedOut(.connect))
    }

    @Test("a cancel while a proxy thinks lets go of its connection", arguments: [Proxy.Kind.http, .socks5h])
    func cancelled(kind: Proxy.Kind) async throws {
        let proxy = try RawServer.start()
        let engine = try engine(proxy, kind)
        let pending = await engine.begin(try tunnelled())
        try proxy.wait(for: 0, "the proxy's first bytes") { !$0.received.isEmpty }
        pending.cancel()
        #expect(await pending.outcome().error == .cancelled)
        await engine.shutdown()
        #expect(await engine.remains == Remains())
        try proxy.wait(for: 0, "the end") { $0.sawFinish || $0.sawReset }
    }
}
