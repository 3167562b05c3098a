internal import UncurlHTTP1
package import UncurlSemantics

/// A store of answers, by which later requests are answered (RFC 9111). Any thread.
package protocol AnswerStore: AnyObject, Sendable {
    /// The largest content that is stored, in octets.
    var contentLimit: Int { get }

    /// Looks an answer up. Never blocks.
    func find(_ key: CacheKey) -> AnswerFinding<StoredAnswer>

    /// Reads an answer, which may block.
    func read(_ key: CacheKey) -> StoredAnswer?

    /// Keeps an answer that a server has updated in place of the stored one; neither remains if it may no longer be
    /// stored. Never blocks.
    func keep(_ updated: StoredAnswer, for key: CacheKey)

    /// Keeps a new answer. Never blocks.
    func keep(
        _ response: LocatedHead,
        _ content: [UInt8],
        _ storage: CacheStorage,
        _ record: CacheRecord,
        for key: CacheKey
    )

    /// Removes an answer that is no longer good. Never blocks.
    func discard(_ key: CacheKey)
}

/// What a store has for a key.
package enum AnswerFinding<Found> {
    case nothing
    /// In memory, or on its way to the disk.
    case answer(Found)
    /// Perhaps something: a look that blocks, such as ``AnswerStore/read(_:)``, finds out.
    case unread(CacheKey)
}

/// A stored answer as the rules know it. Its content is its store's.
package struct StoredAnswer: Sendable {
    package let exchange: StoredExchange
    /// Whether it may be stored, as a server has updated it.
    package let isStorable: Bool
    /// What the store knows it as.
    package let kept: any AnyObject & Sendable

    package init(_ exchange: StoredExchange, isStorable: Bool = true, _ kept: any AnyObject & Sendable) {
        (self.exchange, self.isStorable, self.kept) = (exchange, isStorable, kept)
    }

    /// Returns the same content with the fields as a 304 or a HEAD has updated them. The new fields also decide which
    /// requests it answers from now on, and whether it may still be stored.
    ///
    /// - Parameters:
    ///   - request: the fields of the request for the 304 or the HEAD, for comparison.
    ///   - vary: the rule that distinguishes the users of stored answers.
    func updated(_ fresh: StoredExchange, for request: HTTPFields, _ vary: VaryRule) -> StoredAnswer {
        let (fields, record) = (fresh.fields, fresh.record)
        let permitted = CacheStorage.permitted(method: "GET", request: request, status: fresh.status, response: fields)
        let new = vary.record(
            of: request,
            varying: fields,
            requested: record.requested,
            received: record.received
        )
        let exchange = StoredExchange(status: fresh.status, fields: fields, record: new)
        return StoredAnswer(exchange, isStorable: permitted != .none, kept)
    }

    /// The age in seconds, by RFC 9111 §4.2.3.
    var age: Int64 { CacheFreshness(exchange, CacheControl(exchange.fields), now: unixTime()).age }
}
