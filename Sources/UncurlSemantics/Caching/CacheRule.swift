public import UncurlHTTP1

/// A cache's decision about a request.
public enum CacheDecision: Sendable {
    /// Serves the stored response.
    ///
    /// - `age`: in seconds, for the Age field.
    /// - `refresh`: the conditions of a request that updates the cache meanwhile (RFC 5861 §3); nil for none.
    case serve(age: Int64, isStale: Bool, refresh: [(name: String, value: [UInt8])]?)
    /// Asks the server, with these fields added: a 304 makes the stored response the answer.
    ///
    /// - `mayServeStale`: whether the stored one is also the answer if the server cannot be reached or answers 500,
    ///   502, 503 or 504 (RFC 5861 §4).
    case validate([(name: String, value: [UInt8])], mayServeStale: Bool)
    /// Asks the server.
    case load(mayServeStale: Bool)
    /// Fails the request: ``CacheMode/onlyStored``, and nothing is stored.
    case failNothingStored
    /// Makes a 504 the answer: `only-if-cached` in the request, and nothing suitable is stored (RFC 9111 §5.2.1.7).
    case answerGatewayTimeout
}

/// The decisions of a private cache (RFC 9111 §4), by the request's cache mode.
public enum CacheRule {
    /// Returns the cache's decision about a request.
    ///
    /// - Parameters:
    ///   - method: the method as it would be sent.
    ///   - request: the fields as they would be sent.
    ///   - mode: how far the request may use the cache.
    ///   - stored: the stored response for the request's method and URL; nil for none.
    ///   - now: seconds since 1970.
    ///   - usesHeuristics: whether a response without a stated lifetime may be served by a guessed one.
    ///   - vary: decides which requests the stored response answers.
    public static func decide(
        method: String,
        request: HTTPFields,
        mode: CacheMode,
        stored: StoredExchange?,
        now: Int64,
        usesHeuristics: Bool = false,
        vary: VaryRule = .usual
    ) -> CacheDecision {
        let isServable = method == "GET" && !isConditional(request)
        let match = isServable ? stored.flatMap { vary.matches($0.record, request) ? $0 : nil } : nil
        switch mode {
        case .bypass, .reload:
            return .load(mayServeStale: false)
        case .preferStored:
            return match.map { asItIs($0, now, usesHeuristics) } ?? .load(mayServeStale: false)
        case .onlyStored:
            return match.map { asItIs($0, now, usesHeuristics) } ?? .failNothingStored
        case .revalidate:
            return match.map { ask($0, mayServeStale: false) } ?? .load(mayServeStale: false)
        case .standard:
            return byProtocol(request, match, now, usesHeuristics)
        }
    }

    /// Returns the fields that the mode adds to the request, unless the caller has set them: they ask other caches on
    /// the way not to serve what they have (RFC 9111 §5.2.1.4, §5.4), or not before the origin has confirmed it
    /// (§5.2.1.1).
    public static func additions(_ mode: CacheMode, _ request: HTTPFields) -> [(name: String, value: [UInt8])] {
        guard !request.contains(.cacheControl) else { return [] }
        return switch mode {
        case .reload: [("Cache-Control", Array("no-cache".utf8)), ("Pragma", Array("no-cache".utf8))]
        case .revalidate: [("Cache-Control", Array("max-age=0".utf8))]
        case .standard, .bypass, .preferStored, .onlyStored: []
        }
    }

    /// Whether a stale response may replace an answer of this status (RFC 5861 §4).
    public static func isError(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }

    private static func asItIs(_ stored: StoredExchange, _ now: Int64, _ usesHeuristics: Bool) -> CacheDecision {
        let control = CacheControl(stored.fields)
        let freshness = CacheFreshness(stored, control, now: now, usesHeuristics: usesHeuristics)
        return .serve(age: freshness.age, isStale: !freshness.isFresh, refresh: nil)
    }

    private static func ask(_ stored: StoredExchange, mayServeStale: Bool) -> CacheDecision {
        let fields = conditions(stored.fields)
        return fields.isEmpty
            ? .load(mayServeStale: mayServeStale) : .validate(fields, mayServeStale: mayServeStale)
    }

    private static func byProtocol(
        _ request: HTTPFields,
        _ stored: StoredExchange?,
        _ now: Int64,
        _ usesHeuristics: Bool
    ) -> CacheDecision {
        let wishes = CacheControl(request)
        guard let stored, !wishes.noStore else {
            return wishes.onlyIfCached ? .answerGatewayTimeout : .load(mayServeStale: false)
        }
        let control = CacheControl(stored.fields)
        let freshness = CacheFreshness(stored, control, now: now, usesHeuristics: usesHeuristics)
        if isAcceptable(freshness, wishes, control) {
            return .serve(age: freshness.age, isStale: !freshness.isFresh, refresh: nil)
        }
        if wishes.onlyIfCached { return .answerGatewayTimeout }
        if isServedWhileAsking(freshness, wishes, control) {
            return .serve(age: freshness.age, isStale: true, refresh: conditions(stored.fields))
        }
        return ask(stored, mayServeStale: isServedOnError(freshness, wishes, control))
    }

    /// Whether the response is acceptable (§4.2), by the directives of §5.2.1.
    private static func isAcceptable(
        _ freshness: CacheFreshness,
        _ wishes: CacheControl,
        _ control: CacheControl
    ) -> Bool {
        guard !wishes.noCache, !control.noCache else { return false }
        switch wishes.maxAge {
        case .absent: break
        case .invalid: return false
        case .value(let limit):
            // RFC 8246 §2: a reload of a response that never changes asks no server.
            if freshness.age > limit, !(control.isImmutable && freshness.isFresh) { return false }
        }
        switch wishes.minFresh {
        case .absent: break
        case .invalid: return false
        case .value(let margin):
            if freshness.lifetime - freshness.age < margin { return false }
        }
        if freshness.isFresh { return true }
        guard !control.mustRevalidate else { return false }
        return wishes.maxStale.map { freshness.staleness <= $0 } ?? false
    }

    /// Whether it is served while it is validated (RFC 5861 §3). A request that limits age or freshness excludes that.
    private static func isServedWhileAsking(
        _ freshness: CacheFreshness,
        _ wishes: CacheControl,
        _ control: CacheControl
    ) -> Bool {
        guard !freshness.isFresh, !wishes.noCache, wishes.maxAge == .absent, wishes.minFresh == .absent,
            !control.noCache, !control.mustRevalidate, let limit = control.staleWhileRevalidate.number
        else { return false }
        return freshness.staleness <= limit
    }

    /// Whether it is served instead of an error (RFC 5861 §4): the directive may be in the response or in the request.
    private static func isServedOnError(
        _ freshness: CacheFreshness,
        _ wishes: CacheControl,
        _ control: CacheControl
    ) -> Bool {
        guard !control.mustRevalidate, !control.noCache, !wishes.noCache else { return false }
        let limits = [control.staleIfError.number, wishes.staleIfError.number].compactMap(\.self)
        guard let limit = limits.max() else { return false }
        return freshness.staleness <= limit
    }
}

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

/// How to ask the origin whether a stored response is still good, and how its answer changes it (RFC 9111 §4.3).
extension CacheRule {
    /// Whether a response can be validated: it has an entity tag or a date of its last change.
    public static func hasValidator(_ fields: HTTPFields) -> Bool {
        fields.contains(.etag) || fields.contains(.lastModified)
    }

    /// Returns the fields to add to the request (§4.3.1), with the octets that the server has sent; none if the
    /// response cannot be validated.
    public static func conditions(_ fields: HTTPFields) -> [(name: String, value: [UInt8])] {
        var conditions: [(name: String, value: [UInt8])] = []
        if let tag = fields.first(.etag) { conditions.append(("If-None-Match", Array(fields.block[tag]))) }
        if let date = fields.first(.lastModified) {
            conditions.append(("If-Modified-Since", Array(fields.block[date])))
        }
        return conditions
    }

    /// Whether the caller has put conditions into a request, or asks for a part: then the answer is the caller's, and
    /// the cache does not use it.
    public static func isConditional(_ request: HTTPFields) -> Bool {
        if request.contains(.range) { return true }
        return conditional.contains { request.contains($0) }
    }

    private static let conditional = [
        "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range",
    ]

    /// Returns the stored response as a 304 has updated it (§4.3.4). Nil if the 304 is about another response than the
    /// stored one, which is then of no use; the request is sent again without conditions.
    ///
    /// The new fields may have another Vary, or be for one user only: the owner makes the record anew
    /// (``VaryRule/record(of:varying:requested:received:)``).
    ///
    /// - Parameters:
    ///   - stored: the response that was validated.
    ///   - notModified: the fields of the 304.
    ///   - requested: when the request was sent, in seconds since 1970.
    ///   - received: when the 304 came.
    public static func freshened(
        _ stored: StoredExchange,
        by notModified: HTTPFields,
        requested: Int64,
        received: Int64
    ) -> StoredExchange? {
        func octets(_ known: KnownField, of fields: HTTPFields) -> ArraySlice<UInt8>? {
            fields.first(known).map { fields.block[$0] }
        }
        if let tag = octets(.etag, of: notModified) {
            guard let own = octets(.etag, of: stored.fields), areWeaklyEqual(own, tag) else { return nil }
        } else if let date = octets(.lastModified, of: notModified), let own = octets(.lastModified, of: stored.fields),
            date != own
        {
            return nil
        }
        return stored.updated(with: notModified, requested: requested, received: received)
    }

    /// Whether two entity tags are equal, weak or not (RFC 9110 §8.8.3.2).
    static func areWeaklyEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        func opaque(_ tag: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            tag.starts(with: "W/".utf8) ? tag.dropFirst(2) : tag
        }
        return opaque(left) == opaque(right)
    }

    /// The effect of a response to HEAD on what is stored for GET (§4.3.5).
    public enum HeadEffect: Sendable {
        /// Nothing.
        case none
        /// The stored response gets the new fields.
        case update(StoredExchange)
        /// The stored response is removed: the origin has another one now.
        case remove
    }

    /// Returns the effect of a response to HEAD.
    ///
    /// - Parameters:
    ///   - head: the fields of the response to HEAD.
    ///   - status: the status of the response to HEAD.
    ///   - stored: what is stored for the same URL.
    ///   - requested: when HEAD was sent, in seconds since 1970.
    ///   - received: when the response came.
    public static func effect(
        ofHead head: HTTPFields,
        status: Int,
        on stored: StoredExchange,
        requested: Int64,
        received: Int64
    ) -> HeadEffect {
        guard status == 200, stored.status == 200 else { return .none }
        for name in ["ETag", "Last-Modified", "Content-Length"] {
            // The length of coded content is not that of what is stored; it is compared with what the origin said at
            // that time.
            if let value = head.octets(of: name).first, let own = stored.fields.octets(of: name).first, value != own {
                return .remove
            }
        }
        guard hasValidator(head) else { return .none }
        return .update(stored.updated(with: head, requested: requested, received: received))
    }
}

extension StoredExchange {
    /// Returns the response with the new fields in place of the old ones of the same name (§3.2), except those that
    /// describe how the content came, which is already stored and decoded, and those of the hop.
    fileprivate func updated(with new: HTTPFields, requested: Int64, received: Int64) -> StoredExchange {
        var result = self
        let news = CacheStorage.kept(new)
        let names = (0..<news.count).map { news.name(at: $0).lowercased() }
        let replaced = Set(names).subtracting(Self.ofStoredContent)
        result.fields.removeAll { replaced.contains(fields.name(at: $0).lowercased()) }
        for (index, name) in names.enumerated() where replaced.contains(name) {
            try? result.fields.append(news, at: index)
        }
        // §4.2.3: an Age that came with the old response does not apply to the new one.
        if !replaced.contains("age") { result.fields.remove(name: "Age") }
        if !replaced.contains("date"), result.fields.contains(.date) { result.fields.setDate(received) }
        result.record.requested = requested
        result.record.received = received
        return result
    }

    private static let ofStoredContent: Set<String> = [
        "content-length", "content-encoding", "content-range", "content-type", "content-md5", "digest",
        "content-digest",
    ]
}

/// Which stored responses a request that changes things invalidates (RFC 9111 §4.4).
extension CacheRule {
    /// Whether a method is safe (RFC 9110 §9.2.1). An unknown method may do anything.
    public static func isSafe(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// Returns the URLs whose stored responses are no longer good after this response. None for an error: nothing has
    /// changed.
    public static func invalidated(
        method: String,
        url: URIReference,
        status: Int,
        response: HTTPFields
    ) -> [URIReference] {
        guard !isSafe(method), (200...399).contains(status) else { return [] }
        var urls = [url]
        for name in ["Location", "Content-Location"] {
            // No origin may invalidate what another one has stored.
            guard let value = response.octets(of: name).first,
                case let other = URIReference(Array(value)).resolved(against: url).percentEncoded,
                other.origin == url.origin, other != url
            else { continue }
            urls.append(other)
        }
        return urls
    }
}
