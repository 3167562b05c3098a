internal import UncurlHTTP1
internal import UncurlSemantics

/// The comparison of an answer to a HEAD with what is stored for GET (RFC 9111 §4.3.5). Times are seconds since 1970.
struct HeadComparison: Sendable {
    let cache: URLCache
    /// That of the GET.
    let key: CacheKey
    /// The fields of the HEAD as they were sent, in the form in which they are compared with other requests'.
    let request: HTTPFields
    /// The fields of the answer.
    let head: HTTPFields
    let status: Int
    let requested: Int64
    let received: Int64
    let vary: VaryRule

    /// Compares with what is in memory.
    ///
    /// - Returns: false if what is stored is not in memory. ``compareAfterReading()`` then does all of it.
    func compareInMemory() -> Bool {
        switch cache.find(key) {
        case .nothing: return true
        case .response(let cached):
            compare(cached)
            return true
        case .onDisk: return false
        }
    }

    /// Reads what is stored, which blocks, and compares.
    func compareAfterReading() {
        guard let request = key.request, let cached = cache.load(key, request) else { return }
        compare(cached)
    }

    private func compare(_ cached: CachedURLResponse) {
        guard let stored = cached.exchange, vary.matches(stored.record, request) else { return }
        let effect = CacheValidation.effect(
            ofHead: head,
            status: status,
            on: stored,
            requested: requested,
            received: received
        )
        switch effect {
        case .none: break
        case .update(let fresh): cache.keep(updated: cached.updated(fresh, for: request, vary), for: key)
        case .remove: cache.discard(key)
        }
    }
}
