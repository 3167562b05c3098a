public import URLLoading

/// What happens to an answer that may be stored.
@frozen public enum CacheBehavior: Sendable {
    /// The answer is stored.
    case cache
    /// Nothing is stored.
    case doNotCache
    /// The closure returns the answer to store; nil stores nothing.
    case modify(@Sendable (URLSessionDataTask, CachedURLResponse) async -> CachedURLResponse?)

    func stored(_ task: URLSessionDataTask, _ proposed: CachedURLResponse) async -> CachedURLResponse? {
        switch self {
        case .cache: proposed
        case .doNotCache: nil
        case .modify(let change): await change(task, proposed)
        }
    }
}
