import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlEngine
import UncurlSemantics
import UncurlTLS
import UncurlTestServer

@testable import URLLoading
@testable import UncurlClient

/// What handshakes ask of a session's user: of which delegate, and how often.
///
/// One test after the other: the sessions without a delegate share their tickets, and one test forgets them.
@Suite("Questions of a handshake", .serialized, .timeLimit(.minutes(5)))
struct ConnectionQuestionTests {
    private let localhost: TestCertificates.Identity

    init() throws { localhost = try TestCertificates.localhost }

    /// Answers both questions as told, and counts them. The session's method is not among its methods.
    private final class Asked: NSObject, URLSessionTaskDelegate {
        typealias Reply = (URLSession.AuthChallengeDisposition, URLCredential?)

        struct Answers {
            var trusts: Bool? = true
            var identity: URLCredential?
        }

        private let answers: Mutex<Answers>
        private let methods = Mutex<[String]>([])

        init(trusts: Bool? = true, identity: URLCredential? = nil) {
            answers = Mutex(Answers(trusts: trusts, identity: identity))
        }

        /// The methods of the challenges so far.
        var challenges: [String] { methods.withLock { $0 } }

        func trust(_ trusts: Bool?) { answers.withLock { $0.trusts = trusts } }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge
        ) async -> Reply {
            methods.withLock { $0.append(challenge.protectionSpace.authenticationMethod) }
            let answers = answers.withLock { $0 }
            guard let trust = challenge.protectionSpace.serverTrust else {
                return answers.identity.map { (.useCredential, $0) } ?? (.performDefaultHandling, nil)
            }
            switch answers.trusts {
            case true?: return (.useCredential, URLCredential(trust: trust))
            case false?: return (.cancelAuthenticationChallenge, nil)
            case nil: return (.performDefaultHandling, nil)
            }
        }
    }

    /// One answer a connection.
    private func server(
        _ version: TLSVersion = .v1_3,
        _ change: (inout TLSServerConfiguration) -> Void = { _ in }
    ) throws -> RawServer {
        var configuration = TLSServerConfiguration(localhost)
        configuration.maximumVersion = version
        change(&configuration)
        return try RawServer.start(otherwise: [
            .handshake(try TLSServerContext(configuration)), .receive(.headEnd),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"), .closeNotify, .finish,
        ])
    }

    private func load(_ session: URLSession, _ server: RawServer, _ delegate: Asked? = nil) async -> URLError.Code? {
        do {
            let (data, _) = try await session.data(from: try url(server.secureURL("/")), delegate: delegate)
            #expect(data == Data("ok".utf8))
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }

    private func resumptions(_ server: RawServer) -> [Bool] { server.connections.compactMap { $0.tls?.isResumed } }

    // MARK: Whom

    @Test("a task's delegate is asked about the server if the session has none, and its answer decides")
    func taskDelegate() async throws {
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let server = try server()
        let (trusting, refusing, undecided) = (Asked(), Asked(trusts: false), Asked(trusts: nil))
        #expect(await load(session, server, undecided) == .serverCertificateHasUnknownRoot)
        #expect(await load(session, server, refusing) == .cancelled)
        #expect(await load(session, server, trusting) == nil)
        for one in [trusting, refusing, undecided] {
            #expect(one.challenges == [NSURLAuthenticationMethodServerTrust])
        }
        #expect(await load(session, server) == .serverCertificateHasUnknownRoot)
    }

    @Test(
        "a task's delegate chooses the client certificate if the session has none",
        arguments: TLSVersion.allCases
    )
    func taskIdentity(version: TLSVersion) async throws {
        let client = try TestCertificates.client
        let server = try server(version) { $0.clientCertificate = .required(Array(client.authorityPEM.utf8)) }
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let asked = Asked(identity: try credential(client.leaf))
        #expect(await load(session, server, asked) == nil)
        let expected = try sha256(client.leaf)
        let methods = [NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate]
        #expect(asked.challenges == methods)
        #expect(server.connections.first?.tls?.chain?.leafSHA256 == expected)
    }

    @Test("a question about a server may take as long as its most patient task waits, for ever if that has no limit")
    func limit() async throws {
        let server = try RawServer.start()
        let session = URLSession(configuration: .isolated, delegate: InterestedDelegate(), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let origin = try Origin(scheme: .https, host: "localhost", port: server.port)
        let questions = ConnectionQuestion.questions(to: session, nil)
        let security = ClientSecurity(.isolated, hasDelegate: true)
        func waiting() -> Int { ConnectionQuestion.tasks(of: session, waitingFor: origin, for: security).count }
        #expect(questions.limit(origin, security) == nil)
        // Longer than the test takes.
        for (seconds, limit) in [(2000.0, 2000), (1000.0, 2000), (0.0, 1_000_000_000)] {
            var request = URLRequest(url: try url(server.secureURL("/")))
            request.timeoutInterval = seconds
            let before = waiting()
            session.dataTask(with: request).resume()
            await until { waiting() > before }
            #expect(questions.limit(origin, security) == .seconds(limit))
        }
    }

    @Test("of several tasks that wait for a server, each has its own delegate asked, even if another came first")
    func waiting() async throws {
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let server = try server()
        let address = try url(server.secureURL("/"))
        // It waits as a task does that has not been resumed.
        let silent = session.dataTask(with: address)
        #expect(await load(session, server, Asked()) == nil)
        silent.cancel()
    }

    @Test("a cancelled challenge ends the task whose delegate was asked as cancelled, and one without as the rules say")
    func otherTask() async throws {
        let configuration = URLSessionConfiguration.isolated
        configuration.httpMaximumConnectionsPerHost = 1
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let gate = RawGate()
        defer { gate.open() }
        let context = try TLSServerContext(TLSServerConfiguration(localhost))
        let server = try RawServer.start(otherwise: [.wait(gate), .handshake(context), .receive(.headEnd)])
        let address = try url(server.secureURL("/"))
        let (first, second) = (session.dataTask(with: address), session.dataTask(with: address))
        second.delegate = Asked(trusts: false)
        first.resume()
        try server.waitForConnections(1)
        second.resume()
        await until { second.snapshot.withLock { $0.origin } != nil }
        gate.open()
        await until { first.state == .completed && second.state == .completed }
        #expect((first.error as? URLError)?.code == .serverCertificateHasUnknownRoot)
        let error = try #require(second.error as? URLError)
        #expect(error.code == .cancelled && error.failingURL == address)
        #expect(error.particulars == "the delegate cancelled the challenge of localhost")
    }

    @Test("a delegate that releases its handler has not cancelled: the server counts as not trusted")
    func released() async throws {
        final class Silent: NSObject, URLSessionDelegate {
            func urlSession(
                _ session: URLSession,
                didReceive challenge: URLAuthenticationChallenge,
                completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {}
        }
        let session = URLSession(configuration: .isolated, delegate: Silent(), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        #expect(await load(session, try server()) == .serverCertificateUntrusted)
    }

    @Test("where no task waits any more, nobody is asked; a task without a delegate gets default handling")
    func nobody() async throws {
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        // It says nothing, so a task waits for it.
        let server = try RawServer.start()
        let origin = try Origin(scheme: .https, host: "localhost", port: server.port)
        let place = ProtectionSpaceValues(
            host: "localhost",
            port: Int(server.port),
            side: .server(NSURLProtectionSpaceHTTPS),
            realm: nil,
            method: NSURLAuthenticationMethodServerTrust
        )
        let ask = {
            await withCheckedContinuation { continuation in
                let reply = Answer<ConnectionQuestion.Reply> { continuation.resume(returning: $0) }
                let security = ClientSecurity(.isolated, hasDelegate: false)
                ConnectionQuestion(session: session, origin: origin, security: security, place: place, reply: reply)
                    .ask()
            }
        }
        #expect(await ask()?.isNobody == true)
        let task = session.dataTask(with: try url(server.secureURL("/")))
        task.resume()
        try server.wait(for: 0, "the first message") { !$0.received.isEmpty }
        #expect(await ask()?.isNobody == false)
        task.cancel()
    }

    // MARK: How often

    @Test(
        "a delegate is asked again for each connection, resumed ones too, and may answer differently",
        arguments: TLSVersion.allCases
    )
    func again(version: TLSVersion) async throws {
        let server = try server(version)
        let asked = Asked()
        let session = URLSession(configuration: .isolated, delegate: asked, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        for _ in 0..<3 { #expect(await load(session, server) == nil) }
        #expect(resumptions(server) == [false, true, true])
        #expect(asked.challenges.count == 3)
        for (trusts, code) in [
            (false, URLError.Code.cancelled), (nil, .serverCertificateHasUnknownRoot),
        ] {
            asked.trust(trusts)
            #expect(await load(session, server) == code)
        }
        #expect(asked.challenges.count == 5)
        asked.trust(true)
        #expect(await load(session, server) == nil)
    }

    // MARK: Users

    private func credential(_ leaf: TestCertificate) throws -> URLCredential {
        let identity = try URLClientIdentity(pem: Data((leaf.pem + leaf.key.pem()).utf8))
        return URLCredential(identity: identity, persistence: .forSession)
    }

    private func sha256(_ leaf: TestCertificate) throws -> [UInt8] {
        CertificateFacts(try Certificate(der: leaf.der)).sha256
    }

    @Test(
        "each session shows the identity that the shared storage has at that time, and resumes no other session's TLS",
        arguments: TLSVersion.allCases
    )
    func users(version: TLSVersion) async throws {
        let authority = try CertificateBuilder.authority("Users").selfSigned()
        let alice = try CertificateBuilder.client("alice").issued(by: authority)
        let bob = try CertificateBuilder.client("bob").issued(by: authority)
        let server = try server(version) { $0.clientCertificate = .optional(Array(authority.pem.utf8)) }
        let storage = URLCredentialStorage.shared
        let space = URLProtectionSpace.clientCertificates(for: server)
        var expected: [[UInt8]?] = []
        for user in [alice, alice, bob, bob, nil, nil, alice, nil, bob] {
            let old = storage.defaultCredential(for: space)
            if let old { storage.remove(old, for: space) }
            if let user { storage.setDefaultCredential(try credential(user), for: space) }
            expected.append(try user.map { try sha256($0) })
            let configuration = URLSessionConfiguration.isolated
            configuration.urlCredentialStorage = storage
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            #expect(await load(session, server, Asked()) == nil)
        }
        if let last = storage.defaultCredential(for: space) { storage.remove(last, for: space) }
        let seen = server.connections.map { $0.tls?.chain?.leafSHA256 }
        #expect(seen == expected)
        // Each delegate is another object.
        #expect(resumptions(server) == expected.map { _ in false })
    }

    @Test(
        "a session that is reset resumes no earlier TLS session, and neither do those that share its context",
        arguments: TLSVersion.allCases
    )
    func reset(version: TLSVersion) async throws {
        let server = try server(version)
        let sessions = [URLSession(configuration: .isolated), URLSession(configuration: .isolated)]
        defer { for session in sessions { session.invalidateAndCancel() } }
        let asked = Asked()
        for session in sessions { #expect(await load(session, server, asked) == nil) }
        for session in sessions { #expect(await load(session, server, asked) == nil) }
        await withCheckedContinuation { continuation in sessions[0].reset { continuation.resume() } }
        for session in sessions { #expect(await load(session, server, asked) == nil) }
        #expect(resumptions(server) == [false, false, true, true, false, false])
    }
}

extension ConnectionQuestion.Reply {
    fileprivate var isNobody: Bool { if case .nobody = self { true } else { false } }
}
