internal import Foundation
internal import UncurlEngine
internal import UncurlTLS

/// The proxies of an attempt's requests.
extension Attempt {
    /// Returns the session's proxies for a request to this place.
    func proxies(to place: HTTPURL, _ url: URL, _ engine: SessionEngine) throws(URLError) -> OriginProxies {
        // Without a copy of the session's, which nearly every attempt uses.
        let route =
            ownProxies.first?.route(for: place.scheme, place.origin.host, after: proxyFailures)
            ?? engine.proxies.route(for: place.scheme, place.origin.host, after: proxyFailures)
        do throws(ProxyFault) { return try route.get() } catch {
            throw ErrorTranslation.urlError(.cannotConnectToHost, url, error)
        }
    }

    /// Returns the session's proxies for the transaction that runs.
    func proxies(_ engine: SessionEngine) -> OriginProxies {
        guard let transaction else { return .direct }
        return (try? proxies(to: transaction.place, transaction.url, engine)) ?? .direct
    }

    /// Whether TLS is spoken with the proxy of the transaction that runs.
    func isProxyEncrypted(_ engine: SessionEngine) -> Bool {
        guard let origin = transaction?.place.origin else { return false }
        return proxies(engine).proxy(for: origin)?.kind == .https
    }

    /// Chooses the next proxy after one that cannot be used, if the configuration of proxies allows failover.
    ///
    /// - Returns: false if there is no other proxy to use: the request fails.
    mutating func failOver(_ error: EngineError, _ engine: SessionEngine) -> Bool {
        guard error.isOfUnusableProxy, let origin = transaction?.place.origin,
            engine.proxies.allowsFailover(for: origin.host, after: proxyFailures)
        else { return false }
        proxyFailures += 1
        return true
    }
}

extension EngineError {
    /// Whether the proxy cannot be used. A proxy that refuses the server or the credentials can be used. If a delegate
    /// refuses the proxy's certificate, the request fails: the program may not want another route.
    fileprivate var isOfUnusableProxy: Bool {
        switch self {
        case .proxy(.tls(.refused)): false
        case .proxy(.unreachable), .proxy(.tls), .proxy(.closed), .proxy(.malformedResponse), .timedOut(.connect): true
        default: false
        }
    }
}
