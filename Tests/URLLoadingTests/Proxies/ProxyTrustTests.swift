import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

/// Proxies that are spoken to by TLS, with a certificate that the system does not trust.
@Suite("Trust in proxies", .timeLimit(.minutes(5)))
struct ProxyTrustTests {
    private let identity: TestCertificates.Identity
    private let plain: TestServer
    private let secure: TestServer

    init() throws {
        identity = try TestCertificates.localhost
        plain = try TestServer.start()
        secure = try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(identity)))
    }

    /// Answers questions about proxies as it is told, trusts every server, and records the protection spaces.
    private final class Asked: NSObject, URLSessionTaskDelegate {
        private let trusts: Bool?
        private let heard = Mutex<[URLProtectionSpace]>([])

        /// - Parameter trusts: nil leaves proxies to the default.
        init(trusts: Bool?) { self.trusts = trusts }

        var spaces: [URLProtectionSpace] { heard.withLock { $0 } }
        var proxies: [URLProtectionSpace] { spaces.filter { $0.isProxy() } }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            let space = challenge.protectionSpace
            heard.withLock { $0.append(space) }
            guard let trust = space.serverTrust else { return (.performDefaultHandling, nil) }
            switch space.isProxy() ? trusts : true {
            case true?: return (.useCredential, URLCredential(trust: trust))
            case false?: return (.cancelAuthenticationChallenge, nil)
            case nil: return (.performDefaultHandling, nil)
            }
        }
    }

    /// haproxy, which takes TLS off, before tinyproxy.
    private struct Chain {
        let front: Peer
        let behind: Peer
        var port: UInt16 { front.port }
    }

    private func proxy() async throws -> Chain {
        let behind = try await ProxyPeers.tinyproxy(asks: false)
        let pem = identity.chainPEM + identity.keyPEM
        return Chain(front: try await ProxyPeers.haproxy(before: behind.port, identityPEM: pem), behind: behind)
    }

    private func configuration(_ port: UInt16, allowFailover: Bool = false) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.isolated
        var proxy = ProxyConfiguration(httpCONNECTProxy: .hostPort(host: "127.0.0.1", port: port), tlsOptions: .init())
        proxy.allowFailover = allowFailover
        configuration.proxyConfigurations = [proxy]
        return configuration
    }

    private func session(_ port: UInt16, _ delegate: Asked?, allowFailover: Bool = false) -> URLSession {
        let configuration = configuration(port, allowFailover: allowFailover)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private func load(_ session: URLSession, _ server: TestServer, _ delegate: Asked? = nil) async -> URLError.Code? {
        do {
            let (data, _) = try await session.data(from: try url(server.url("/bytes/1000")), delegate: delegate)
            #expect(data.count == 1_000)
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }

    @Test("the session's delegate is asked about the proxy, by its host and port; if trusted, the task goes on")
    func accepted() async throws {
        let proxy = try await proxy()
        for server in [plain, secure] {
            let asked = Asked(trusts: true)
            let session = session(proxy.port, asked)
            defer { session.invalidateAndCancel() }
            #expect(await load(session, server) == nil)
            let first = try #require(asked.spaces.first)
            #expect(first.isProxy() && first.host == "127.0.0.1" && first.port == Int(proxy.port))
            #expect(first.authenticationMethod == NSURLAuthenticationMethodServerTrust)
            #expect(first.proxyType == NSURLProtectionSpaceHTTPSProxy && first.receivesCredentialSecurely)
            #expect(first.serverTrust?.host == "127.0.0.1" && first.serverTrust?.certificates.isEmpty == false)
            #expect(asked.spaces.map { $0.isProxy() } == (server === plain ? [true] : [true, false]))
        }
    }

    @Test("a delegate that refuses the proxy ends the task, which does not go another way, and nothing is sent")
    func refused() async throws {
        let proxy = try await proxy()
        for server in [plain, secure] {
            let asked = Asked(trusts: false)
            let session = session(proxy.port, asked, allowFailover: true)
            defer { session.invalidateAndCancel() }
            #expect(await load(session, server) == .cancelled)
            #expect(asked.spaces.count == 1)
        }
        #expect(plain.requestCount == 0 && secure.requestCount == 0)
    }

    @Test("without a delegate, and where it leaves the answer to the default, the system's authorities alone count")
    func byDefault() async throws {
        let proxy = try await proxy()
        for server in [plain, secure] {
            for asked in [nil, Asked(trusts: nil)] {
                let session = session(proxy.port, asked)
                defer { session.invalidateAndCancel() }
                #expect(await load(session, server) == .serverCertificateHasUnknownRoot)
                #expect(asked?.spaces.count ?? 1 == 1)
            }
        }
        #expect(plain.requestCount == 0 && secure.requestCount == 0)
    }

    @Test("the delegate of the task that waits is asked about the proxy if the session has none")
    func taskDelegate() async throws {
        let proxy = try await proxy()
        let session = session(proxy.port, nil)
        defer { session.invalidateAndCancel() }
        for server in [plain, secure] {
            let (refusing, trusting) = (Asked(trusts: false), Asked(trusts: true))
            #expect(await load(session, server, refusing) == .cancelled)
            #expect(await load(session, server, trusting) == nil)
            #expect(refusing.proxies.count == 1 && trusting.proxies.count == 1)
        }
    }

    @Test("each connection to the proxy asks again, resumed ones too")
    func again() async throws {
        let server = try TLSServerContext(TLSServerConfiguration(identity))
        let raw = try RawServer.start(otherwise: [
            .handshake(server), .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\r\n"), .receive(.headEnd),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n"),
            .send(String(repeating: "x", count: 1_000)), .closeNotify, .finish,
        ])
        let asked = Asked(trusts: true)
        let session = session(raw.port, asked)
        defer { session.invalidateAndCancel() }
        for _ in 0..<3 { #expect(await load(session, plain) == nil) }
        #expect(asked.proxies.count == 3)
        #expect(raw.connections.compactMap { $0.tls?.isResumed } == [false, true, true])
    }

    @Test("a stream task asks about the proxy of its tunnel")
    func stream() async throws {
        let proxy = try await proxy()
        for trusts in [true, false] {
            let asked = Asked(trusts: trusts)
            let session = session(proxy.port, asked)
            defer { session.invalidateAndCancel() }
            let stream = session.streamTask(withHostName: "127.0.0.1", port: Int(plain.port))
            stream.resume()
            let request = Data("GET /bytes/3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)
            stream.write(request, timeout: 60) { _ in }
            let read = try? await stream.readData(ofMinLength: 12, maxLength: 1 << 16, timeout: 60)
            #expect(read?.0?.starts(with: Data("HTTP/1.1 200".utf8)) == (trusts ? true : nil))
            #expect(asked.proxies.count == 1)
            stream.cancel()
        }
    }
}
