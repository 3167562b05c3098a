internal import Uncurl

/// Decides whether two requests of a ``Downloader`` are equal.
public struct DownloadKey: Hashable, Sendable {
    /// Which header fields must be equal.
    public enum Fields: Hashable, Sendable {
        /// All fields of the request.
        case all
        /// These fields. Their names are compared without case.
        case only(Set<String>)
    }

    private enum Identity: Hashable {
        case given(String)
        case request(method: String, url: String, fields: [String: String])
        /// A request that is never merged.
        case unique(UInt64)
    }

    private let identity: Identity
    /// True for a request for a fresh answer: it does not join a load that may return a stored one. False for a request
    /// that must not use the network: it fails where another request loads, so the two are not merged. Nil for others.
    private let isFresh: Bool?

    /// - Parameters:
    ///   - given: the key that the program has given, if any.
    ///   - number: the number of the request; each request has its own.
    init(_ request: URLRequest, given: String?, fields: Fields, number: UInt64) {
        isFresh =
            request.cachePolicy.ignoresCaches ? true : request.cachePolicy == .returnCacheDataDontLoad ? false : nil
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

    /// The key of the cached value. It is the same whether or not the request asked for a fresh answer. Nil for a
    /// request that is never merged: no other request could find its value.
    var cacheKey: DownloadCacheKey? {
        if case .unique = identity { nil } else { DownloadCacheKey(self) }
    }

    fileprivate var anyFreshness: DownloadKey { DownloadKey(identity) }

    private init(_ identity: Identity) {
        self.identity = identity
        isFresh = nil
    }
}

/// The key of a ``Downloader``'s cached values: the request without its cache policy.
public struct DownloadCacheKey: Hashable, Sendable {
    private let key: DownloadKey

    init(_ key: DownloadKey) { self.key = key.anyFreshness }
}

extension URLRequest.CachePolicy {
    /// Whether the request does not accept stored answers.
    var ignoresCaches: Bool {
        switch self {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData: true
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad: false
        @unknown default: true
        }
    }
}
