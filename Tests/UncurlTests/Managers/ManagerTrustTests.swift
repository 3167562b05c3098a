import FacadeTestSupport
import Foundation
import ScriptedPeer
import TestSupport
import Testing
import Uncurl
import UncurlTLS
import UncurlTestServer

@Suite("Trust through a manager", .timeLimit(.minutes(5)))
struct ManagerTrustTests {
    private let made: TestCertificates.Identity
    private let server: TestServer

    init() throws {
        made = try TestCertificates.localhost
        server = try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(made)))
    }

    private func manager(_ policy: (any ServerTrustEvaluator)?) throws -> HTTPSessionManager {
        let manager = HTTPSessionManager(
            baseURL: URL(string: "https://localhost:\(server.port)/"),
            configuration: .isolated
        )
        if let policy { try manager.setSecurityPolicy(policy) }
        return manager
    }

    @Test(
        "the default policy refuses an unknown authority, with the host and the reason in the error",
        .rows("D18", "U29")
    )
    func strangers() async throws {
        let response = try await manager(nil).response(to: HTTPRequest("bytes/10"), serializer: .data)
        guard case .trust(let failure)? = response.error else {
            Issue.record("\(response)")
            return
        }
        #expect(failure.host == "localhost")
        #expect(!failure.words.isEmpty)
        #expect(response.value == nil)
        let url = try #require(response.request?.url)
        let facts = UncurlError.trust(failure).nsError.userInfo
        #expect(facts[NSURLErrorFailingURLErrorKey] as? URL == url)
        #expect(facts["NSErrorFailingURLStringKey"] as? String == url.absoluteString)
    }

    @Test("the client certificate of a request's options is shown to its origin, and a password never in its place")
    func clientCertificate() async throws {
        let client = try TestCertificates.client
        var configuration = TLSServerConfiguration(made)
        configuration.clientCertificate = .required(Array(client.authorityPEM.utf8))
        let strict = try TestServer.start(tls: TLSServerContext(configuration))
        var policy = SecurityPolicy()
        policy.roots = .only(try TrustedCertificate.all(inPEM: made.authorityPEM))
        func load(_ credential: URLCredential?, _ path: String = "bytes/10") async throws -> Response<Data> {
            let url = try #require(URL(string: "https://localhost:\(strict.port)/"))
            let manager = HTTPSessionManager(baseURL: url, configuration: .isolated)
            try manager.setSecurityPolicy(policy)
            var request = HTTPRequest(path)
            request.options.credential = credential
            return await manager.response(to: request, serializer: .data)
        }
        let identity = try URLClientIdentity(pem: Data((client.chainPEM + client.keyPEM).utf8))
        #expect(try await load(URLCredential(identity: identity, persistence: .none)).value?.count == 10)
        #expect(try await load(URLCredential(user: "me", password: "secret", persistence: .none)).value == nil)
        #expect(try await load(nil).value == nil)
    }

    @Test(
        "connections with the client certificate of a request's options, or its hook's, serve no request with another",
        arguments: TLSVersion.allCases,
        [true, false]
    )
    func certificateOwners(version: TLSVersion, keeps: Bool) async throws {
        let authority = try CertificateBuilder.authority("Clients").selfSigned()
        let leaves = try ["a", "b", "c"].map { try CertificateBuilder.client($0).issued(by: authority) }
        let credentials = try leaves.map { leaf in
            let identity = try URLClientIdentity(pem: Data((leaf.pem + leaf.key.pem()).utf8))
            return URLCredential(identity: identity, persistence: .none)
        }
        var configuration = TLSServerConfiguration(made)
        configuration.clientCertificate = .optional(Array(authority.pem.utf8))
        configuration.maximumVersion = version
        let context = try TLSServerContext(configuration)
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\(keeps ? "" : "Connection: close\r\n")\r\nok"
        let end: [RawStep] = keeps ? [.startOver] : [.closeNotify, .finish]
        let raw = try RawServer.start(
            otherwise: RawScript([.handshake(context), .receive(.headEnd), .send(answer)] + end)
        )
        let base = try #require(URL(string: raw.secureURL("/")))
        let manager = HTTPSessionManager(baseURL: base, configuration: .isolated)
        var policy = SecurityPolicy()
        policy.roots = .only(try TrustedCertificate.all(inPEM: made.authorityPEM))
        try manager.setSecurityPolicy(policy)
        var hooks = TaskHooks()
        hooks.didReceiveChallenge = { _, _, challenge in
            challenge.protectionSpace.serverTrust == nil ? .useCredential(credentials[2]) : .performDefaultHandling
        }
        var (byHook, plain) = (RequestOptions(), RequestOptions())
        byHook.hooks = hooks
        plain.timeout = .seconds(60)
        var options = credentials.prefix(2).map { credential in
            var options = RequestOptions()
            options.credential = credential
            return options
        }
        options += [byHook, plain]
        let names = ["a", "b", "c", "none"]
        for _ in 0..<2 {
            for (name, options) in zip(names, options) {
                var request = HTTPRequest(name)
                request.options = options
                #expect(await manager.response(to: request, serializer: .data).error == nil)
            }
        }
        let digests = try leaves.map { CertificateFacts(try Certificate(der: $0.der)).sha256 }
        let seen = raw.connections.map { record in
            record.tls?.chain.map { digests.firstIndex(of: $0.leafSHA256).map { names[$0] } ?? "?" } ?? "none"
        }
        #expect(seen == (keeps ? names : names + names))
        for (record, name) in zip(raw.connections, seen) {
            #expect(record.receivedText.components(separatedBy: "GET /\(name) ").count == (keeps ? 3 : 2))
        }
    }

    @Test("the manager's policy decides on its connections", .rows("U7", "U28"))
    func policy() async throws {
        var policy = SecurityPolicy()
        policy.roots = .only(try TrustedCertificate.all(inPEM: made.authorityPEM))
        let trusted = try manager(policy)
        #expect(await trusted.response(to: HTTPRequest("bytes/10"), serializer: .data).value?.count == 10)
        let closed = try manager(HostPolicies(["example.com": policy]))
        guard case .trust(let failure)? = await closed.response(to: HTTPRequest("bytes/10"), serializer: .data).error
        else {
            Issue.record("not refused")
            return
        }
        #expect(failure.reason == .unknownHost)
    }

    @Test("a hook is asked about trust before the policy, and may leave it to it", .rows("U28"))
    func hooks() async throws {
        let manager = try manager(nil)
        let log = Log<String>()
        manager.hooks.didReceiveChallenge = { _, _, challenge in
            log.add(challenge.protectionSpace.authenticationMethod)
            guard let trust = challenge.protectionSpace.serverTrust else { return .performDefaultHandling }
            return .useCredential(URLCredential(trust: trust))
        }
        #expect(await manager.response(to: HTTPRequest("bytes/10"), serializer: .data).value?.count == 10)
        #expect(log.entries == [NSURLAuthenticationMethodServerTrust])
        let asked = try self.manager(nil)
        asked.sessionHooks.didReceiveChallenge = { _, _ in .cancel }
        #expect(await asked.response(to: HTTPRequest("bytes/10"), serializer: .data).error != nil)
        asked.sessionHooks.didReceiveChallenge = { _, challenge in
            challenge.protectionSpace.serverTrust.map { .useCredential(URLCredential(trust: $0)) }
                ?? .performDefaultHandling
        }
        #expect(await asked.response(to: HTTPRequest("bytes/10"), serializer: .data).value?.count == 10)
    }

    @Test(
        "a stricter policy also judges a server whose TLS session would be resumed",
        arguments: TLSVersion.allCases
    )
    func stricter(version: TLSVersion) async throws {
        var configuration = TLSServerConfiguration(made)
        configuration.maximumVersion = version
        let server = try RawServer.start(otherwise: [
            .handshake(try TLSServerContext(configuration)), .receive(.headEnd),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"), .closeNotify, .finish,
        ])
        let manager = HTTPSessionManager(
            baseURL: URL(string: server.secureURL("/")),
            configuration: .isolated
        )
        func load() async -> Response<Data> { await manager.response(to: HTTPRequest("x"), serializer: .data) }
        var lax = SecurityPolicy()
        lax.allowsInvalidCertificates = true
        lax.validatesDomainName = false
        try manager.setSecurityPolicy(lax)
        for _ in 0..<2 { #expect(await load().value?.count == 2) }
        #expect(server.connections.map { $0.tls?.isResumed } == [false, true])
        var pinned = try SecurityPolicy.pinning(
            .publicKey,
            to: TrustedCertificate.all(inPEM: TestCertificates.client.chainPEM)
        )
        pinned.roots = .only(try TrustedCertificate.all(inPEM: made.authorityPEM))
        for policy in [SecurityPolicy.default, pinned] {
            try manager.setSecurityPolicy(policy)
            guard case .trust(let failure)? = await load().error else {
                Issue.record("trusted by \(policy)")
                continue
            }
            #expect(failure.trust?.certificates.isEmpty == false)
            let told = UncurlError.trust(failure).nsError
            #expect(told.code == -1202)
            #expect(told.userInfo["NSURLErrorFailingURLPeerTrustErrorKey"] as? URLServerTrust === failure.trust)
            try manager.setSecurityPolicy(lax)
            #expect(await load().value?.count == 2)
        }
    }

    private struct Mine: Error {}

    @Test("a hook's answer that is not about trust leaves the server to the policy", .rows("U28"))
    func wordsAboutOthers() async throws {
        var policy = SecurityPolicy()
        policy.roots = .only(try TrustedCertificate.all(inPEM: made.authorityPEM))
        let closed = try HostPolicies(["example.com": policy])
        let password = URLCredential(user: "u", password: "p", persistence: .none)
        for answer in [ChallengeAnswer.rejectProtectionSpace, .useCredential(password)] {
            for isForSession in [false, true] {
                for (evaluator, count) in [(policy, 10), (closed, nil)] as [(any ServerTrustEvaluator, Int?)] {
                    let manager = try manager(evaluator)
                    if isForSession {
                        manager.sessionHooks.didReceiveChallenge = { _, _ in answer }
                    } else {
                        manager.hooks.didReceiveChallenge = { _, _, _ in answer }
                    }
                    let response = await manager.response(to: HTTPRequest("bytes/10"), serializer: .data)
                    #expect(response.value?.count == count, "\(answer) \(isForSession) \(response)")
                    if count == nil, case .trust(let failure)? = response.error {
                        #expect(failure.reason == .unknownHost)
                    } else {
                        #expect(response.error == nil)
                    }
                }
            }
        }
    }

    @Test(
        "a server that a hook refuses fails the task with exactly the hook's error",
        .rows("U28"),
        arguments: [false, true]
    )
    func refusals(isForSession: Bool) async throws {
        for answer in [ChallengeAnswer.cancel, .fail(Mine())] {
            let manager = try manager(nil)
            if isForSession {
                manager.sessionHooks.didReceiveChallenge = { _, _ in answer }
            } else {
                manager.hooks.didReceiveChallenge = { _, _, _ in answer }
            }
            let response = await manager.response(to: HTTPRequest("bytes/10"), serializer: .data)
            switch (answer, response.error) {
            case (.cancel, .cancelled?): break
            case (.fail, .challenge(let error)?): #expect(error is Mine)
            default: Issue.record("\(answer): \(response)")
            }
        }
    }

    @Test("a proxy is not judged by the policy, but by a hook or else the system's authorities", .rows("U28", "W19"))
    func proxies() async throws {
        let behind = try await ProxyPeers.tinyproxy(asks: false)
        defer { behind.stop() }
        let proxy = try await ProxyPeers.haproxy(before: behind.port, identityPEM: made.chainPEM + made.keyPEM)
        var policy = SecurityPolicy()
        policy.roots = .only(try TrustedCertificate.all(inPEM: made.authorityPEM))
        var request = HTTPRequest("bytes/10")
        request.options.proxy = try RequestProxy("https://127.0.0.1:\(proxy.port)")
        func load(_ answer: ChallengeAnswer?, isForSession: Bool) async throws -> Response<Data> {
            let manager = try manager(policy)
            let choose: @Sendable (URLAuthenticationChallenge) -> ChallengeAnswer = { challenge in
                let space = challenge.protectionSpace
                guard space.isProxy(), let trust = space.serverTrust else { return .performDefaultHandling }
                return answer ?? .useCredential(URLCredential(trust: trust))
            }
            if isForSession {
                manager.sessionHooks.didReceiveChallenge = { choose($1) }
            } else {
                manager.hooks.didReceiveChallenge = { choose($2) }
            }
            return await manager.response(to: request, serializer: .data)
        }
        for isForSession in [false, true] {
            let left = try await load(.performDefaultHandling, isForSession: isForSession)
            #expect(left.error?.urlError?.code == .serverCertificateHasUnknownRoot)
            #expect(try await load(nil, isForSession: isForSession).value?.count == 10)
            let refused = try await load(.fail(Mine()), isForSession: isForSession)
            guard case .challenge(let error)? = refused.error else {
                Issue.record("\(refused)")
                continue
            }
            #expect(error is Mine)
        }
    }

    @Test("a cancelled task says so even if its host was refused before", .rows("U28"))
    func cancelledLater() async throws {
        let manager = try manager(nil)
        guard case .trust? = await manager.response(to: HTTPRequest("bytes/10"), serializer: .data).error else {
            Issue.record("trusted")
            return
        }
        let response: Response<Data> = await withCheckedContinuation { continuation in
            let request = URLRequest(url: URL(string: "https://localhost:\(server.port)/bytes/10")!)
            manager.dataTask(with: request, serializer: .data) { continuation.resume(returning: $0) }.cancel()
        }
        guard case .cancelled? = response.error else {
            Issue.record("\(response)")
            return
        }
    }

    @Test(
        "a stricter policy reaches kept connections: an idle one closes, and a busy one carries no later request",
        arguments: [false, true]
    )
    func kept(isBusy: Bool) async throws {
        var lax = SecurityPolicy()
        lax.allowsInvalidCertificates = true
        lax.validatesDomainName = false
        let manager = try manager(lax)
        func load() async -> Response<Data> { await manager.response(to: HTTPRequest("bytes/10"), serializer: .data) }
        // More than the buffers hold: the connection is busy until the stream is read.
        let stream = isBusy ? try await manager.stream(HTTPRequest("bytes/50000000")) : nil
        if !isBusy { #expect(await load().value?.count == 10) }
        var pinned = try SecurityPolicy.pinning(
            .publicKey,
            to: TrustedCertificate.all(inPEM: TestCertificates.client.chainPEM)
        )
        pinned.roots = .only(try TrustedCertificate.all(inPEM: made.authorityPEM))
        try manager.setSecurityPolicy(pinned)
        if let stream {
            var count = 0
            for try await chunk in stream { count += chunk.count }
            #expect(count == 50_000_000)
        }
        guard case .trust? = await load().error else {
            Issue.record("the kept connection was used")
            return
        }
        #expect(server.requestCount == 1)
    }

    @Test("a request that waits for a connection under way is sent by the policy that was set meanwhile")
    func dialled() async throws {
        let shakes = RawGate()
        let server = try RawServer.start(otherwise: [
            .wait(shakes), .handshake(try TLSServerContext(TLSServerConfiguration(made))), .receive(.headEnd),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .stall,
        ])
        let manager = HTTPSessionManager(baseURL: URL(string: server.secureURL("/")), configuration: .isolated)
        let asked = Log<Bool>()
        let judged = Word<Bool>()
        try manager.setSecurityPolicy(
            CustomEvaluator { _, _ in
                asked.add(true)
                if asked.entries.count == 1 { judged.give(true) }
                return .trusted
            }
        )
        let waiting = Task { await manager.response(to: HTTPRequest("x"), serializer: .data) }
        shakes.open()
        _ = await judged.wait("the verdict")
        try manager.setSecurityPolicy(SecurityPolicy.default)
        let later = await manager.response(to: HTTPRequest("y"), serializer: .data)
        guard case .trust? = later.error else {
            Issue.record("\(later)")
            return
        }
        _ = await waiting.value
        #expect(!server.connections.contains { String(decoding: $0.received, as: UTF8.self).contains("GET /y") })
    }
}
