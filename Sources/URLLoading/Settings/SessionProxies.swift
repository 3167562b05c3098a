internal import Foundation
internal import UncurlClient
internal import UncurlEngine
internal import UncurlSemantics

/// The proxies of a session's requests, by its configuration.
extension ClientProxies {
    /// - Parameters:
    ///   - dictionary: nil for the environment's proxies.
    ///   - configurations: the proxies that are tried before.
    ///   - environment: the proxies of the environment; tests give their own.
    init(
        _ dictionary: [AnyHashable: Any]?,
        _ configurations: [ProxyConfiguration] = [],
        environment: @autoclosure () -> ProxyEnvironment = ClientProxies.environment
    ) {
        let listed = configurations.map { ListedProxy($0) }
        if let dictionary {
            self.init(dictionary: dictionary, listed)
        } else {
            let settings = environment()
            self.init(
                http: settings.http.mapError { ProxyFault("\($0)") },
                https: settings.https.mapError { ProxyFault("\($0)") },
                exceptions: settings.exceptions,
                listed: listed
            )
        }
    }

    /// The environment is read once: a program may change it while other threads run.
    private static let environment = ProxyEnvironment()
}

/// Reads `connectionProxyDictionary` by CFNetwork's keys.
extension ClientProxies {
    fileprivate init(dictionary: [AnyHashable: Any], _ listed: [ListedProxy]) {
        let list = dictionary[kCFNetworkProxiesExceptionsList]
        func proxy(_ name: String) -> Result<Proxy?, ProxyFault> {
            Result { () throws(ProxyFault) in
                if list != nil, !(list is [String]) {
                    throw ClientProxies.fault(kCFNetworkProxiesExceptionsList, "is no array of strings")
                }
                if try ClientProxies.isSet(dictionary, "ProxyAutoConfigEnable") {
                    throw ClientProxies.fault("ProxyAutoConfigEnable", "asks for a script, and none is run here")
                }
                if let own = try ClientProxies.proxy(dictionary, .http, name) { return own }
                return try ClientProxies.proxy(dictionary, .socks5h, "SOCKS")
            }
        }
        let exceptions = ProxyExceptions(domains: list as? [String] ?? [])
        self.init(http: proxy("HTTP"), https: proxy("HTTPS"), exceptions: exceptions, listed: listed)
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

extension ListedProxy {
    init(_ configuration: ProxyConfiguration) {
        let matching = configuration.matchDomains.filter { !$0.isEmpty }
        self.init(
            Result { () throws(ProxyFault) in try configuration.proxy() },
            allowsFailover: configuration.allowFailover,
            matching: matching.isEmpty ? nil : ProxyExceptions(domains: matching),
            excluded: ProxyExceptions(domains: configuration.excludedDomains)
        )
    }
}

extension ProxyExceptions {
    /// Makes a list of names, with all names below them, addresses and networks. `*.example.com` counts as
    /// `example.com`.
    init(domains: [String]) {
        self.init(domains.map { $0.hasPrefix("*.") ? String($0.dropFirst(2)) : $0 }.joined(separator: ","))
    }
}
