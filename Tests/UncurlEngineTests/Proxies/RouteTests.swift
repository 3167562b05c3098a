import Testing
import UncurlReactor
import UncurlSemantics
import UncurlTLS

@testable import UncurlEngine

@Suite("Routes")
struct RouteTests {
    private func route(
        _ scheme: Origin.Scheme,
        _ host: String = "origin.test",
        by url: String?,
        endpoint: Endpoint = .origin,
        serverName: String? = nil
    ) throws -> Route {
        let proxy = try url.map { try Proxy(url: $0) }
        let origin = try Origin(scheme: scheme, host: host)
        let destination = Destination(origin: origin, endpoint: endpoint, serverName: serverName)
        return Route(to: destination, proxy.map { OriginProxies($0) } ?? .direct)
    }

    @Test(
        "the steps follow from the scheme and the kind of proxy; only plain requests to HTTP proxies are absolute",
        arguments: [
            (.http, nil, [], false), (.https, nil, [.secure(host: "origin.test")], false),
            (.http, "http://p:1", [], true), (.http, "https://p:1", [.secureProxy], true),
            (.https, "http://p:1", [.tunnel(to: "origin.test:443"), .secure(host: "origin.test")], false),
            (
                .https, "https://p:1",
                [.secureProxy, .tunnel(to: "origin.test:443"), .secure(host: "origin.test")], false
            ),
            (.http, "socks5://p:1", [.socks(host: "origin.test", port: 80)], false),
            (
                .https, "socks5h://p:1",
                [.socks(host: "origin.test", port: 443), .secure(host: "origin.test")], false
            ),
        ] as [(Origin.Scheme, String?, [RouteStep], Bool)]
    )
    func steps(scheme: Origin.Scheme, proxy: String?, steps: [RouteStep], isAbsolute: Bool) throws {
        let route = try route(scheme, by: proxy)
        #expect(route.steps == steps && route.isAbsolute == isAbsolute)
        #expect(route.target == (proxy == nil ? .host("origin.test", port: scheme.defaultPort) : .host("p", port: 1)))
    }

    @Test("another endpoint is where the tunnel leads; plain requests then take a tunnel too")
    func endpoints() throws {
        let elsewhere = Endpoint.host("other.test", port: 81)
        var route = try route(.http, by: "http://p:1", endpoint: elsewhere)
        #expect(route.steps == [.tunnel(to: "other.test:81")] && !route.isAbsolute)
        route = try self.route(.https, by: "http://p:1", endpoint: elsewhere)
        #expect(route.steps == [.tunnel(to: "other.test:81"), .secure(host: "origin.test")])
        route = try self.route(.https, by: "socks5h://p:1", endpoint: .address(.v6(.loopback, port: 82)))
        #expect(route.steps == [.socks(host: "::1", port: 82), .secure(host: "origin.test")])
        route = try self.route(.https, by: nil, endpoint: .address(.loopback(port: 82)), serverName: "name.test")
        #expect(route.target == .addresses([.loopback(port: 82)]) && route.steps == [.secure(host: "name.test")])
        route = try self.route(.http, by: nil, endpoint: elsewhere)
        #expect(route.target == .host("other.test", port: 81) && route.steps.isEmpty)
    }

    @Test("what is to become another protocol takes a tunnel, and no connection of ordinary requests")
    func tunnels() throws {
        let origin = try Origin(host: "origin.test")
        let (ordinary, other) = (Destination(origin: origin), Destination(origin: origin, needsTunnel: true))
        let route = Route(to: other, OriginProxies(try Proxy(url: "http://p:1")))
        #expect(route.steps == [.tunnel(to: "origin.test:80")] && !route.isAbsolute)
        #expect(ordinary != other)
    }

    @Test("IPv6 stands in brackets in CONNECT's target, and without its zone")
    func authority() throws {
        #expect(try route(.https, "::1", by: "http://p:1").steps.first == .tunnel(to: "[::1]:443"))
        let linkLocal = Endpoint.host("fe80::1%eth0", port: 1)
        #expect(try route(.https, by: "http://p:1", endpoint: linkLocal).steps.first == .tunnel(to: "[fe80::1]:1"))
        #expect(try route(.https, by: "https://[::1]:3").target == .host("::1", port: 3))
    }

    @Test("TLS asks for the certificate of an IPv6 address without its zone, and connects with it")
    func zone() throws {
        let route = try route(.https, "::1%1", by: nil)
        #expect(route.steps == [.secure(host: "::1")])
        #expect(route.target == .host("::1%1", port: 443))
    }

    @Test("a unix socket is behind no proxy, whether the request or the engine names one")
    func unix() throws {
        let name = try #require(UnixName(path: "/run/x"))
        let route = try route(.https, by: "http://p:1", endpoint: .address(.unix(name)))
        #expect(route.proxy == nil && route.target == .addresses([.unix(name)]))
        #expect(route.steps == [.secure(host: "origin.test")])
    }

    @Test("a request's own word on proxies comes before the engine's")
    func choice() throws {
        let origin = try Origin(host: "origin.test")
        let (own, configured) = (try Proxy(url: "p:1"), OriginProxies(try Proxy(url: "q:1")))
        func proxy(_ choice: OriginProxies?) -> Proxy? {
            Route(to: Destination(origin: origin, proxies: choice), configured).proxy
        }
        #expect(proxy(nil) == configured.http)
        #expect(proxy(.direct) == nil)
        #expect(proxy(OriginProxies(own)) == own)
        #expect(proxy(OriginProxies(own, exceptions: ProxyExceptions("test"))) == nil)
    }

    @Test("destinations that differ in the proxy, or in its credentials alone, are different")
    func identity() throws {
        let origin = try Origin(host: "origin.test")
        let choices: [OriginProxies?] = [
            nil, .direct, OriginProxies(try Proxy(url: "p:1")), OriginProxies(try Proxy(url: "u:a@p:1")),
            OriginProxies(try Proxy(url: "u:b@p:1")), OriginProxies(try Proxy(url: "socks5://p:1")),
        ]
        #expect(Set(choices.map { Destination(origin: origin, proxies: $0) }).count == choices.count)
    }

    @Test("destinations that differ in the evaluator of the request alone are different, for plain origins too")
    func evaluators() throws {
        final class Evaluator: TrustEvaluator {
            func evaluate(_ trust: PeerTrust, of: Origin, answer: @escaping @Sendable (TrustVerdict?) -> Void) {}
        }
        let evaluators = [nil, Evaluator(), Evaluator()]
        for scheme in [Origin.Scheme.http, .https] {
            let origin = try Origin(scheme: scheme, host: "a.test")
            let all = evaluators.map { Destination(origin: origin, evaluator: $0) }
            #expect(Set(all).count == 3 && all[1] == Destination(origin: origin, evaluator: evaluators[1]))
        }
    }

    @Test("destinations that differ in the origin alone are different, also behind one SOCKS proxy")
    func origins() throws {
        let proxy = OriginProxies(try Proxy(url: "socks5h://p:1"))
        let first = Destination(origin: try Origin(host: "a.test"), proxies: proxy)
        #expect(first == Destination(origin: try Origin(host: "a.test"), proxies: proxy))
        for other in [
            try Origin(host: "b.test"), try Origin(host: "a.test", port: 81),
            try Origin(scheme: .https, host: "a.test"),
        ] {
            #expect(first != Destination(origin: other, proxies: proxy))
        }
    }
}

extension Destination {
    fileprivate convenience init(
        origin: Origin,
        endpoint: Endpoint = .origin,
        proxies: OriginProxies? = nil,
        needsTunnel: Bool = false,
        serverName: String? = nil,
        evaluator: (any TrustEvaluator)? = nil
    ) {
        var options = EngineRequest.Options()
        (options.endpoint, options.proxies, options.serverName) = (endpoint, proxies, serverName)
        options.trustEvaluator = evaluator
        self.init(origin, options, needsTunnel: needsTunnel)
    }
}
