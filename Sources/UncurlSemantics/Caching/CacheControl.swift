public import UncurlHTTP1

/// The directives in the Cache-Control lines of a message (RFC 9111 §5.2). Unknown directives are ignored.
public struct CacheControl: Hashable, Sendable {
    /// A number of seconds (§1.2.2).
    public enum Seconds: Hashable, Sendable {
        /// The directive is not there.
        case absent
        /// The value is no number, or there are two that differ: what it limits is over (§4.2.1).
        case invalid
        /// The value in seconds, 2^31 at most.
        case value(Int64)

        /// The seconds, if there is a value.
        public var number: Int64? {
            switch self {
            case .absent, .invalid: nil
            case .value(let number): number
            }
        }
    }

    /// Whether nothing of the message is stored (§5.2.1.5, §5.2.2.5).
    public var noStore = false
    /// Whether `no-cache` is there, with field names or without: then the response is validated before each use.
    public var noCache = false
    /// The field names of `no-cache="…"` in lower case, whose fields are not stored.
    public var noCacheFields: [String] = []
    /// Whether a response is for every user (§5.2.2.9).
    public var isPublic = false
    /// Whether a response is for one user (§5.2.2.7).
    public var isPrivate = false
    /// Whether a response is never served stale, whatever the request says (§5.2.2.2).
    public var mustRevalidate = false
    /// Whether a response is stored only by a cache that knows its status (§5.2.2.3).
    public var mustUnderstand = false
    /// Whether a response never changes while it is fresh (RFC 8246).
    public var isImmutable = false
    /// Whether a request is answered from the cache, or with 504 (§5.2.1.7).
    public var onlyIfCached = false
    /// The greatest age that a request accepts, or the lifetime of a response (§5.2.1.1, §5.2.2.1).
    public var maxAge = Seconds.absent
    /// For how long a response must still be fresh for this request (§5.2.1.3).
    public var minFresh = Seconds.absent
    /// For how many seconds a response may have been stale that this request accepts (§5.2.1.2): nil accepts no stale
    /// response, the greatest number all.
    public var maxStale: Int64?
    /// For how long a stale response may be served while it is validated (RFC 5861 §3).
    public var staleWhileRevalidate = Seconds.absent
    /// For how long a stale response replaces an error (RFC 5861 §4).
    public var staleIfError = Seconds.absent

    /// Makes an empty set of directives.
    public init() {}

    /// Reads the directives of all Cache-Control lines of a message; of Pragma, if there are none.
    public init(_ fields: HTTPFields) {
        guard fields.contains(.cacheControl) else {
            // §5.4: Pragma counts if there is no Cache-Control.
            noCache = fields.contains("Pragma") && fields.listMembers(of: "Pragma").contains { Self.isNoCache($0) }
            return
        }
        for member in fields.listMembers(of: "Cache-Control") { take(member) }
    }

    private static func isNoCache(_ text: String) -> Bool { text.ascii?.lowercased() == "no-cache" }

    private mutating func take(_ member: String) {
        let parts = member.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1)
        guard let first = parts.first, let name = Self.trimmed(first).ascii?.lowercased() else { return }
        let argument = parts.count > 1 ? Self.unquoted(Self.trimmed(parts[1])) : nil
        switch name {
        case "no-store": noStore = true
        case "no-cache":
            noCache = true
            for field in argument?.utf8.split(separator: UInt8(ascii: ",")) ?? [] {
                // No field has a name that is not ASCII.
                if let name = Self.trimmed(field).ascii?.lowercased() { noCacheFields.append(name) }
            }
        case "public": isPublic = true
        case "private": isPrivate = true
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "immutable": isImmutable = true
        case "only-if-cached": onlyIfCached = true
        case "max-age": Self.set(&maxAge, argument)
        case "min-fresh": Self.set(&minFresh, argument)
        case "stale-while-revalidate": Self.set(&staleWhileRevalidate, argument)
        case "stale-if-error": Self.set(&staleIfError, argument)
        case "max-stale":
            guard let argument else {
                maxStale = .max
                return
            }
            // A value that cannot be read allows nothing.
            if let number = Self.seconds(argument) { maxStale = number }
        default: break
        }
    }

    private static func set(_ seconds: inout Seconds, _ argument: String?) {
        let new: Seconds = argument.flatMap(Self.seconds).map { .value($0) } ?? .invalid
        seconds = seconds == .absent || seconds == new ? new : .invalid
    }

    /// Returns the number of seconds (§1.2.2: 1*DIGIT); a larger one than 2^31 counts as 2^31.
    public static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return min(Int64(text) ?? largest, largest)
    }

    /// The largest number of seconds; larger ones count as this.
    public static let largest: Int64 = 1 << 31

    private static func trimmed(_ text: Substring.UTF8View) -> Substring { Substring(text.withoutBlanks) }

    /// §5.2: both forms are accepted, token and quoted-string.
    private static func unquoted(_ text: Substring) -> String {
        let (octets, quote) = (text.utf8, UInt8(ascii: "\""))
        guard octets.count >= 2, octets.first == quote, octets.last == quote else { return String(text) }
        return String(Substring(octets.dropFirst().dropLast()))
    }
}
