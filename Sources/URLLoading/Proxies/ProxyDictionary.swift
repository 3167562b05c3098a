internal import Foundation
internal import UncurlEngine
internal import UncurlSemantics

/// Reads `connectionProxyDictionary` by CFNetwork's keys.
struct ProxyDictionary {
    let http: Result<Proxy?, ProxyFault>
    let https: Result<Proxy?, ProxyFault>
    let exceptions: ProxyExceptions

    init(_ dictionary: [AnyHashable: Any]) {
        let list = dictionary[kCFNetworkProxiesExceptionsList]
        exceptions = ProxyExceptions(domains: list as? [String] ?? [])
        func proxy(_ name: String) -> Result<Proxy?, ProxyFault> {
            Result { () throws(ProxyFault) in
                if list != nil, !(list is [String]) {
                    throw ProxyDictionary.fault(kCFNetworkProxiesExceptionsList, "is no array of strings")
                }
                if try ProxyDictionary.isSet(dictionary, "ProxyAutoConfigEnable") {
                    throw ProxyDictionary.fault("ProxyAutoConfigEnable", "asks for a script, and none is run here")
                }
                if let own = try ProxyDictionary.proxy(dictionary, .http, name) { return own }
                return try ProxyDictionary.proxy(dictionary, .socks5h, "SOCKS")
            }
        }
        http = proxy("HTTP")
        https = proxy("HTTPS")
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
