import Foundation
import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@testable import URLLoading

@Suite("Proxies with authentication", .timeLimit(.minutes(5)))
struct ProxyChallengeTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    private func proxy() async throws -> Peer { try await ProxyPeers.squid(.basic) }

    private func configuration(_ proxy: Peer) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.isolated
        configuration.connectionProxyDictionary = [
            "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port),
        ]
        return configuration
    }

    private func recorder(
        _ passwords: [String],
        _ persistence: URLCredential.Persistence = .none
    ) -> Recorder {
        var answers = Recorder.Answers()
        answers.challenge = { challenge in
            #expect(challenge.protectionSpace.isProxy() && challenge.protectionSpace.host == "127.0.0.1")
            guard challenge.previousFailureCount < passwords.count else { return (.performDefaultHandling, nil) }
            let password = passwords[challenge.previousFailureCount]
            return (.useCredential, URLCredential(user: "user", password: password, persistence: persistence))
        }
        return Recorder(answers)
    }

    @Test(
        "the delegate is asked for the proxy's credentials once for a session, and for each task if they do not persist",
        arguments: [(URLCredential.Persistence.forSession, 1), (.none, 2)]
    )
    func asked(persistence: URLCredential.Persistence, challenges: Int) async throws {
        let proxy = try await proxy()
        let recorder = recorder(["secret"], persistence)
        let session = URLSession(configuration: configuration(proxy), delegate: recorder, delegateQueue: nil)
        for _ in 0..<2 {
            let (data, _) = try await session.data(from: try url(server.url("/bytes/100")))
            #expect(data.count == 100)
        }
        #expect(recorder.events.filter { $0.hasPrefix("challenge") }.count == challenges)
        session.invalidateAndCancel()
    }

    @Test(
        "a password goes to a proxy securely if TLS is spoken with the proxy, whatever the URL",
        arguments: [false, true]
    )
    func security(isTLS: Bool) async throws {
        let identity = try TestCertificates.localhost
        let secure = try TestServer.start(tls: TLSServerContext(TLSServerConfiguration(identity)))
        let squid = try await proxy()
        let pem = identity.chainPEM + identity.keyPEM
        let front = isTLS ? try await ProxyPeers.haproxy(before: squid.port, identityPEM: pem) : squid
        let configuration = URLSessionConfiguration.isolated
        let endpoint = ProxyConfiguration.Endpoint.hostPort(host: "127.0.0.1", port: front.port)
        configuration.proxyConfigurations = [
            ProxyConfiguration(httpCONNECTProxy: endpoint, tlsOptions: isTLS ? .init() : nil)
        ]
        for (address, type) in [
            (server.url("/bytes/1"), NSURLProtectionSpaceHTTPProxy),
            (secure.url("/bytes/1"), NSURLProtectionSpaceHTTPSProxy),
        ] {
            let asked = Mutex<[URLProtectionSpace]>([])
            var answers = Recorder.Answers()
            answers.challenge = { challenge in
                let space = challenge.protectionSpace
                if let trust = space.serverTrust { return (.useCredential, URLCredential(trust: trust)) }
                asked.withLock { $0.append(space) }
                return (.useCredential, URLCredential(user: "user", password: "secret", persistence: .none))
            }
            let session = URLSession(configuration: configuration, delegate: Recorder(answers), delegateQueue: nil)
            defer { session.invalidateAndCancel() }
            let (data, _) = try await session.data(from: try url(address))
            #expect(data.count == 1)
            let space = try #require(asked.withLock { $0.first })
            #expect(space.proxyType == type && space.receivesCredentialSecurely == isTLS)
        }
    }

    @Test("a wrong password is asked for again, with the number of failures")
    func wrong() async throws {
        let proxy = try await proxy()
        let recorder = recorder(["wrong", "secret"])
        let session = URLSession(configuration: configuration(proxy), delegate: recorder, delegateQueue: nil)
        let (data, _) = try await session.data(from: try url(server.url("/bytes/100")))
        #expect(data.count == 100)
        #expect(recorder.events.filter { $0.hasPrefix("challenge") }.count == 2)
        session.invalidateAndCancel()
    }

    @Test("without credentials the task fails, and does not deliver the proxy's page")
    func nobody() async throws {
        let proxy = try await proxy()
        let session = URLSession(configuration: configuration(proxy))
        do {
            _ = try await session.data(from: try url(server.url("/bytes/100")))
            Issue.record("the proxy let it pass")
        } catch let error as URLError {
            #expect(error.code == .userAuthenticationRequired)
            #expect(error.userInfo[NSURLErrorFailingURLErrorKey] != nil)
        }
        session.invalidateAndCancel()
    }

    @Test(
        "a streamed upload answers its proxy with a new stream; the delegate is asked if no password, or a wrong one, is set",
        arguments: [("secret", 1, 0), (nil, 1, 1), ("wrong", 2, 1)] as [(String?, Int, Int)]
    )
    func streamed(configured: String?, streams: Int, challenges: Int) async throws {
        let challenge = "HTTP/1.1 407 Auth\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n"
        let refusal: [RawStep] = [.receive(.request), .send(challenge)]
        let answer: [RawStep] = [.receive(.request), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
        // Each refusal ends its connection.
        let scripts = Array(repeating: RawScript(refusal), count: streams)
        let proxy = try RawServer.start(scripts, otherwise: RawScript(answer))
        let configuration = URLSessionConfiguration.isolated
        var settings: [AnyHashable: Any] = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port)]
        if let configured {
            settings[kCFProxyUsernameKey] = "user"
            settings[kCFProxyPasswordKey] = configured
        }
        configuration.connectionProxyDictionary = settings
        var answers = Recorder.Answers()
        answers.challenge = { _ in
            (.useCredential, URLCredential(user: "user", password: "secret", persistence: .none))
        }
        answers.stream = { InputStream(data: Data("content".utf8)) }
        let recorder = Recorder(answers)
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try url("http://origin.test/files"))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("content".utf8))
        let task = session.uploadTask(withStreamedRequest: request)
        task.resume()
        await recorder.end()
        #expect(recorder.told.error == nil && (task.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(recorder.events.count { $0 == "stream" } == streams)
        #expect(recorder.events.count { $0.hasPrefix("challenge") } == challenges)
        let requests = proxy.connections.map(\.receivedText)
        #expect(requests.count == streams + 1 && !requests[0].contains("Proxy-Authorization"))
        // user:secret
        #expect(requests[streams].contains("\r\nProxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n"))
        #expect(requests[streams].contains("content"))
    }
}
