import Foundation
import TestServer
import TestSupport
import Testing

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

    private func recorder(_ passwords: [String]) -> Recorder {
        var answers = Recorder.Answers()
        answers.challenge = { challenge in
            #expect(challenge.protectionSpace.isProxy() && challenge.protectionSpace.host == "127.0.0.1")
            guard challenge.previousFailureCount < passwords.count else { return (.performDefaultHandling, nil) }
            let password = passwords[challenge.previousFailureCount]
            return (.useCredential, URLCredential(user: "user", password: password, persistence: .none))
        }
        return Recorder(answers)
    }

    @Test("the delegate is asked for the proxy's credentials once for the whole session")
    func asked() async throws {
        let proxy = try await proxy()
        let recorder = recorder(["secret"])
        let session = URLSession(configuration: configuration(proxy), delegate: recorder, delegateQueue: nil)
        for _ in 0..<2 {
            let (data, _) = try await session.data(from: try url(server.url("/bytes/100")))
            #expect(data.count == 100)
        }
        #expect(recorder.events.filter { $0.hasPrefix("challenge") }.count == 1)
        session.invalidateAndCancel()
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
}
