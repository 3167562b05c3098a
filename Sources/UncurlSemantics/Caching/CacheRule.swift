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
    /// Fails the request.
    case fail(CacheRefusal)
}

/// The reason for failing without asking a server.
public enum CacheRefusal: Hashable, Sendable {
    /// ``CacheMode/onlyStored``, and nothing is stored: the load fails.
    case nothingStored
    /// `only-if-cached` in the request, and nothing suitable is stored: the answer is a 504 (RFC 9111 §5.2.1.7).
    case gatewayTimeout
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
        let isServable = method == "GET" && !CacheValidation.isConditional(request)
        let match = isServable ? stored.flatMap { vary.matches($0.record, request) ? $0 : nil } : nil
        switch mode {
        case .bypass, .reload:
            return .load(mayServeStale: false)
        case .preferStored:
            return match.map { asItIs($0, now, usesHeuristics) } ?? .load(mayServeStale: false)
        case .onlyStored:
            return match.map { asItIs($0, now, usesHeuristics) } ?? .fail(.nothingStored)
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
        let conditions = CacheValidation.conditions(stored.fields)
        return conditions.isEmpty
            ? .load(mayServeStale: mayServeStale) : .validate(conditions, mayServeStale: mayServeStale)
    }

    private static func byProtocol(
        _ request: HTTPFields,
        _ stored: StoredExchange?,
        _ now: Int64,
        _ usesHeuristics: Bool
    ) -> CacheDecision {
        let wishes = CacheControl(request)
        guard let stored, !wishes.noStore else {
            return wishes.onlyIfCached ? .fail(.gatewayTimeout) : .load(mayServeStale: false)
        }
        let control = CacheControl(stored.fields)
        let freshness = CacheFreshness(stored, control, now: now, usesHeuristics: usesHeuristics)
        if isAcceptable(freshness, wishes, control) {
            return .serve(age: freshness.age, isStale: !freshness.isFresh, refresh: nil)
        }
        if wishes.onlyIfCached { return .fail(.gatewayTimeout) }
        if isServedWhileAsking(freshness, wishes, control) {
            let conditions = CacheValidation.conditions(stored.fields)
            return .serve(age: freshness.age, isStale: true, refresh: conditions)
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
        switch wishes.maxStale {
        case .none: return false
        case .any: return true
        case .upTo(let limit): return freshness.staleness <= limit
        }
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
