extension NSURLRequest {
    /// How a request may use the cache.
    @frozen public enum CachePolicy: UInt, Sendable {
        /// As HTTP says (RFC 9111): fresh responses are served from the cache, stale ones are validated.
        case useProtocolCachePolicy
        /// Neither serves from the local cache nor validates what it holds; the answer is stored.
        case reloadIgnoringLocalCacheData
        /// The same, and asks caches on the way not to serve either (`Cache-Control: no-cache`, `Pragma: no-cache`).
        case reloadIgnoringLocalAndRemoteCacheData
        /// Serves what the cache holds, however old; asks the origin if it holds nothing.
        case returnCacheDataElseLoad
        /// Serves what the cache holds, however old; if it holds nothing the load fails, and no packet is sent.
        case returnCacheDataDontLoad
        /// Serves what the cache holds once the origin has confirmed it.
        case reloadRevalidatingCacheData

        /// An older name for ``reloadIgnoringLocalCacheData``.
        public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
    }

    /// What a request's traffic is for. Linux has no traffic classes that a process may choose from without privileges,
    /// so this is a note to the reader of the request; ``URLSessionTask/priority`` orders requests.
    @frozen public enum NetworkServiceType: UInt, Sendable {
        /// No particular purpose.
        case `default`
        /// Of no effect here.
        case voip
        /// Of no effect here.
        case video
        /// Of no effect here.
        case background
        /// Of no effect here.
        case voice
        /// Of no effect here.
        case networkServiceTypeCallSignaling
    }

    /// Who chose the URL of a request: for the privacy report of Apple's systems. Of no effect here.
    @frozen public enum Attribution: UInt, Sendable {
        /// The program's developer.
        case developer
        /// The user, as in a browser.
        case user
    }
}
