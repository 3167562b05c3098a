import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlEngine
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

/// Tasks of one session with different delegates, and what one must not get of another: a client certificate, the trust
/// in a server, a ticket, a stored answer, a login.
@Suite("Verdicts belong to those who gave them", .serialized, .timeLimit(.minutes(10)))
struct VerdictOwnerTests {
    /// The delegate of a task, with answers of its own.
    private final class Judge: NSObject, URLSessionTaskDelegate {
        typealias Reply = (URLSession.AuthChallengeDisposition, URLCredential?)

        private let trusts: Bool?
        private let given: Mutex<URLCredential?>
        let questions = Mutex(0)

        init(trusts: Bool? = nil, _ credential: URLCredential? = nil) {
            self.trusts = trusts
            given = Mutex(credential)
        }

        func change(_ credential: URLCredential?) { given.withLock { $0 = credential } }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge
        ) async -> Reply {
            questions.withLock { $0 += 1 }
            if let trust = challenge.protectionSpace.serverTrust {
                return switch trusts {
                case true?: (.useCredential, URLCredential(trust: trust))
                case false?: (.cancelAuthenticationChallenge, nil)
                case nil: (.performDefaultHandling, nil)
                }
            }
            guard challenge.previousFailureCount == 0, let credential = given.withLock({ $0 }) else {
                return (.performDefaultHandling, nil)
            }
            return (.useCredential, credential)
        }
    }

    /// A server that wants a certificate and takes none as well, and two clients that have one.
    private struct World {
        let server: RawServer
        let credentials: [URLCredential]
        let digests: [[UInt8]]
        private let context: TLSContext

        /// - Parameter fields: what each answer has beside its length. Its content is the number of its connection.
        init(_ version: TLSVersion, keeps: Bool, _ fields: [String] = []) throws {
            let localhost = try TestCertificates.localhost
            let authority = try CertificateBuilder.authority("Clients").selfSigned()
            let leaves = try ["a", "b"].map { try CertificateBuilder.client($0).issued(by: authority) }
            credentials = try leaves.map { leaf in
                let identity = try URLClientIdentity(pem: Data((leaf.pem + leaf.key.pem()).utf8))
                return URLCredential(identity: identity, persistence: .forSession)
            }
            digests = try leaves.map { CertificateFacts(try Certificate(der: $0.der)).sha256 }
            var settings = TLSServerConfiguration(localhost)
            settings.clientCertificate = .optional(Array(authority.pem.utf8))
            settings.maximumVersion = version
            let secured = try TLSServerContext(settings)
            let lines = (fields + (keeps ? [] : ["Connection: close"])).map { "\($0)\r\n" }.joined()
            let scripts = (0..<24).map { number -> RawScript in
                let body = "\(number)"
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(lines)\r\n\(body)"
                let end: [RawStep] = keeps ? [.startOver] : [.closeNotify, .finish]
                return RawScript([.handshake(secured), .receive(.headEnd), .send(answer)] + end)
            }
            server = try RawServer.start(scripts)
            var configuration = TLSConfiguration.asking
            configuration.roots = .pem(localhost.authorityPEM)
            context = try TLSContext(configuration)
        }

        /// Makes a session that trusts the server by the usual rules.
        func session(
            _ configuration: URLSessionConfiguration = .isolated,
            _ delegate: (any URLSessionDelegate)? = nil
        ) async -> URLSession {
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            await withCheckedContinuation { done in
                session.post { [context] engine in
                    engine.begin(with: context, of: session)
                    done.resume()
                }
            }
            return session
        }

        func request(_ path: String) throws -> URLRequest { URLRequest(url: try url(server.secureURL("/\(path)"))) }

        /// The paths that came on each connection, and the client that had shown itself there: 0, 1, or nil for none.
        var seen: [(paths: Set<String>, shown: Int?, isResumed: Bool?)] {
            server.connections.map { record in
                let lines = record.receivedText.components(separatedBy: "\r\n").filter { $0.hasPrefix("GET /") }
                let digest = record.tls?.chain?.leafSHA256
                return (
                    Set(lines.map { String($0.dropFirst(5).prefix { $0 != " " }) }),
                    digest.map { digests.firstIndex(of: $0) ?? -1 }, record.tls?.isResumed
                )
            }
        }
    }

    /// Whether connections are kept, the version, and whether a proxy is between.
    struct Way: Sendable, CustomTestStringConvertible {
        let version: TLSVersion
        let keeps: Bool
        var isProxied = false

        static let all = [false, true].flatMap { proxied in
            TLSVersion.allCases.flatMap { version in
                [true, false].map { Way(version: version, keeps: $0, isProxied: proxied) }
            }
        }
        static let direct = all.filter { !$0.isProxied }

        var testDescription: String { "\(version), \(keeps ? "kept" : "new")\(isProxied ? ", by a proxy" : "")" }

        /// The configuration, and the proxy while it is needed.
        fileprivate func configuration() async throws -> (URLSessionConfiguration, Peer?) {
            let configuration = URLSessionConfiguration.isolated
            guard isProxied else { return (configuration, nil) }
            let proxy = try await ProxyPeers.squid()
            configuration.connectionProxyDictionary = Self.proxies(proxy)
            return (configuration, proxy)
        }

        fileprivate static func proxies(_ proxy: Peer) -> [AnyHashable: Any] {
            let (host, port) = ("127.0.0.1", Int(proxy.port))
            return [
                "HTTPEnable": 1, "HTTPProxy": host, "HTTPPort": port,
                "HTTPSEnable": 1, "HTTPSProxy": host, "HTTPSPort": port,
            ]
        }
    }

    private func load(
        _ session: URLSession,
        _ request: URLRequest,
        _ delegate: Judge?
    ) async -> Result<String, URLError> {
        do {
            let (data, response) = try await session.data(for: request, delegate: delegate)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            return .success(status == 200 ? String(decoding: data, as: UTF8.self) : "\(status)")
        } catch {
            return .failure(error as? URLError ?? URLError(.unknown))
        }
    }

    // MARK: Certificates, trust, tickets

    @Test(
        "a client certificate that one task's delegate shows is shown for no other task, new connections and kept ones",
        arguments: Way.all
    )
    func certificates(way: Way) async throws {
        let world = try World(way.version, keeps: way.keeps)
        let (configuration, proxy) = try await way.configuration()
        let session = await world.session(configuration)
        defer {
            session.invalidateAndCancel()
            proxy?.stop()
        }
        let delegates = [Judge(world.credentials[0]), Judge(world.credentials[1]), nil]
        let names = ["a", "b", "none"]
        // All together on new connections, and then one after the other.
        await withTaskGroup { group in
            for (name, delegate) in zip(names + names, delegates + delegates) {
                group.addTask { _ = await load(session, try! world.request(name), delegate) }
            }
        }
        for _ in 0..<2 {
            for (name, delegate) in zip(names, delegates) {
                #expect(await load(session, try world.request(name), delegate).isSuccess)
            }
        }
        for (paths, shown, _) in world.seen where !paths.isEmpty {
            #expect(paths == [shown.map { names[$0] } ?? "none"], "\(world.seen)")
        }
    }

    @Test("connections are kept, and tickets used, among the tasks of one delegate", arguments: Way.direct)
    func reused(way: Way) async throws {
        let world = try World(way.version, keeps: way.keeps)
        let session = await world.session()
        defer { session.invalidateAndCancel() }
        let delegates = [Judge(world.credentials[0]), Judge(world.credentials[1]), nil]
        for _ in 0..<2 {
            for (name, delegate) in zip(["a", "b", "none"], delegates) {
                #expect(await load(session, try world.request(name), delegate).isSuccess)
            }
        }
        let resumed = world.seen.map(\.isResumed)
        #expect(resumed == (way.keeps ? [false, false, false] : [false, false, false, true, true, true]))
    }

    @Test("a delegate without a method for challenges shares the connections of tasks that have none")
    func silent() async throws {
        final class Silent: NSObject, URLSessionTaskDelegate {}
        let world = try World(.v1_3, keeps: true)
        let session = await world.session()
        defer { session.invalidateAndCancel() }
        for _ in 0..<4 { _ = try await session.data(for: world.request("x"), delegate: Silent()) }
        // Before the first was asked, it could not be known.
        #expect(world.server.connections.count == 2)
        #expect(await load(session, try world.request("x"), nil).isSuccess)
        #expect(world.server.connections.count == 2)
    }

    @Test("a delegate at the place in memory of one that is gone does not get its connections, and few of them stay")
    func successor() async throws {
        let world = try World(.v1_3, keeps: true)
        let session = await world.session()
        defer { session.invalidateAndCancel() }
        for number in 0..<12 {
            let judge = Judge(world.credentials[number % 2])
            #expect(await load(session, try world.request("\(number)"), judge).isSuccess)
        }
        #expect(world.seen.map(\.shown) == (0..<12).map { $0 % 2 })
        await until { world.server.connections.count { !$0.sawFinish && !$0.sawCloseNotify } <= 5 }
    }

    @Test(
        "a server that only one task's delegate trusts gets nothing of the other tasks, and they fail",
        arguments: Way.all
    )
    func trust(way: Way) async throws {
        let world = try World(way.version, keeps: way.keeps)
        let (configuration, proxy) = try await way.configuration()
        let session = URLSession(configuration: configuration)
        defer {
            session.invalidateAndCancel()
            proxy?.stop()
        }
        let delegates = [Judge(trusts: true), Judge(trusts: false), nil]
        for _ in 0..<2 {
            for (index, delegate) in delegates.enumerated() {
                var request = try world.request("me")
                request.setValue("Bearer \(index)", forHTTPHeaderField: "Authorization")
                let result = await load(session, request, delegate)
                switch index {
                case 0: #expect(result.isSuccess)
                case 1: #expect(result.code == .cancelled)
                default: #expect(result.code == .serverCertificateHasUnknownRoot)
                }
            }
        }
        let all = world.server.connections.map(\.receivedText).joined()
        #expect(all.contains("Bearer 0") && !all.contains("Bearer 1") && !all.contains("Bearer 2"))
    }

    // MARK: Stored answers

    static let kept = [
        ["Cache-Control: max-age=600"], ["Cache-Control: private, max-age=600"],
        ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], ["ETag: \"v1\"", "Cache-Control: no-cache"],
        ["ETag: \"v1\"", "Cache-Control: max-age=0, stale-while-revalidate=600"],
    ]

    private func cached() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.isolated
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        return configuration
    }

    @Test(
        "an answer for one task's delegate is served to no other task, however it may be kept",
        arguments: kept,
        Way.direct
    )
    func stored(fields: [String], way: Way) async throws {
        let world = try World(way.version, keeps: way.keeps, fields)
        let session = await world.session(cached())
        defer { session.invalidateAndCancel() }
        let request = try world.request("me")
        for (number, delegate) in [Judge(world.credentials[0]), Judge(world.credentials[1]), nil].enumerated() {
            #expect(await load(session, request, delegate) == .success("\(number)"))
        }
        #expect(!world.server.connections.contains { $0.receivedText.contains("If-None-Match") })
    }

    @Test(
        "an answer for tasks without a delegate is not served to one whose delegate shows a certificate",
        arguments: kept
    )
    func storedBefore(fields: [String]) async throws {
        let world = try World(.v1_3, keeps: true, fields)
        let session = await world.session(cached())
        defer { session.invalidateAndCancel() }
        let request = try world.request("me")
        #expect(await load(session, request, nil) == .success("0"))
        #expect(await load(session, request, Judge(world.credentials[0])) == .success("1"))
    }

    @Test(
        "an answer that a session's delegate got with one certificate is not served after it shows another",
        arguments: kept,
        TLSVersion.allCases
    )
    func changing(fields: [String], version: TLSVersion) async throws {
        let world = try World(version, keeps: false, fields)
        let judge = Judge(world.credentials[0])
        let session = await world.session(cached(), judge)
        defer { session.invalidateAndCancel() }
        let request = try world.request("me")
        for (number, credential) in [world.credentials[0], world.credentials[1], nil, world.credentials[0]].enumerated()
        {
            judge.change(credential)
            #expect(await load(session, request, nil) == .success("\(number)"))
        }
        #expect(world.seen.map(\.shown) == [0, 1, nil, 0])
    }

    @Test("an answer of a server that only a delegate trusts is not stored, for its own tasks neither", arguments: kept)
    func untrusted(fields: [String]) async throws {
        let world = try World(.v1_3, keeps: true, fields.map { $0.replacingOccurrences(of: "private", with: "public") })
        let session = URLSession(configuration: cached())
        defer { session.invalidateAndCancel() }
        var request = try world.request("me")
        let judge = Judge(trusts: true)
        for _ in 0..<2 { #expect(await load(session, request, judge) == .success("0")) }
        #expect(world.server.connections.first?.receivedText.components(separatedBy: "GET ").count == 3)
        #expect(!(world.server.connections.first?.receivedText.contains("If-None-Match") ?? true))
        for policy in [.returnCacheDataElseLoad, .returnCacheDataDontLoad] as [URLRequest.CachePolicy] {
            request.cachePolicy = policy
            #expect(await !load(session, request, nil).isSuccess)
        }
    }

    @Test(
        "the answers for a stored certificate are served while that is the default, and no longer",
        arguments: Way.direct
    )
    func replaced(way: Way) async throws {
        let world = try World(way.version, keeps: way.keeps, ["Cache-Control: private, max-age=600"])
        let configuration = cached()
        let storage = URLCredentialStorage()
        configuration.urlCredentialStorage = storage
        let space = URLProtectionSpace.clientCertificates(for: world.server)
        storage.setDefaultCredential(world.credentials[0], for: space)
        let session = await world.session(configuration)
        defer { session.invalidateAndCancel() }
        let request = try world.request("me")
        for _ in 0..<2 { #expect(await load(session, request, nil) == .success("0")) }
        storage.setDefaultCredential(world.credentials[1], for: space)
        for _ in 0..<2 { #expect(await load(session, request, nil) == .success("1")) }
        storage.remove(world.credentials[1], for: space)
        #expect(await load(session, request, nil) == .success("2"))
        #expect(world.seen.map(\.shown) == [0, 1, nil])
    }

    // MARK: Names and passwords

    @Test(
        "a name and a password that one task's delegate gives without persistence are sent for no other task",
        arguments: ["basic-auth", "digest-auth/auth"]
    )
    func logins(path: String) async throws {
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let request = URLRequest(url: try url(server.url("/\(path)/a/secret")))
        func judge(_ user: String) -> Judge {
            Judge(URLCredential(user: user, password: "secret", persistence: .none))
        }
        for _ in 0..<2 {
            #expect(await load(session, request, judge("a")).text?.hasPrefix("40") == false)
            #expect(await load(session, request, judge("b")) == .success("401"))
            #expect(await load(session, request, nil) == .success("401"))
        }
    }

    @Test(
        "a proxy's user that one task's delegate gives without persistence is used for no other task",
        arguments: [ProxyPeers.Asking.basic, .digest],
        [false, true]
    )
    func proxyUser(asking: ProxyPeers.Asking, isTunnel: Bool) async throws {
        let identity = try TestCertificates.localhost
        let server =
            isTunnel
            ? try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(identity))) : try TestServer.start()
        let proxy = try await ProxyPeers.squid(asking)
        defer { proxy.stop() }
        let configuration = URLSessionConfiguration.isolated
        configuration.connectionProxyDictionary = Way.proxies(proxy)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        func judge(_ password: String?) -> Judge {
            Judge(trusts: true, password.map { URLCredential(user: "user", password: $0, persistence: .none) })
        }
        let request = URLRequest(url: try url(server.url("/bytes/3")))
        for _ in 0..<2 {
            #expect(await load(session, request, judge("secret")).isSuccess)
            #expect(await load(session, request, judge("wrong")).code == .userAuthenticationRequired)
            #expect(await load(session, request, judge(nil)).code == .userAuthenticationRequired)
            #expect(await load(session, request, nil).code == .userAuthenticationRequired)
        }
    }
}

extension Result<String, URLError> {
    fileprivate var text: String? { try? get() }
    fileprivate var isSuccess: Bool { text != nil }
    fileprivate var code: URLError.Code? { if case .failure(let error) = self { error.code } else { nil } }
}
