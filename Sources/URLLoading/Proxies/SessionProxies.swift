internal import Foundation
internal import UncurlEngine
internal import UncurlSemantics

/// The proxies of a session's requests. If a setting names no proxy, requests that would use it fail, instead of being
/// sent without a proxy.
struct SessionProxies: Sendable {
    /// The proxies of the dictionary or the environment, without those that cannot be read.
    private(set) var configuration: OriginProxies
    /// Those of `proxyConfigurations`, in their order.
    private var listed: [ListedProxy] = []
    /// Whether TLS is spoken with one of the proxies.
    private(set) var areSecure: Bool
    private let http: ProxyFault?
    private let https: ProxyFault?

    /// - Parameters:
    ///   - dictionary: nil for the environment's proxies.
    ///   - configurations: the proxies that are tried before.
    ///   - environment: the proxies of the environment; tests give their own.
    init(
        _ dictionary: [AnyHashable: Any]?,
        _ configurations: [ProxyConfiguration] = [],
        environment: @autoclosure () -> ProxyEnvironment = SessionProxies.environment
    ) {
        if let dictionary {
            self.init(dictionary: dictionary)
        } else {
            let settings = environment()
            self.init(
                http: settings.http.mapError { ProxyFault("\($0)") },
                https: settings.https.mapError { ProxyFault("\($0)") },
                exceptions: settings.exceptions
            )
        }
        listed = configurations.map(ListedProxy.init)
        areSecure = areSecure || listed.contains { (try? $0.proxy.get().kind) == .https }
    }

    private init(
        http: Result<Proxy?, ProxyFault>,
        https: Result<Proxy?, ProxyFault>,
        exceptions: ProxyExceptions
    ) {
        (self.http, self.https) = (http.failure, https.failure)
        configuration = OriginProxies(http: http.proxy, https: https.proxy, exceptions: exceptions)
        areSecure = configuration.areSecure
    }

    /// The environment is read once: a program may change it while other threads run.
    private static let environment = ProxyEnvironment()

    /// Returns the proxies of a request.
    ///
    /// - Parameter failures: how many of the listed proxies for this host could not be used.
    func route(
        for scheme: Origin.Scheme,
        _ host: String,
        after failures: Int = 0
    ) -> Result<OriginProxies, ProxyFault> {
        let indices = indices(for: host)
        if indices.indices.contains(failures) { return listed[indices[failures]].proxy.map { OriginProxies($0) } }
        guard indices.isEmpty else { return .success(.direct) }
        return fault(for: scheme, host).map { .failure($0) } ?? .success(configuration)
    }

    /// Whether a request may do without the proxy that it has now.
    func allowsFailover(for host: String, after failures: Int) -> Bool {
        let indices = indices(for: host)
        return indices.indices.contains(failures) && listed[indices[failures]].allowsFailover
    }

    /// Gives these credentials to the proxy of a request.
    mutating func use(_ credentials: Credentials, for origin: Origin, after failures: Int) {
        func renewed(_ proxy: Proxy) -> Proxy {
            Proxy(
                proxy.kind,
                host: proxy.host,
                port: proxy.port,
                credentials: credentials,
                tunnelsAll: proxy.tunnelsAll
            )
        }
        let indices = indices(for: origin.host)
        if indices.indices.contains(failures) {
            listed[indices[failures]].proxy = listed[indices[failures]].proxy.map(renewed)
        } else if origin.scheme == .https {
            configuration.https = configuration.https.map(renewed)
        } else {
            configuration.http = configuration.http.map(renewed)
        }
    }

    private func indices(for host: String) -> [Int] { listed.indices.filter { listed[$0].applies(to: host) } }

    /// Returns the fault in the setting of the proxy for this host; nil if there is none.
    func fault(for scheme: Origin.Scheme, _ host: String) -> ProxyFault? {
        guard let fault = scheme == .https ? https : http, !configuration.exceptions.covers(host) else { return nil }
        return fault
    }
}

/// Reads `connectionProxyDictionary` by CFNetwork's keys.
extension SessionProxies {
    fileprivate init(dictionary: [AnyHashable: Any]) {
        let list = dictionary[kCFNetworkProxiesExceptionsList]
        func proxy(_ name: String) -> Result<Proxy?, ProxyFault> {
            Result { () throws(ProxyFault) in
                if list != nil, !(list is [String]) {
                    throw SessionProxies.fault(kCFNetworkProxiesExceptionsList, "is no array of strings")
                }
                if try SessionProxies.isSet(dictionary, "ProxyAutoConfigEnable") {
                    throw SessionProxies.fault("ProxyAutoConfigEnable", "asks for a script, and none is run here")
                }
                if let own = try SessionProxies.proxy(dictionary, .http, name) { return own }
                return try SessionProxies.proxy(dictionary, .socks5h, "SOCKS")
            }
        }
        let exceptions = ProxyExceptions(domains: list as? [String] ?? [])
        self.init(http: proxy("HTTP"), https: proxy("HTTPS"), exceptions: exceptions)
    }

    /// Returns the proxy; nil if none is to be used.
    private static func proxy(
        _ dictionary: [AnyHashable: Any],
        _ kind: Proxy.Kind,
        _ name: String
    ) throws(ProxyFault) -> Proxy? {
        guard try isSet(dictionary, name + "Enable") else { return nil }
        guard let given = dictionary[name + "Proxy"] else { throw fault(name + "Proxy", "is missing") }
        guard let text = given as? String, !text.isEmpty else { throw fault(name + "Proxy", "is empty, or no string") }
        guard !text.contains("://") else {
            throw fault(name + "Proxy", "is a URL, and should be a host's name or address")
        }
        let host: URLHost
        do throws(URLHost.Problem) {
            host = try URLHost(text)
        } catch {
            throw fault(name + "Proxy", "is no host: \(error)")
        }
        var credentials: Credentials?
        if let user = dictionary[kCFProxyUsernameKey] as? String {
            credentials = Credentials(user: user, password: dictionary[kCFProxyPasswordKey] as? String ?? "")
        }
        return Proxy(kind, host: host, port: try port(dictionary, name + "Port"), credentials: credentials)
    }

    private static func isSet(_ dictionary: [AnyHashable: Any], _ key: String) throws(ProxyFault) -> Bool {
        guard let given = dictionary[key] else { return false }
        if let flag = given as? Bool { return flag }
        guard let number = number(given) else { throw fault(key, "is neither a Boolean nor a number") }
        return number != 0
    }

    /// Returns the port; nil for the default of the proxy's kind.
    private static func port(_ dictionary: [AnyHashable: Any], _ key: String) throws(ProxyFault) -> UInt16? {
        guard let given = dictionary[key] else { return nil }
        guard let port = number(given).flatMap({ UInt16(exactly: $0) }), port > 0 else {
            throw fault(key, "is no number from 1 to 65535")
        }
        return port
    }

    private static func number(_ value: Any) -> Int? { (value as? Int) ?? (value as? NSNumber)?.intValue }

    private static func fault(_ key: String, _ reason: String) -> ProxyFault {
        ProxyFault("connectionProxyDictionary: \(key) \(reason)")
    }
}

extension OriginProxies {
    /// Whether TLS is spoken with one of the proxies.
    var areSecure: Bool { http?.kind == .https || https?.kind == .https }
}

/// A setting that names no proxy, and the reason. It contains neither user nor password.
struct ProxyFault: Error, CustomStringConvertible {
    let description: String

    init(_ reason: String) { description = "the proxy cannot be read: \(reason)" }
}

extension Result where Success == Proxy?, Failure == ProxyFault {
    fileprivate var proxy: Proxy? { if case .success(let proxy) = self { proxy } else { nil } }

    fileprivate var failure: ProxyFault? { if case .failure(let fault) = self { fault } else { nil } }
}

/// A proxy of `proxyConfigurations`, in the form that a session's loader needs.
struct ListedProxy: Sendable {
    var proxy: Result<Proxy, ProxyFault>
    let allowsFailover: Bool
    /// Nil: all hosts.
    private let matching: ProxyExceptions?
    private let excluded: ProxyExceptions

    init(_ configuration: ProxyConfiguration) {
        proxy = Result { () throws(ProxyFault) in try configuration.proxy() }
        allowsFailover = configuration.allowFailover
        let matching = configuration.matchDomains.filter { !$0.isEmpty }
        self.matching = matching.isEmpty ? nil : ProxyExceptions(domains: matching)
        excluded = ProxyExceptions(domains: configuration.excludedDomains)
    }

    func applies(to host: String) -> Bool {
        !excluded.covers(host) && matching?.covers(host) != false
    }
}

extension ProxyExceptions {
    /// Makes a list of names, with all names below them, addresses and networks. `*.example.com` counts as
    /// `example.com`.
    init(domains: [String]) {
        self.init(domains.map { $0.hasPrefix("*.") ? String($0.dropFirst(2)) : $0 }.joined(separator: ","))
    }
}
