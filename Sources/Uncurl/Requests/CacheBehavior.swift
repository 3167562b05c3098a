public import URLLoading

/// What is done with an answer that may be stored.
@frozen public enum CacheBehavior: Sendable {
    /// The answer is stored.
    case cache
    /// Nothing is stored.
    case doNotCache
    /// The closure gives what is stored; nil: nothing.
    case modify(@Sendable (URLSessionDataTask, CachedURLResponse) async -> CachedURLResponse?)

    func stored(_ task: URLSessionDataTask, _ proposed: CachedURLResponse) async -> CachedURLResponse? {
        switch self {
        case .cache: proposed
        case .doNotCache: nil
        case .modify(let change): await change(task, proposed)
        }
    }
}
