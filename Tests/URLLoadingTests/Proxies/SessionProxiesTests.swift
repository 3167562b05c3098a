import Foundation
import ScriptedPeer
import TestSupport
import Testing
import UncurlEngine
import UncurlSemantics
import UncurlTestServer

@testable import URLLoading
@testable import UncurlClient

@Suite("Proxies of a session", .timeLimit(.minutes(5)))
struct SessionProxiesTests {
    private struct Setting: Sendable, CustomTestStringConvertible {
        let name: String
        let values: @Sendable () -> [AnyHashable: Any]
        var testDescription: String { "\(values())" }

        init(_ name: String, _ values: @autoclosure @escaping @Sendable () -> [AnyHashable: Any]) {
            self.name = name
            self.values = values
        }
    }

    private static let settings = [
        Setting("HTTPProxy", ["HTTPEnable": 1, "HTTPProxy": "http://127.0.0.1", "HTTPPort": 9]),
        Setting("HTTPProxy", ["HTTPEnable": true, "HTTPProxy": "socks5://127.0.0.1"]),
        Setting("HTTPProxy", ["HTTPEnable": 1, "HTTPProxy": "", "HTTPPort": 9]),
        Setting("HTTPProxy", ["HTTPEnable": 1, "HTTPPort": 9]),
        Setting("HTTPProxy", ["HTTPEnable": 1, "HTTPProxy": 7, "HTTPPort": 9]),
        Setting("HTTPProxy", ["HTTPEnable": 1, "HTTPProxy": "a b", "HTTPPort": 9]),
        Setting("HTTPPort", ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": 0]),
        Setting("HTTPPort", ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": 70_000]),
        Setting("HTTPPort", ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": -1]),
        Setting("HTTPPort", ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": "9"]),
        Setting("HTTPEnable", ["HTTPEnable": "yes", "HTTPProxy": "127.0.0.1", "HTTPPort": 9]),
        Setting("SOCKSProxy", ["SOCKSEnable": 1, "SOCKSProxy": "socks4://127.0.0.1", "SOCKSPort": 9]),
        Setting("SOCKSPort", ["SOCKSEnable": 1, "SOCKSProxy": "127.0.0.1", "SOCKSPort": 65_536]),
        Setting("ExceptionsList", ["ExceptionsList": "localhost"]),
        Setting("ProxyAutoConfigEnable", ["ProxyAutoConfigEnable": 1]),
    ]

    @Test("a setting that names no proxy fails the request unsent, and the error names it", arguments: settings)
    private func unreadable(setting: Setting) async throws {
        let server = try TestServer.start()
        let configuration = URLSessionConfiguration.isolated
        configuration.connectionProxyDictionary = setting.values()
        let session = URLSession(configuration: configuration)
        await #expect {
            try await session.data(from: url(server.url("/bytes/1")))
        } throws: { error in
            let words = (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? NSError
            let isNamed = words?.localizedDescription.contains("connectionProxyDictionary: \(setting.name) ") == true
            return (error as? URLError)?.code == .cannotConnectToHost && isNamed
        }
        #expect(server.requestCount == 0)
    }

    private func words(_ proxies: ClientProxies, _ scheme: Origin.Scheme, _ host: String = "h.test") -> String? {
        proxies.fault(for: scheme, host)?.description
    }

    @Test(
        "the error names the environment's variable that names no proxy",
        arguments: [
            ("http_proxy", "socks4://127.0.0.1:9"), ("http_proxy", "ftp://127.0.0.1"), ("http_proxy", "http://h:x"),
            ("http_proxy", "http://"), ("all_proxy", "socks4://127.0.0.1"), ("ALL_PROXY", "http://a b/"),
            ("http_proxy", "127.0.0.1:65536"), ("http_proxy", "http://a/b"),
        ]
    )
    func environment(variable: String, value: String) throws {
        let settings = ProxyEnvironment([variable: value])
        let proxies = ClientProxies(nil, environment: settings)
        let words = try #require(self.words(proxies, .http))
        #expect(words.hasPrefix("the proxy cannot be read: \(variable): "))
        #expect((self.words(proxies, .https) != nil) == (variable != "http_proxy"))
    }

    @Test("excepted hosts, the other scheme and a session with its own dictionary are not affected")
    func unconcerned() {
        let settings = ProxyEnvironment(["https_proxy": "ftp://h", "no_proxy": "plain.test"])
        let proxies = ClientProxies(nil, environment: settings)
        #expect(words(proxies, .https) != nil && words(proxies, .http) == nil)
        #expect(words(proxies, .https, "plain.test") == nil)
        #expect(words(ClientProxies([:], environment: settings), .https) == nil)
        let partly = ClientProxies([
            "HTTPEnable": 1, "HTTPProxy": "", "HTTPSEnable": 1, "HTTPSProxy": "proxy.test", "HTTPSPort": 9,
        ])
        #expect(words(partly, .http) != nil && words(partly, .https) == nil)
        #expect(partly.configuration.https?.port == 9)
    }

    @Test("a proxy that is not enabled is not read")
    func disabled() {
        let proxies = ClientProxies(["HTTPEnable": 0, "HTTPProxy": "", "HTTPSProxy": "://", "SOCKSEnable": false])
        #expect(words(proxies, .http) == nil && words(proxies, .https) == nil)
        #expect(proxies.configuration == .direct)
    }

    @Test("a SOCKS proxy of the dictionary is told the server's name, unless the dictionary has a proxy for the scheme")
    func socks() async throws {
        let name = Array("name.invalid".utf8)
        let ok = RawStep.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let socks = try RawServer.start([
            [
                .receive(.bytes(3)), .send([5, 0]), .receive(.bytes(7 + name.count)),
                .send([5, 0, 0, 1, 127, 0, 0, 1, 4, 56]), .receive(.headEnd), ok,
            ]
        ])
        let http = try RawServer.start([[.receive(.headEnd), ok]])
        var dictionary: [AnyHashable: Any] = [
            "SOCKSEnable": 1, "SOCKSProxy": "127.0.0.1", "SOCKSPort": Int(socks.port),
        ]
        func load() async throws {
            let configuration = URLSessionConfiguration.isolated
            configuration.connectionProxyDictionary = dictionary
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            #expect(try await session.data(from: try url("http://name.invalid/")).0 == Data("ok".utf8))
        }
        try await load()
        let greeting: [UInt8] = [5, 1, 0]
        let connect = [5, 1, 0, 3, UInt8(name.count)] + name + [0, 80]
        #expect(socks.received(0).starts(with: greeting + connect + Array("GET / HTTP/1.1\r\n".utf8)))
        dictionary.merge(["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(http.port)]) { $1 }
        try await load()
        #expect(http.received(0).starts(with: "GET http://name.invalid/ HTTP/1.1\r\n".utf8))
        #expect(socks.connections.count == 1)
    }

    @Test("a stream task uses the proxy for https, and fails as requests do")
    func stream() async throws {
        let server = try TestServer.start()
        let configuration = URLSessionConfiguration.isolated
        configuration.connectionProxyDictionary = ["HTTPSEnable": 1, "HTTPSProxy": ""]
        let task = URLSession(configuration: configuration).streamTask(
            withHostName: "127.0.0.1",
            port: Int(server.port)
        )
        task.resume()
        await until { task.state == .completed }
        #expect((task.error as? URLError)?.code == .cannotConnectToHost)
    }
}
