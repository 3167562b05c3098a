public import UncurlHTTP1

/// How to ask the origin whether a stored response is still good, and how its answer changes it (RFC 9111 §4.3).
public enum CacheValidation {
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
            guard let own = octets(.etag, of: stored.fields), EntityTag.areWeaklyEqual(own, tag) else { return nil }
        } else if let date = octets(.lastModified, of: notModified), let own = octets(.lastModified, of: stored.fields),
            date != own
        {
            return nil
        }
        return stored.updated(with: notModified, requested: requested, received: received)
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

/// Entity tags (RFC 9110 §8.8.3).
public enum EntityTag {
    /// Whether the tag is weak: it only says that two responses have the same meaning.
    public static func isWeak(_ tag: String) -> Bool { tag.utf8.starts(with: "W/".utf8) }

    /// Whether both are equal and neither is weak (§8.8.3.2).
    public static func areStronglyEqual(_ left: String, _ right: String) -> Bool {
        !isWeak(left) && left.utf8.elementsEqual(right.utf8)
    }

    /// Whether both are equal, weak or not (§8.8.3.2).
    public static func areWeaklyEqual(_ left: String, _ right: String) -> Bool {
        areWeaklyEqual(Array(left.utf8)[...], Array(right.utf8)[...])
    }

    static func areWeaklyEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        func opaque(_ tag: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            tag.starts(with: "W/".utf8) ? tag.dropFirst(2) : tag
        }
        return opaque(left) == opaque(right)
    }
}
