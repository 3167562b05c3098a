internal import Foundation
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics

/// A request that no task waits for. It updates a stored answer that was served stale meanwhile (RFC 5861 §3).
final class CacheRefresh: ExchangeDelegate {
    private let cached: CachedURLResponse
    private let cache: URLCache
    private let isAsked: Bool
    private let url: URL
    private let vary: VaryRule
    private let fields: (ConnectionRecord?) -> HTTPFields?
    private let hear: (HTTPURLResponse) -> Void
    private let sent = UnixTime.now
    private var response: HTTPURLResponse?
    private var content = Data()
    private var isTooLarge = false

    /// - Parameters:
    ///   - isAsked: whether a delegate decides what is stored. It has no task to decide for, so new content is not
    ///     stored.
    ///   - fields: the request's, for comparison, as it was sent on this connection; nil if nothing of the answer may
    ///     be stored.
    ///   - hear: called with the head of the answer, on the loop.
    init(
        _ cached: CachedURLResponse,
        _ cache: URLCache,
        isAsked: Bool,
        _ url: URL,
        _ vary: VaryRule,
        fields: @escaping (ConnectionRecord?) -> HTTPFields?,
        hear: @escaping (HTTPURLResponse) -> Void
    ) {
        self.cached = cached
        self.cache = cache
        self.isAsked = isAsked
        self.fields = fields
        self.url = url
        self.vary = vary
        self.hear = hear
    }

    private var key: CacheKey { CacheKey(method: "GET", url: url) }

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {
        guard head.status >= 200 else { return }
        // The head is kept beyond its callback, so its fields are copied from the parser's scratch.
        var kept = head
        kept.fields = head.fields.trimmed()
        let response = HTTPURLResponse(url: url, head: kept, isDecoded: head.contains(.contentEncoding))
        self.response = response
        hear(response)
    }

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {
        isTooLarge = isTooLarge || content.count + bytes.count > cache.contentLimit
        if !isTooLarge { content.append(bytes, expecting: -1) }
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        guard case .completed = outcome, let response, let stored = cached.exchange,
            let fields = fields(report.connection)
        else { return }
        let now = UnixTime.now
        let (status, received) = (response.statusCode, response.fields.list)
        switch status {
        case 304:
            // The connection may have shown another user than the one for whom the answer is stored.
            guard cached.record.map({ vary.isSameAsker($0, fields) }) ?? true else { return }
            let fresh = CacheRule.freshened(stored, by: received, requested: sent, received: now)
            guard let fresh else { return cache.discard(key) }
            cache.keep(updated: cached.updated(fresh, for: fields, vary), for: key)
        // A task follows redirects and answers challenges, and the next one is to meet this one.
        case 301, 302, 303, 307, 308, 401, 407: cache.discard(key)
        default:
            let permitted = CacheStorage.permitted(method: "GET", request: fields, status: status, response: received)
            guard permitted != .none, !isTooLarge, !isAsked else {
                // A server in trouble has nothing new.
                return status < 500 ? cache.discard(key) : ()
            }
            let entry = CachedURLResponse(
                response,
                data: content,
                storage: permitted,
                request: fields,
                requested: sent,
                received: now,
                vary: vary
            )
            cache.keep(entry, for: key)
        }
    }
}

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
        let effect = CacheRule.effect(
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
