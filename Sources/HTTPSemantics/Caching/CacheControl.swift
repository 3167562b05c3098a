public import HTTP1

/// What the Cache-Control lines of a request or a response say (RFC 9111 §5.2). Unknown directives mean nothing.
public struct CacheControl: Hashable, Sendable {
    /// A number of seconds (§1.2.2).
    public enum Seconds: Hashable, Sendable {
        case absent
        /// No number, or two that differ: what it limits is over (§4.2.1).
        case invalid
        case value(Int64)

        public var number: Int64? {
            switch self {
            case .absent, .invalid: nil
            case .value(let number): number
            }
        }
    }

    public enum Staleness: Hashable, Sendable {
        case none, any
        case upTo(Int64)
    }

    public var noStore = false
    /// With field names or without: with, too, the response is asked about before each use.
    public var noCache = false
    /// The field names of `no-cache="…"`, lower case, which are not stored.
    public var noCacheFields: [String] = []
    public var isPublic = false
    public var isPrivate = false
    public var mustRevalidate = false
    public var mustUnderstand = false
    /// RFC 8246.
    public var isImmutable = false
    public var onlyIfCached = false
    public var maxAge = Seconds.absent
    public var minFresh = Seconds.absent
    public var maxStale = Staleness.none
    /// RFC 5861.
    public var staleWhileRevalidate = Seconds.absent
    public var staleIfError = Seconds.absent

    public init() {}

    public init(_ fields: HTTPFields) {
        guard fields.contains(.cacheControl) else {
            // §5.4: Pragma speaks where nothing else does.
            noCache = fields.contains("Pragma") && fields.listMembers(of: "Pragma").contains { Self.isNoCache($0) }
            return
        }
        for member in fields.listMembers(of: "Cache-Control") { take(member) }
    }

    private static func isNoCache(_ text: String) -> Bool { text.lowercased() == "no-cache" }

    private mutating func take(_ member: String) {
        let parts = member.split(separator: "=", maxSplits: 1)
        guard let first = parts.first else { return }
        let name = Self.trimmed(first).lowercased()
        let argument = parts.count > 1 ? Self.unquoted(Self.trimmed(parts[1])) : nil
        switch name {
        case "no-store": noStore = true
        case "no-cache":
            noCache = true
            for field in argument?.split(separator: ",") ?? [] {
                noCacheFields.append(Self.trimmed(field).lowercased())
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
                maxStale = .any
                return
            }
            // What cannot be read allows nothing.
            if let number = Self.seconds(argument) { maxStale = .upTo(number) }
        default: break
        }
    }

    private static func set(_ seconds: inout Seconds, _ argument: String?) {
        let new: Seconds = argument.flatMap(Self.seconds).map { .value($0) } ?? .invalid
        seconds = seconds == .absent || seconds == new ? new : .invalid
    }

    /// §1.2.2: 1*DIGIT; what is too large is taken for 2^31.
    public static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return min(Int64(text) ?? largest, largest)
    }

    public static let largest: Int64 = 1 << 31

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { String(start[...$0]) } ?? ""
    }

    /// §5.2: both forms are to be taken, token and quoted-string.
    private static func unquoted(_ text: String) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast())
    }
}
