extension NSURLRequest {
    /// What a request says to the cache.
    @frozen public enum CachePolicy: UInt, Sendable {
        /// As HTTP has it (RFC 9111): fresh responses are served from the cache, stale ones are validated.
        case useProtocolCachePolicy
        /// Neither asks the local cache nor lets its validators into the request; what comes is stored.
        case reloadIgnoringLocalCacheData
        /// The same, and asks caches on the way to look away too (`Cache-Control: no-cache`, `Pragma: no-cache`).
        case reloadIgnoringLocalAndRemoteCacheData
        /// What the cache holds, however old; the origin where it holds nothing.
        case returnCacheDataElseLoad
        /// What the cache holds, however old; else the load fails, and no packet leaves.
        case returnCacheDataDontLoad
        /// What the cache holds once the origin has confirmed it.
        case reloadRevalidatingCacheData

        /// An older name.
        public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
    }

    /// What a request's traffic is for. Linux has no traffic classes that a process may choose from without privileges,
    /// so this is a note to the reader of the request; ``URLSessionTask/priority`` orders requests.
    @frozen public enum NetworkServiceType: UInt, Sendable {
        /// Nothing is said of it.
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
}
