/// Fields that framing, connections or the engine look at. Entries carry it, so that no look-up compares names twice.
public enum KnownField: UInt8, Sendable, Hashable, CaseIterable {
    /// Any other field.
    case other
    /// Fields of framing, of the connection, and of routing.
    case contentLength, transferEncoding, connection, keepAlive, upgrade, trailer, te, expect, host
    /// Fields of content and of the programs that exchange it.
    case contentEncoding, contentType, contentRange, acceptEncoding, accept, userAgent, server, date
    /// Fields of control and of caches.
    case location, etag, lastModified, vary, cacheControl, range, retryAfter, expires, age
    /// Fields of cookies and of authentication.
    case cookie, setCookie, authorization, wwwAuthenticate
    /// Fields between a client and its proxy.
    case proxyAuthenticate, proxyAuthorization, proxyConnection

    /// The field's name as it is usually written.
    public var name: StaticString { Self.names[Int(rawValue)] }

    /// The names in the order of the cases.
    private static let names: [StaticString] = [
        "", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "trailer", "te", "expect",
        "host", "content-encoding", "content-type", "content-range", "accept-encoding", "accept", "user-agent",
        "server", "date", "location", "etag", "last-modified", "vary", "cache-control", "range", "retry-after",
        "expires", "age", "cookie", "set-cookie", "authorization", "www-authenticate", "proxy-authenticate",
        "proxy-authorization", "proxy-connection",
    ]

    @inline(__always)
    var bit: UInt64 { 1 &<< UInt64(rawValue) }

    /// The field a name of token octets stands for; case does not matter (RFC 9110 §5.1).
    ///
    /// Length first, then the first and the last eight octets with bit 5 set: among token octets only the two cases of
    /// a letter meet there, and "-" stays itself. Names longer than sixteen octets take a third word in the middle.
    @inline(__always)
    static func identify(_ bytes: Span<UInt8>, _ start: Int, _ length: Int) -> KnownField {
        if length >= 8 {
            return identifyLong(bytes, start, length)
        }
        // The word that ends with the name: before it lies a start line nearly always, behind it perhaps nothing.
        guard start &+ length >= 8 else { return identifyFirst(bytes, start, length) }
        let word = bytes.word(start &+ length &- 8) | 0x2020_2020_2020_2020
        return identifyShort(word &>> UInt64(truncatingIfNeeded: (8 &- length) &* 8), length)
    }

    /// A name too near the start of its span to load a whole word.
    @inline(never)
    private static func identifyFirst(_ bytes: Span<UInt8>, _ start: Int, _ length: Int) -> KnownField {
        var word: UInt64 = 0
        for index in 0..<length {
            word |= UInt64(bytes.byte(start &+ index) | 0x20) << UInt64(index &* 8)
        }
        return identifyShort(word, length)
    }

    @inline(__always)
    private static func identifyShort(_ word: UInt64, _ length: Int) -> KnownField {
        switch length {
        case 2 where word == letters("te"): .te
        case 3 where word == letters("age"): .age
        case 4 where word == letters("date"): .date
        case 4 where word == letters("host"): .host
        case 4 where word == letters("etag"): .etag
        case 4 where word == letters("vary"): .vary
        case 5 where word == letters("range"): .range
        case 6 where word == letters("server"): .server
        case 6 where word == letters("cookie"): .cookie
        case 6 where word == letters("accept"): .accept
        case 6 where word == letters("expect"): .expect
        case 7 where word == letters("upgrade"): .upgrade
        case 7 where word == letters("trailer"): .trailer
        case 7 where word == letters("expires"): .expires
        default: .other
        }
    }

    @inline(__always)
    private static func match(_ first: UInt64, _ last: UInt64, _ name: StaticString) -> Bool {
        first == word(of: name, at: 0) && last == word(of: name, at: name.utf8CodeUnitCount &- 8)
    }

    @inline(__always)
    private static func identifyLong(_ bytes: Span<UInt8>, _ start: Int, _ length: Int) -> KnownField {
        let fold: UInt64 = 0x2020_2020_2020_2020
        // The first and the last eight octets, folded to lower case.
        let (first, last) = (bytes.word(start) | fold, bytes.word(start &+ length &- 8) | fold)
        switch length {
        case 8 where match(first, last, "location"): return .location
        case 10 where match(first, last, "connection"): return .connection
        case 10 where match(first, last, "set-cookie"): return .setCookie
        case 10 where match(first, last, "keep-alive"): return .keepAlive
        case 10 where match(first, last, "user-agent"): return .userAgent
        case 11 where match(first, last, "retry-after"): return .retryAfter
        case 12 where match(first, last, "content-type"): return .contentType
        case 13 where match(first, last, "cache-control"): return .cacheControl
        case 13 where match(first, last, "last-modified"): return .lastModified
        case 13 where match(first, last, "content-range"): return .contentRange
        case 13 where match(first, last, "authorization"): return .authorization
        case 14 where match(first, last, "content-length"): return .contentLength
        case 15 where match(first, last, "accept-encoding"): return .acceptEncoding
        case 16 where match(first, last, "content-encoding"): return .contentEncoding
        case 16 where match(first, last, "www-authenticate"): return .wwwAuthenticate
        case 16 where match(first, last, "proxy-connection"): return .proxyConnection
        case 17 where match(first, last, "transfer-encoding"):
            return bytes.word(start &+ 4) | fold == letters("sfer-enc") ? .transferEncoding : .other
        case 18 where match(first, last, "proxy-authenticate"):
            return bytes.word(start &+ 5) | fold == letters("-authent") ? .proxyAuthenticate : .other
        case 19 where match(first, last, "proxy-authorization"):
            return bytes.word(start &+ 6) | fold == letters("authoriz") ? .proxyAuthorization : .other
        default: return .other
        }
    }
}

/// Up to eight letters as the little-endian word they make in memory. The optimiser turns it into a constant.
@inline(__always)
func letters(_ text: StaticString) -> UInt64 {
    var word: UInt64 = 0
    for index in 0..<text.utf8CodeUnitCount {
        word |= UInt64(unsafe text.utf8Start[index]) &<< UInt64(index &* 8)
    }
    return word
}

/// Eight of a text's octets in the same way.
@inline(__always)
func word(of text: StaticString, at offset: Int) -> UInt64 {
    unsafe UnsafeRawPointer(text.utf8Start).loadUnaligned(fromByteOffset: offset, as: UInt64.self)
}
