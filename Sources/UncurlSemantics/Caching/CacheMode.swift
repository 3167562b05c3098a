/// How a request uses what is stored: the cache modes of the Fetch standard, and Foundation's request cache policies.
public enum CacheMode: Hashable, Sendable {
    /// By RFC 9111. Fetch: `default`; Foundation: `useProtocolCachePolicy`.
    case standard
    /// Ignores what is stored here. Fetch: `no-store`; Foundation: `reloadIgnoringLocalCacheData`.
    case bypass
    /// Ignores what is stored, here or on the way. Fetch: `reload`; Foundation:
    /// `reloadIgnoringLocalAndRemoteCacheData`.
    case reload
    /// Serves what is stored, however old. Fetch: `force-cache`; Foundation: `returnCacheDataElseLoad`.
    case preferStored
    /// The same, but no server is asked. Fetch: `only-if-cached`; Foundation: `returnCacheDataDontLoad`.
    case onlyStored
    /// Serves what is stored once the server has said that it is still good. Fetch: `no-cache`; Foundation:
    /// `reloadRevalidatingCacheData`.
    case revalidate

    /// Whether a stored response may take part in the answer.
    public var looksIntoCache: Bool {
        switch self {
        case .bypass, .reload: false
        case .standard, .preferStored, .onlyStored, .revalidate: true
        }
    }
}
