public import HTTP1

/// How the origin is asked whether a stored response is still good, and what its answer does to it (RFC 9111 §4.3).
public enum CacheValidation {
    /// Whether a response can be asked about: it has an entity tag, or says when it was changed.
    public static func hasValidator(_ fields: HTTPFields) -> Bool {
        fields.contains(.etag) || fields.contains(.lastModified)
    }

    /// §4.3.1: the fields to add to the request. Empty if nothing can be asked.
    public static func conditions(_ fields: HTTPFields) -> [(name: String, value: String)] {
        var conditions: [(name: String, value: String)] = []
        if let tag = fields["ETag"] { conditions.append(("If-None-Match", tag)) }
        if let date = fields["Last-Modified"] { conditions.append(("If-Modified-Since", date)) }
        return conditions
    }

    /// Whether the caller has put conditions of his own into a request, or wants a part: the answer is his then, and
    /// the cache keeps out of it.
    public static func isConditional(_ request: HTTPFields) -> Bool {
        if request.contains(.range) { return true }
        return conditional.contains { request.contains($0) }
    }

    private static let conditional = [
        "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range",
    ]

    /// §4.3.4: what is stored once a 304 has come. Nil if the 304 speaks of another response than the stored one, which
    /// is then no use any more; the request goes out again without conditions.
    ///
    /// - Parameters:
    ///   - stored: what was asked about.
    ///   - notModified: the fields of the 304.
    ///   - requested: when it was asked about, in seconds since 1970.
    ///   - received: when the 304 had come.
    public static func freshened(
        _ stored: StoredExchange,
        by notModified: HTTPFields,
        requested: Int64,
        received: Int64
    ) -> StoredExchange? {
        if let tag = notModified["ETag"] {
            guard let own = stored.fields["ETag"], EntityTag.areWeaklyEqual(own, tag) else { return nil }
        } else if let date = notModified["Last-Modified"], let own = stored.fields["Last-Modified"], date != own {
            return nil
        }
        return stored.updated(with: notModified, requested: requested, received: received)
    }

    /// What the response to a HEAD request says of what is stored for GET (§4.3.5).
    public enum HeadEffect: Sendable {
        /// Nothing.
        case none
        /// The stored response takes over the new fields.
        case update(StoredExchange)
        /// The origin has another one now.
        case remove
    }

    /// - Parameters:
    ///   - head: the fields of a 200.
    ///   - status: of the response to HEAD.
    ///   - stored: what is stored for the same URL.
    ///   - requested: when HEAD was sent, in seconds since 1970.
    ///   - received: when the response had come.
    public static func effect(
        ofHead head: HTTPFields,
        status: Int,
        on stored: StoredExchange,
        requested: Int64,
        received: Int64
    ) -> HeadEffect {
        guard status == 200, stored.status == 200 else { return .none }
        for name in ["ETag", "Last-Modified", "Content-Length"] {
            // The length of coded content is not that of what is stored; it is compared with what the origin said then.
            if let value = head[name], let own = stored.fields[name], value != own { return .remove }
        }
        guard hasValidator(head) else { return .none }
        return .update(stored.updated(with: head, requested: requested, received: received))
    }
}

extension StoredExchange {
    /// §3.2: the new fields take the place of the old ones of the same name, but for those that describe how the
    /// content came, as it is stored already and decoded, and those of the hop.
    fileprivate func updated(with new: HTTPFields, requested: Int64, received: Int64) -> StoredExchange {
        var result = self
        let news = CacheStorage.kept(new)
        var replaced: [String] = []
        for index in 0..<news.count {
            let name = news.name(at: index).lowercased()
            guard !Self.ofStoredContent.contains(name) else { continue }
            if !replaced.contains(name) {
                replaced.append(name)
                result.fields.remove(name: name)
            }
            try? result.fields.append(news.name(at: index), news.value(at: index))
        }
        // §4.2.3: an Age that was sent with the old response says nothing of the new one.
        if !replaced.contains("age") { result.fields.remove(name: "Age") }
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
    /// Whether the tag only says that two responses mean the same.
    public static func isWeak(_ tag: String) -> Bool { tag.hasPrefix("W/") }

    /// §8.8.3.2: neither is weak, and they are the same.
    public static func areStronglyEqual(_ left: String, _ right: String) -> Bool {
        !isWeak(left) && left == right
    }

    /// §8.8.3.2: the same, weak or not.
    public static func areWeaklyEqual(_ left: String, _ right: String) -> Bool {
        left.dropFirst(isWeak(left) ? 2 : 0) == right.dropFirst(isWeak(right) ? 2 : 0)
    }
}
