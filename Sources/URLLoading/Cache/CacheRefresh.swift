internal import Foundation
internal import HTTP1
internal import HTTPEngine
internal import HTTPSemantics

/// A request that no task waits for. It updates a stored answer that was served stale meanwhile (RFC 5861 §3).
final class CacheRefresh: ExchangeDelegate {
    private let cached: CachedURLResponse
    private let cache: URLCache
    private let key: CacheKey
    private let fields: HTTPFields
    private let url: URL
    private let vary: VaryRule
    private let sent = UnixTime.now
    /// The head. It is kept beyond its callback, so its fields are copied from the parser's scratch.
    private var head: ResponseHead?
    private var content = Data()
    private var isTooLarge = false

    init(
        _ cached: CachedURLResponse,
        _ cache: URLCache,
        _ key: CacheKey,
        _ fields: HTTPFields,
        _ url: URL,
        _ vary: VaryRule
    ) {
        self.cached = cached
        self.cache = cache
        self.key = key
        self.fields = fields
        self.url = url
        self.vary = vary
    }

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {
        guard head.status >= 200 else { return }
        self.head = head
        self.head?.fields = head.fields.trimmed()
    }

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {
        isTooLarge = isTooLarge || content.count + bytes.count > cache.contentLimit
        if !isTooLarge { content.append(bytes, expecting: -1) }
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        guard case .completed = outcome, let head, let stored = cached.exchange else { return }
        let now = UnixTime.now
        guard head.status != 304 else {
            let fresh = CacheValidation.freshened(stored, by: head.fields, requested: sent, received: now)
            if let fresh { cache.keep(cached.updated(fresh), for: key) }
            return
        }
        let permitted = CacheStorage.permitted(
            method: "GET",
            request: fields,
            status: head.status,
            response: head.fields
        )
        guard permitted != .forbidden, !isTooLarge else { return }
        let entry = CachedURLResponse(
            HTTPURLResponse(url: url, head: head, isDecoded: head.contains(.contentEncoding)),
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
