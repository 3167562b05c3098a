/// How a request uses what is stored: the cache modes of the Fetch standard, with Foundation's request cache policies
/// beside them.
public enum CacheMode: Hashable, Sendable {
    /// By RFC 9111. Fetch: `default`; Foundation: `useProtocolCachePolicy`.
    case standard
    /// Nothing stored here is looked at. Fetch: `no-store`; Foundation: `reloadIgnoringLocalCacheData`.
    case bypass
    /// Nothing stored is looked at, here or on the way. Fetch: `reload`; Foundation:
    /// `reloadIgnoringLocalAndRemoteCacheData`.
    case reload
    /// What is stored answers, however old it is. Fetch: `force-cache`; Foundation: `returnCacheDataElseLoad`.
    case preferStored
    /// The same, and nothing is asked for. Fetch: `only-if-cached`; Foundation: `returnCacheDataDontLoad`.
    case onlyStored
    /// What is stored answers once the server has said that it is still good. Fetch: `no-cache`; Foundation:
    /// `reloadRevalidatingCacheData`.
    case revalidate

    /// Whether what is stored may have a part in the answer.
    public var looksIntoCache: Bool {
        switch self {
        case .bypass, .reload: false
        case .standard, .preferStored, .onlyStored, .revalidate: true
        }
    }
}
