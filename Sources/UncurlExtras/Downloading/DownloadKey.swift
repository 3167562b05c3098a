internal import Uncurl

/// Decides whether two requests of a ``Downloader`` are equal.
public struct DownloadKey: Hashable, Sendable {
    /// Which fields of requests must be the same.
    public enum Fields: Hashable, Sendable {
        /// All fields of the request.
        case all
        /// Whatever the case of their names.
        case only(Set<String>)
    }

    private enum Identity: Hashable {
        case given(String)
        case request(method: String, url: String, fields: [String: String])
        /// A request that is never merged.
        case unique(UInt64)
    }

    private enum Freshness: Hashable {
        case any
        /// A request for a fresh answer does not join a load that may give a stale one.
        case fresh
        /// A request that must not be loaded fails where others load.
        case stored
    }

    private let identity: Identity
    private let freshness: Freshness

    /// - Parameters:
    ///   - given: the program's own word.
    ///   - number: of the request; no two have the same.
    init(_ request: URLRequest, given: String?, fields: Fields, number: UInt64) {
        freshness =
            request.cachePolicy.ignoresCaches
            ? .fresh : request.cachePolicy == .returnCacheDataDontLoad ? .stored : .any
        let method = request.httpMethod ?? "GET"
        if let given {
            identity = .given(given)
        } else if method == "GET" || method == "HEAD", request.httpBody == nil, request.httpBodyStream == nil {
            var kept: [String: String] = [:]
            let wanted: Set<String>? =
                switch fields {
                case .all: nil
                case .only(let names): Set(names.map { $0.lowercased() })
                }
            for (name, value) in request.allHTTPHeaderFields ?? [:] {
                let name = name.lowercased()
                if wanted?.contains(name) ?? true { kept[name] = value }
            }
            identity = .request(method: method, url: request.url?.absoluteString ?? "", fields: kept)
        } else {
            identity = .unique(number)
        }
    }

    /// What a value is kept under, whether it was asked for freshly or not.
    var cacheKey: DownloadCacheKey { DownloadCacheKey(self) }

    fileprivate var anyFreshness: DownloadKey { DownloadKey(identity) }

    private init(_ identity: Identity) {
        self.identity = identity
        freshness = .any
    }
}

/// What a ``Downloader`` keeps values under: the same request, however fresh its answer had to be.
public struct DownloadCacheKey: Hashable, Sendable {
    private let key: DownloadKey

    init(_ key: DownloadKey) { self.key = key.anyFreshness }
}

extension URLRequest.CachePolicy {
    /// Whether an answer that is at hand is no answer.
    var ignoresCaches: Bool {
        switch self {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData: true
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad: false
        @unknown default: true
        }
    }
}
