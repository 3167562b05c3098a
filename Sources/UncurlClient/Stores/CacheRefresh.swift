internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics

/// A request that no task waits for. It updates a stored answer that was served stale meanwhile (RFC 5861 §3).
final class CacheRefresh: ExchangeDelegate {
    private let stored: StoredAnswer
    private let store: any AnswerStore
    private let isAsked: Bool
    private let url: String
    private let vary: VaryRule
    private let fields: (ConnectionRecord?) -> HTTPFields?
    private let hear: (LocatedHead) -> Void
    private let sent = unixTime()
    private var response: LocatedHead?
    private var content: [UInt8] = []
    private var isTooLarge = false

    /// - Parameters:
    ///   - isAsked: whether a delegate decides what is stored. It has no task to decide for, so new content is not
    ///     stored.
    ///   - fields: the request's, for comparison, as it was sent on this connection; nil if nothing of the answer may
    ///     be stored.
    ///   - hear: called with the head of the answer, on the loop.
    init(
        _ stored: StoredAnswer,
        in store: any AnswerStore,
        isAsked: Bool,
        _ url: String,
        _ vary: VaryRule,
        fields: @escaping (ConnectionRecord?) -> HTTPFields?,
        hear: @escaping (LocatedHead) -> Void
    ) {
        self.stored = stored
        self.store = store
        self.isAsked = isAsked
        self.fields = fields
        self.url = url
        self.vary = vary
        self.hear = hear
    }

    private var key: CacheKey { CacheKey(method: "GET", url: url) }

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {
        guard head.status >= 200 else { return }
        let response = LocatedHead(head, url, isDecoded: head.contains(.contentEncoding))
        self.response = response
        hear(response)
    }

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {
        isTooLarge = isTooLarge || content.count + bytes.count > store.contentLimit
        if !isTooLarge { unsafe bytes.withUnsafeBufferPointer { unsafe content.append(contentsOf: $0) } }
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        guard case .completed = outcome, let response, let fields = fields(report.connection) else { return }
        let now = unixTime()
        let (status, received) = (response.status, response.fields)
        switch status {
        case 304:
            // The connection may have shown another user than the one for whom the answer is stored.
            guard vary.isSameAsker(stored.exchange.record, fields) else { return }
            let fresh = CacheRule.freshened(stored.exchange, by: received, requested: sent, received: now)
            guard let fresh else { return store.discard(key) }
            store.keep(stored.updated(fresh, for: fields, vary), for: key)
        // A task follows redirects and answers challenges, and the next one is to meet this one.
        case 301, 302, 303, 307, 308, 401, 407: store.discard(key)
        default:
            let permitted = CacheStorage.permitted(method: "GET", request: fields, status: status, response: received)
            guard permitted != .none, !isTooLarge, !isAsked else {
                // A server in trouble has nothing new.
                return status < 500 ? store.discard(key) : ()
            }
            let record = vary.record(of: fields, varying: received, requested: sent, received: now)
            store.keep(response, content, permitted, record, for: key)
        }
    }
}
