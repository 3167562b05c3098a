internal import Foundation
internal import HTTPEngine

/// By which proxies an attempt's requests go.
extension Attempt {
    /// The session's proxies for a request to that place.
    func proxies(to place: HTTPURL, _ url: URL, _ engine: SessionEngine) throws(URLError) -> OriginProxies {
        do throws(ProxyFault) {
            return try engine.proxies.route(for: place.scheme, place.origin.host, after: proxyFailures).get()
        } catch {
            throw ErrorTranslation.urlError(.cannotConnectToHost, url, error)
        }
    }

    /// The session's proxies for the transaction under way.
    func proxies(_ engine: SessionEngine) -> OriginProxies {
        guard let transaction else { return .direct }
        return (try? proxies(to: transaction.place, transaction.url, engine)) ?? .direct
    }

    /// Goes on without a proxy that cannot be used, if its configuration lets it.
    ///
    /// - Returns: false if the failure stands.
    mutating func failOver(_ error: EngineError, _ engine: SessionEngine) -> Bool {
        guard error.isOfUnusableProxy, let origin = transaction?.place.origin,
            engine.proxies.allowsFailover(for: origin.host, after: proxyFailures)
        else { return false }
        proxyFailures += 1
        return true
    }
}

extension EngineError {
    /// Whether a proxy could not be spoken with. One that refuses the server or the user has been.
    fileprivate var isOfUnusableProxy: Bool {
        switch self {
        case .proxy(.unreachable), .proxy(.tls), .proxy(.closed), .proxy(.malformedResponse), .timedOut(.connect): true
        default: false
        }
    }
}
