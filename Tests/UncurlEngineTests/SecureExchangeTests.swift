import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlTLS
import UncurlTestServer

@testable import UncurlEngine

@Suite("Exchanges over TLS", .ownThread)
struct SecureExchangeTests {
    /// Trusts the test authority and nothing else.
    private func trusting(_ change: (inout TLSConfiguration) -> Void = { _ in }) throws -> TLSContext {
        var configuration = TLSConfiguration()
        configuration.roots = .pem(try TestCertificates.localhost.authorityPEM)
        change(&configuration)
        return try TLSContext(configuration)
    }

    private func server(
        _ identity: TestCertificates.Identity? = nil,
        _ change: (inout TLSServerConfiguration) -> Void = { _ in }
    ) throws -> TestServer {
        let identity = try identity ?? TestCertificates.localhost
        var configuration = TLSServerConfiguration(
            certificate: .init(chain: bytes(identity.chainPEM), key: bytes(identity.keyPEM))
        )
        change(&configuration)
        return try TestServer.start(tls: try TLSServerContext(configuration))
    }

    private func engine(
        _ context: TLSContext?,
        clock: ManualClock? = nil,
        _ change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> EngineHarness {
        var configuration = EngineConfiguration()
        configuration.tls = context
        change(&configuration)
        return try EngineHarness(configuration, clock: clock)
    }

    private func get(
        _ server: TestServer,
        _ target: String,
        _ fields: HTTPFields = HTTPFields(),
        _ change: (inout EngineRequest.Options) -> Void = { _ in }
    )
        throws -> EngineRequest
    {
        var options = EngineRequest.Options()
        change(&options)
        return try EngineRequest(origin: origin(server), target: target, fields: fields, options: options)
    }

    private func origin(_ server: TestServer, _ host: String = "127.0.0.1") throws -> Origin {
        try Origin(scheme: .https, host: host, port: server.port)
    }

    @Test("a trusted server answers, and the report says what was agreed on and when")
    func answered() async throws {
        let (server, engine) = (try server(), try engine(try trusting()))
        let result = await engine.run(try get(server, "/bytes/100000?seed=1"))
        #expect(result.status == 200 && result.body.count == 100_000 && result.succeeded)
        let record = try #require(result.report?.connection)
        let security = try #require(record.security)
        #expect(security.version == .v1_3 && !security.isResumed && security.chain != nil)
        let (start, end) = (try #require(record.handshake.start), try #require(record.handshake.end))
        #expect(record.timings.connectEnd <= start && start < end)
        let again = await engine.run(try get(server, "/get"))
        #expect(again.succeeded && again.report?.reusedConnection == true)
    }

    @Test("a server of an unknown authority is not trusted, and nothing is sent to it")
    func untrusted() async throws {
        let server = try server()
        let other = try TestCertificates.identity(["DNS:localhost"])
        var configuration = TLSConfiguration()
        configuration.roots = .pem(other.authorityPEM)
        let engine = try engine(try TLSContext(configuration))
        let result = await engine.run(try get(server, "/get"))
        guard case .tls(.untrusted)? = result.error else {
            Issue.record("\(String(describing: result.error))")
            return
        }
        #expect(server.requestCount == 0)
        #expect(await engine.remains == Remains())
    }

    @Test("content goes out and comes back as it is, with a length, chunked and paused")
    func largeContent() async throws {
        let (server, engine) = (try server(), try engine(try trusting()))
        let body = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let echo = try EngineRequest(method: "POST", origin: origin(server), target: "/echo", body: .bytes(body))
        let whole = await engine.run(echo)
        #expect(whole.body == body && whole.sent == body.count)
        let stream = try EngineRequest(
            method: "POST",
            origin: origin(server),
            target: "/echo",
            body: .stream(length: nil, replayable: false)
        )
        let chunked = await engine.run(stream) { recorder in
            recorder.bodyParts =
                stride(from: 0, to: body.count, by: 100_000).map { .bytes(Array(body[$0..<$0 + 100_000])) }
                + [.end(trailers: nil)]
        }
        #expect(chunked.body == body)
        let received = Counter()
        let pending = await engine.begin(echo) { $0.pauseAtFirstBytes(counting: received) }
        await received.reaches(1)
        pending.resume()
        #expect(await pending.outcome().body == body)
    }

    @Test("a connection that is opened anew resumes the session of the last, with TLS 1.3 and 1.2")
    func resumption() async throws {
        for version in [TLSVersion.v1_3, .v1_2] {
            let server = try server()
            let engine = try engine(try trusting { $0.maximumVersion = version }) { $0.exchangesPerConnection = 1 }
            var resumed = 0
            for _ in 0...100 {
                let result = await engine.run(try get(server, "/get"))
                let security = try #require(result.report?.connection?.security)
                #expect(result.succeeded && security.version == version)
                if security.isResumed { resumed += 1 }
            }
            #expect(resumed >= 99, "\(version): \(resumed) of 100")
        }
    }

    @Test("connections of one context never serve requests of another")
    func contextsApart() async throws {
        let server = try server()
        let (one, other) = (try trusting(), try trusting { $0.maximumVersion = .v1_2 })
        let engine = try engine(one)
        let first = await engine.run(try get(server, "/get"))
        let second = await engine.run(try get(server, "/get") { $0.tls = other })
        let third = await engine.run(try get(server, "/get") { $0.tls = one })
        #expect(first.succeeded && second.succeeded && third.succeeded)
        #expect(second.report?.reusedConnection == false && second.report?.connection?.security?.version == .v1_2)
        #expect(await engine.statistics.idle >= 2)
    }

    @Test("connections and tickets made under one request's evaluator serve no request with another")
    func evaluatorsApart() async throws {
        let server = try server()
        let (one, other) = (Answering(.accept, scope: "one"), Answering(.accept, scope: "other"))
        var configuration = TLSConfiguration()
        configuration.roots = .pem(try TestCertificates.client.authorityPEM)
        configuration.asksAboutTrust = true
        let engine = try engine(try TLSContext(configuration))
        var facts: [String] = []
        for (evaluator, closes) in [
            (one, false), (other, false), (one, true), (other, true), (one, true), (other, true),
        ] {
            var fields = HTTPFields()
            if closes { try fields.append("Connection", "close") }
            let result = await engine.run(try get(server, "/get", fields) { $0.trustEvaluator = evaluator })
            #expect(result.succeeded)
            let isResumed = result.report?.connection?.security?.isResumed == true
            facts.append(result.report?.reusedConnection == true ? "kept" : isResumed ? "resumed" : "new")
        }
        #expect(facts == ["new", "new", "kept", "kept", "resumed", "resumed"])
        // Without an evaluator, the rules decide.
        #expect(await !engine.run(try get(server, "/get")).succeeded)
    }

    @Test("another server name is asked for and verified than the URL's host")
    func serverName() async throws {
        let identity = try TestCertificates.identity(["DNS:inner.test"])
        let server = try server(identity)
        let engine = try engine(try trusting { $0.roots = .pem(identity.authorityPEM) })
        #expect(await engine.run(try get(server, "/get")).error != nil)
        let named = await engine.run(try get(server, "/get") { $0.serverName = "inner.test" })
        #expect(named.succeeded)
    }

    @Test("an evaluator may answer later and from another thread, either way")
    func evaluator() async throws {
        let server = try server()
        for accepts in [true, false] {
            let evaluator = Answering(accepts ? .accept : .reject(reason: "not today"))
            var configuration = TLSConfiguration()
            configuration.roots = .pem(try TestCertificates.client.authorityPEM)
            configuration.asksAboutTrust = true
            let engine = try engine(try TLSContext(configuration)) { $0.trustEvaluator = evaluator }
            let result = await engine.run(try get(server, "/get"))
            #expect(evaluator.asked.value == 1)
            #expect(result.succeeded == accepts)
            guard !accepts else { continue }
            guard case .tls = result.error else {
                Issue.record("\(String(describing: result.error))")
                continue
            }
        }
    }

    @Test(
        "an evaluator is asked about each connection, resumed ones too, and a server it accepted once may be refused",
        arguments: TLSVersion.allCases
    )
    func evaluatorAgain(version: TLSVersion) async throws {
        let server = try server()
        let context = try trusting {
            $0.roots = .pem(try! TestCertificates.client.authorityPEM)
            $0.asksAboutTrust = true
            $0.maximumVersion = version
        }
        let accepting = Answering(.accept)
        let lax = try engine(context) {
            $0.trustEvaluator = accepting
            $0.exchangesPerConnection = 1
        }
        for round in 0..<3 {
            let result = await lax.run(try get(server, "/get"))
            #expect(result.report?.connection?.security?.isResumed == (round > 0))
        }
        #expect(accepting.asked.value == 3)
        for verdict in [TrustVerdict.builtIn, .reject(reason: "not today")] {
            let refusing = Answering(verdict)
            let strict = try engine(context) { $0.trustEvaluator = refusing }
            guard case .tls? = await strict.run(try get(server, "/get")).error else {
                Issue.record("accepted by \(verdict)")
                continue
            }
            #expect(refusing.asked.value == 1)
        }
    }

    @Test("an evaluator that never answers runs into its own limit; its exchange may be cancelled before")
    func silentEvaluator() async throws {
        let server = try server()
        let evaluator = Answering(nil)
        let context = try trusting { $0.asksAboutTrust = true }
        let impatient = try engine(context) {
            $0.trustEvaluator = evaluator
            $0.trustTimeout = .milliseconds(10)
        }
        #expect(await impatient.run(try get(server, "/get")).error == .timedOut(.trustDecision))
        let limited = try engine(context) { $0.trustEvaluator = Answering(nil, within: .milliseconds(10)) }
        #expect(await limited.run(try get(server, "/get")).error == .timedOut(.trustDecision))
        let patient = try engine(context) { $0.trustEvaluator = evaluator }
        let pending = await patient.begin(try get(server, "/get"))
        await evaluator.asked.reaches(2)
        pending.cancel()
        #expect(await pending.outcome().error == .cancelled)
        await patient.shutdown()
        #expect(await patient.remains == Remains())
    }

    @Test("a server that wants a certificate gets ours, and does not answer without")
    func clientCertificate() async throws {
        let client = try TestCertificates.client
        let server = try server { $0.clientCertificate = .required(bytes(client.authorityPEM)) }
        let mine = try ClientIdentity(pem: bytes(client.chainPEM), key: bytes(client.keyPEM))
        let known = try engine(try trusting { $0.identity = mine })
        #expect(await known.run(try get(server, "/get")).succeeded)
        let unknown = await (try engine(try trusting())).run(try get(server, "/get"))
        guard case .tls(.alert)? = unknown.error else {
            Issue.record("\(String(describing: unknown.error))")
            return
        }
    }

    @Test("plain HTTP on the port of a https URL is named as what it is")
    func plainServer() async throws {
        let server = try RawServer.start(otherwise: [.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .finish])
        let engine = try engine(try trusting())
        let request = try EngineRequest(origin: Origin(scheme: .https, host: "127.0.0.1", port: server.port))
        let error = try #require(await engine.run(request).error)
        guard case .tls(let cause) = error else {
            Issue.record("\(error)")
            return
        }
        #expect("\(cause)".contains("plain HTTP"))
    }

    @Test("a connection whose user is gone before anybody is asked is closed, and the next exchange asks again")
    func nobodyAsked() async throws {
        let server = try server()
        let evaluator = Holding()
        let engine = try engine(try trusting { $0.asksAboutTrust = true }) { $0.trustEvaluator = evaluator }
        let gone = await engine.begin(try get(server, "/get"))
        await until { evaluator.asked.value == 1 }
        gone.cancel()
        #expect(await gone.outcome().error == .cancelled)
        // It has begun to wait after the question.
        let next = await engine.begin(try get(server, "/get"))
        evaluator.answer(nil)
        // The next exchange's own dial may be there by now.
        await until {
            evaluator.answer(.accept)
            return next.isFinished
        }
        #expect(await next.outcome().status == 200)
        #expect(evaluator.asked.value == 2 && server.requestCount == 1)
    }

    @Test("an exchange that has waited since the question takes no answer for the built-in verdict")
    func nobodyToAsk() async throws {
        let (server, evaluator) = (try server(), Holding())
        let engine = try engine(try trusting { $0.asksAboutTrust = true }) { $0.trustEvaluator = evaluator }
        let pending = await engine.begin(try get(server, "/get"))
        await until { evaluator.asked.value == 1 }
        evaluator.answer(nil)
        #expect(await pending.outcome().status == 200)
    }

    @Test("a server that stalls in the handshake costs the limit on connecting, and no more")
    func stalledHandshake() async throws {
        let server = try RawServer.start()
        let clock = ManualClock()
        let engine = try engine(try trusting(), clock: clock)
        let request = try EngineRequest(origin: Origin(scheme: .https, host: "127.0.0.1", port: server.port))
        let pending = await engine.begin(request)
        try server.wait(for: 0, "the first message") { !$0.received.isEmpty }
        clock.advance(by: .seconds(11), waking: engine.loop)
        #expect(await pending.outcome().error == .timedOut(.handshake))
        #expect(await engine.remains == Remains())
    }
}

/// Answers every question in the same way, from a thread of its own, or never.
private final class Answering: TrustEvaluator {
    let asked = Counter()
    private let verdict: TrustVerdict?
    private let limit: Duration?
    let resumptionScope: String

    init(_ verdict: TrustVerdict?, within limit: Duration? = nil, scope: String = "") {
        (self.verdict, self.limit, resumptionScope) = (verdict, limit, scope)
    }

    func timeLimit(for origin: Origin) -> Duration? { limit }

    func evaluate(_ trust: PeerTrust, of origin: Origin, answer: @escaping @Sendable (TrustVerdict?) -> Void) {
        asked.add(1)
        guard let verdict else { return }
        Task.detached {
            answer(verdict)
            answer(.reject(reason: "a second answer counts for nothing"))
        }
    }
}

/// Keeps the questions for the test to answer.
private final class Holding: TrustEvaluator {
    private let held = Mutex<[@Sendable (TrustVerdict?) -> Void]>([])
    let asked = Counter()

    func evaluate(_ trust: PeerTrust, of origin: Origin, answer: @escaping @Sendable (TrustVerdict?) -> Void) {
        asked.add(1)
        held.withLock { $0.append(answer) }
    }

    /// Answers all questions so far.
    func answer(_ verdict: TrustVerdict?) {
        let questions = held.withLock { held in
            defer { held = [] }
            return held
        }
        for question in questions { question(verdict) }
    }
}
