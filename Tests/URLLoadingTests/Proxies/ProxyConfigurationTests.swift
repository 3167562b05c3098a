import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlEngine
import UncurlTLS
import UncurlTestServer

@testable import URLLoading
@testable import UncurlClient

/// `proxyConfigurations`, through real proxies to a real server.
@Suite("Configurations of proxies", .timeLimit(.minutes(5)))
struct ProxyConfigurationTests {
    private let identity: TestCertificates.Identity
    private let plain: TestServer
    private let secure: TestServer
    private let nobody: RefusingPort

    init() throws {
        nobody = try RefusingPort()
        identity = try TestCertificates.localhost
        plain = try TestServer.start()
        secure = try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(identity)))
    }

    /// Takes any certificate.
    private final class Trusting: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let trust = challenge.protectionSpace.serverTrust
            let credential = trust.map { URLCredential(trust: $0) }
            completionHandler(trust == nil ? .performDefaultHandling : .useCredential, credential)
        }
    }

    private func session(_ proxies: ProxyConfiguration...) -> URLSession {
        let configuration = URLSessionConfiguration.isolated
        configuration.proxyConfigurations = proxies
        return URLSession(configuration: configuration, delegate: Trusting(), delegateQueue: nil)
    }

    private func at(_ port: UInt16) -> ProxyConfiguration.Endpoint { .hostPort(host: "127.0.0.1", port: port) }

    /// What both servers say comes through, more than once.
    private func expectTransfers(_ session: URLSession) async throws {
        defer { session.invalidateAndCancel() }
        for server in [plain, secure] {
            for _ in 0..<2 {
                let (data, _) = try await session.data(from: try url(server.url("/bytes/100000")))
                #expect(data.count == 100_000)
            }
            let (headers, _) = try await session.data(from: try url(server.url("/headers")))
            #expect(!String(decoding: headers, as: UTF8.self).lowercased().contains("proxy"))
        }
    }

    @Test("HTTP proxies are asked for a tunnel to http and https servers, with the credentials applied to a constant")
    func connect() async throws {
        let squid = try await ProxyPeers.squid(.basic)
        let proxy = ProxyConfiguration(httpCONNECTProxy: at(squid.port))
        proxy.applyCredential(username: "user", password: "secret")
        #expect("\(proxy)" == "http://127.0.0.1:\(squid.port)")
        try await expectTransfers(session(proxy))
        let tinyproxy = try await ProxyPeers.tinyproxy(asks: false)
        try await expectTransfers(session(ProxyConfiguration(httpCONNECTProxy: at(tinyproxy.port), tlsOptions: nil)))
    }

    @Test("a plain http URL goes through a tunnel too")
    func tunnel() async throws {
        let raw = try RawServer.start([
            [
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\r\n"),
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            ]
        ])
        let session = session(ProxyConfiguration(httpCONNECTProxy: at(raw.port)))
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(from: url("http://origin.test/path"))
        #expect(data == Data("ok".utf8))
        let sent = String(decoding: raw.received(0), as: UTF8.self)
        #expect(sent.hasPrefix("CONNECT origin.test:80 HTTP/1.1\r\n"))
        #expect(sent.contains("\r\n\r\nGET /path HTTP/1.1\r\n"))
    }

    @Test("SOCKS proxies are used with credentials and without; wrong ones fail the task, also where it may fail over")
    func socks() async throws {
        let dante = try await ProxyPeers.dante()
        try await expectTransfers(session(ProxyConfiguration(socksv5Proxy: at(dante.port))))
        let microsocks = try await ProxyPeers.microsocks(asks: true)
        var proxy = ProxyConfiguration(socksv5Proxy: at(microsocks.port))
        proxy.applyCredential(username: "user", password: "secret")
        try await expectTransfers(session(proxy))
        proxy.applyCredential(username: "user", password: "guess")
        proxy.allowFailover = true
        let refused = session(proxy)
        defer { refused.invalidateAndCancel() }
        await #expect(throws: URLError.self) { try await refused.data(from: url(plain.url("/get"))) }
    }

    @Test(
        "a proxy is for the hosts that match and are not excluded; for others the dictionary counts",
        arguments: [
            ([], [], true), (["127.0.0.1"], [], true), (["127.0.0.0/8"], [], true), ([""], [], true),
            (["other.test"], [], false), (["127.0.0.1"], ["127.0.0.1"], false), ([], ["127.0.0.0/8"], false),
        ]
    )
    func domains(matching: [String], excluded: [String], isUsed: Bool) async throws {
        let raw = try RawServer.start([[.receive(.headEnd), .send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")]])
        var proxy = ProxyConfiguration(httpCONNECTProxy: at(raw.port))
        (proxy.matchDomains, proxy.excludedDomains) = (matching, excluded)
        let session = session(proxy)
        defer { session.invalidateAndCancel() }
        let data = try? await session.data(from: url(plain.url("/bytes/3"))).0
        #expect(data?.count == (isUsed ? nil : 3))
    }

    @Test("names match with all names below them, also behind a wildcard, and the dictionary's exceptions as well")
    func names() {
        var proxy = ProxyConfiguration(socksv5Proxy: .hostPort(host: "p.test", port: 9))
        (proxy.matchDomains, proxy.excludedDomains) = (["a.test", "*.B.test"], ["no.a.test"])
        let listed = ListedProxy(proxy)
        for host in ["a.test", "x.a.test", "b.test", "x.b.test"] { #expect(listed.applies(to: host), "\(host)") }
        for host in ["no.a.test", "x.no.a.test", "aa.test", "test"] { #expect(!listed.applies(to: host), "\(host)") }
        let dictionary = ClientProxies(["HTTPEnable": 1, "HTTPProxy": "p.test", "ExceptionsList": ["*.example.com"]])
        #expect(dictionary.configuration.exceptions.covers("www.example.com"))
    }

    @Test("without failover a proxy that is gone fails the task, and nothing is sent directly")
    func strict() async throws {
        let session = session(
            ProxyConfiguration(httpCONNECTProxy: at(nobody.number)),
            ProxyConfiguration(socksv5Proxy: at(try await ProxyPeers.dante().port))
        )
        defer { session.invalidateAndCancel() }
        await #expect {
            try await session.data(from: url(plain.url("/get")))
        } throws: { error in
            (error as? URLError)?.code == .cannotConnectToHost
        }
        #expect(plain.requestCount == 0)
    }

    @Test("with failover the next proxy is tried, and at last none, also with content and for request after request")
    func failover() async throws {
        var gone = ProxyConfiguration(httpCONNECTProxy: at(nobody.number))
        gone.allowFailover = true
        var deaf = ProxyConfiguration(
            socksv5Proxy: at(try RawServer.start([], otherwise: [.close]).port)
        )
        deaf.allowFailover = true
        let dante = try await ProxyPeers.dante()
        try await expectTransfers(session(gone, deaf, ProxyConfiguration(socksv5Proxy: at(dante.port))))
        try await expectTransfers(session(gone, deaf))
        let session = session(gone)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url(plain.url("/upload")))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data(count: 1_000))
        let (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self).contains("1000"))
    }

    /// A broadcast address: the kernel has no route for TCP, and sends nothing.
    private static let nowhere = "255.255.255.255"

    @Test("a task waits for a proxy to which there is no way, and fails at once if it is not to wait")
    func waits() async throws {
        let configuration = URLSessionConfiguration.isolated
        let proxy = ProxyConfiguration(httpCONNECTProxy: .hostPort(host: Self.nowhere, port: 3128))
        configuration.proxyConfigurations = [proxy]
        let hurried = URLSession(configuration: configuration)
        defer { hurried.invalidateAndCancel() }
        let target = try url(plain.url("/get"))
        let error = await #expect(throws: URLError.self) { try await hurried.data(from: target) }
        #expect(error?.code == .notConnectedToInternet)
        configuration.waitsForConnectivity = true
        configuration.timeoutIntervalForResource = 1
        let patient = URLSession(configuration: configuration)
        defer { patient.invalidateAndCancel() }
        let late = await #expect(throws: URLError.self) { try await patient.data(from: target) }
        #expect(late?.code == .timedOut)
        #expect(plain.requestCount == 0)
    }

    @Test("a task that has waited for connectivity uses its proxies again")
    func afterWaiting() async throws {
        let raw = try RawServer.start([
            [.receive(.headEnd), .close],
            [
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\r\n"),
                .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            ],
        ])
        var proxy = ProxyConfiguration(httpCONNECTProxy: at(raw.port))
        proxy.allowFailover = true
        let configuration = URLSessionConfiguration.isolated
        configuration.proxyConfigurations = [proxy]
        configuration.waitsForConnectivity = true
        configuration.timeoutIntervalForResource = 30
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        // Without the proxy there is no way either, so that the task waits.
        let (data, _) = try await session.data(from: url("http://\(Self.nowhere)/"))
        #expect(data == Data("ok".utf8))
    }

    @Test("a configuration that names no host fails the request unsent, and the error names the property")
    func unreadable() async throws {
        for endpoint in [ProxyConfiguration.Endpoint.hostPort(host: "a b", port: 9), .hostPort(host: "h", port: 0)] {
            let session = session(ProxyConfiguration(httpCONNECTProxy: endpoint))
            defer { session.invalidateAndCancel() }
            await #expect {
                try await session.data(from: url(plain.url("/get")))
            } throws: { error in
                let words = (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? NSError
                return (error as? URLError)?.code == .cannotConnectToHost
                    && words?.localizedDescription.contains("proxyConfigurations: ") == true
            }
        }
        #expect(plain.requestCount == 0)
    }

    @Test("a delegate that is asked for a proxy's credentials gives them to the proxy that asked")
    func challenge() async throws {
        let squid = try await ProxyPeers.squid(.basic)
        var answers = Recorder.Answers()
        answers.challenge = { challenge in
            guard challenge.protectionSpace.isProxy() else { return (.performDefaultHandling, nil) }
            return (.useCredential, URLCredential(user: "user", password: "secret", persistence: .none))
        }
        let configuration = URLSessionConfiguration.isolated
        configuration.proxyConfigurations = [ProxyConfiguration(httpCONNECTProxy: at(squid.port))]
        let session = URLSession(configuration: configuration, delegate: Recorder(answers), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        for _ in 0..<2 {
            let (data, _) = try await session.data(from: url(plain.url("/bytes/100")))
            #expect(data.count == 100)
        }
    }
}
