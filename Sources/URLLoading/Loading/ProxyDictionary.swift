internal import Foundation
internal import HTTPEngine

/// Reads `connectionProxyDictionary` by the keys that CFNetwork gave it.
enum ProxyDictionary {
    /// Nil: the environment's proxies. An environment that cannot be read counts as one without proxies, as with every program
    /// that reads it.
    static func configuration(_ dictionary: [AnyHashable: Any]?) -> ProxyConfiguration {
        guard let dictionary else { return environment }
        let socks = proxy(dictionary, .socks5h, "SOCKS")
        var exceptions = ProxyExceptions()
        if let list = dictionary[kCFNetworkProxiesExceptionsList] as? [String] {
            exceptions = ProxyExceptions(list.joined(separator: ","))
        }
        return ProxyConfiguration(
            http: proxy(dictionary, .http, "HTTP") ?? socks,
            https: proxy(dictionary, .http, "HTTPS") ?? socks,
            exceptions: exceptions
        )
    }

    private static let environment = (try? ProxyEnvironment.configuration()) ?? .direct

    private static func proxy(_ dictionary: [AnyHashable: Any], _ kind: Proxy.Kind, _ name: String) -> Proxy? {
        guard isTrue(dictionary[name + "Enable"]) else { return nil }
        guard let host = dictionary[name + "Proxy"] as? String, let host = try? URLHost(host) else { return nil }
        let port = number(dictionary[name + "Port"]).flatMap { UInt16(exactly: $0) }
        var credentials: Credentials?
        if let user = dictionary[kCFProxyUsernameKey] as? String {
            credentials = Credentials(user: user, password: dictionary[kCFProxyPasswordKey] as? String ?? "")
        }
        return Proxy(kind, host: host, port: port, credentials: credentials)
    }

    private static func isTrue(_ value: Any?) -> Bool { (value as? Bool) ?? (number(value).map { $0 != 0 } ?? false) }

    private static func number(_ value: Any?) -> Int? { (value as? Int) ?? (value as? NSNumber)?.intValue }
}
