public import UncurlHTTP1

/// What a cache that serves one user does with a response: whether and where it may be stored (RFC 9111 §3).
public enum CacheStorage: Hashable, Sendable {
    /// Nothing is stored.
    case none
    /// It has neither a lifetime nor a validator, so it serves only requests that accept anything. It may be stored
    /// anywhere, but is not worth a file.
    case inMemory
    /// In memory and on disk.
    case everywhere
    /// It is compared with what is stored for GET: it is an answer to HEAD (RFC 9111 §4.3.5).
    case compare

    /// Returns whether a response that has come complete may be stored.
    ///
    /// - Parameters:
    ///   - method: exactly as sent.
    ///   - request: the fields as they were sent.
    ///   - status: the response's status.
    ///   - response: the response's fields.
    public static func permitted(method: String, request: HTTPFields, status: Int, response: HTTPFields) -> CacheStorage
    {
        // A partial response would have to be combined with others (§3.4). A 304 answers the caller's own conditions,
        // and is the caller's.
        guard method == "GET", (200...599).contains(status), status != 206, status != 304 else { return .none }
        let control = CacheControl(response)
        if control.noStore, !(control.mustUnderstand && isUnderstood(status)) { return .none }
        if control.mustUnderstand, !isUnderstood(status) { return .none }
        if request.contains(.cacheControl), CacheControl(request).noStore { return .none }
        if request.contains(.range) { return .none }
        if response.contains(.vary), VaryRule.members(of: response).contains(where: { $0.ascii == "*" }) {
            return .none
        }
        let isExplicit =
            control.isPublic || control.isPrivate || control.maxAge != .absent || response.contains(.expires)
        guard isExplicit || isHeuristic(status) else { return .none }
        let exchange = StoredExchange(
            status: status,
            fields: response,
            record: CacheRecord(varying: [], requested: 0, received: 0)
        )
        let canLast = isExplicit && CacheFreshness(exchange, control, now: 0).lifetime > 0
        return canLast || CacheRule.hasValidator(response) ? .everywhere : .inMemory
    }

    /// Whether the lifetime may be guessed (RFC 9110 §15.1).
    public static func isHeuristic(_ status: Int) -> Bool {
        switch status {
        case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether the status's meaning for caches is known here (§5.2.2.3): all final ones of RFC 9110 but 206 and 304.
    private static func isUnderstood(_ status: Int) -> Bool {
        switch status {
        case 200...205, 300...303, 305...308, 400...417, 421, 422, 426, 500...505: true
        default: false
        }
    }

    /// Returns the fields to be stored, without those for the next hop and those that must not be used again without
    /// validation (§3.1, §5.2.2.4).
    public static func kept(_ fields: HTTPFields) -> HTTPFields {
        var names: Set = ["proxy-authentication-info"]
        if fields.contains(.connection) {
            // No field has a name that is not ASCII.
            names.formUnion(fields.listMembers(of: "Connection").compactMap { $0.ascii?.lowercased() })
        }
        if fields.contains(.cacheControl) { names.formUnion(CacheControl(fields).noCacheFields) }
        var kept = fields
        kept.removeAll { index in
            hopByHop.contains(fields.known(at: index)) || names.contains(fields.name(at: index).lowercased())
        }
        return kept
    }

    /// Returns the fields to store of a response. One without Date gets the time of its arrival (RFC 9110 §6.6.1).
    package static func kept(_ fields: HTTPFields, received: Int64) -> HTTPFields {
        var kept = kept(fields)
        if !kept.contains(.date) { kept.setDate(received) }
        return kept
    }

    /// RFC 9110 §7.6.1 and RFC 9111 §3.1.
    private static let hopByHop: Set<KnownField> = [
        .connection, .keepAlive, .proxyConnection, .te, .transferEncoding, .upgrade, .trailer, .proxyAuthenticate,
        .proxyAuthorization,
    ]

    /// Whether a field is for the next hop alone (RFC 9110 §7.6.1).
    public static func isHopByHop(_ known: KnownField) -> Bool { hopByHop.contains(known) }
}

extension HTTPFields {
    /// Gives Date this value, in seconds since 1970.
    mutating func setDate(_ seconds: Int64) {
        var date: [UInt8] = []
        HTTPDate.append(seconds, to: &date)
        try? replace("Date", String(decoding: date, as: UTF8.self))
    }
}
