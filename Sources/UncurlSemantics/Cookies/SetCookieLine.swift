internal import UncurlHTTP1
internal import UncurlText

/// One Set-Cookie field, read by RFC 6265bis §5.6: nearly everything is a cookie, attributes that make no sense are
/// ignored, and the last of several counts. ``Cookie/admitted(from:isSameSite:suffixes:)`` decides whether it is
/// stored.
public struct SetCookieLine: Sendable {
    /// The name; empty for a cookie that is all value.
    public var name: String { didSet { pair = nil } }
    /// The value as it is in the field, with its quotes.
    public var value: String { didSet { pair = nil } }
    /// The domain in lower case, without a leading dot; empty for none.
    public var domain = ""
    /// The path; nil for the default path.
    public var path: String?
    /// When the cookie expires, in seconds since 1970.
    public var expires: Double?
    /// How long the cookie lives, in seconds from now; it overrides ``expires``.
    public var maximumAge: Double?
    /// The Secure attribute.
    public var isSecure = false
    /// The HttpOnly attribute.
    public var isHTTPOnly = false
    /// The SameSite attribute; nil for none and for an unknown value.
    public var sameSite: Cookie.SameSite?
    // The attributes of RFC 2965 that HTTPCookie has.
    /// The Version attribute.
    public var version = 0
    /// The Comment attribute.
    public var comment: String?
    /// The CommentURL attribute.
    public var commentURL: String?
    /// The Port attribute.
    public var ports: [Int]?
    /// The Discard attribute.
    public var isDiscarded = false

    /// As ``Cookie/pair``.
    private var pair: [UInt8]?

    /// The most octets of name and value together (§5.6, step 5), which every user agent must accept.
    public static let maximumSize = 4096
    /// The most octets of an attribute's value (§5.6, step 6 of the attributes); longer ones are ignored.
    public static let maximumAttributeSize = 1024
    /// The longest life of a cookie, in seconds: 400 days (§5.5).
    public static let maximumLifetime: Double = 400 * 86_400

    /// Reads a line. Nil for a line with control characters, for one without name and value, for one too long, and for
    /// one whose name begins with `__Host-` without a Path.
    public init?(_ line: String) { self.init(octets: Array(line.utf8)[...]) }

    /// Reads the octets of a line, which may be no UTF-8.
    package init?(octets line: ArraySlice<UInt8>) {
        guard !Cookie.holdsControls(line) else { return nil }
        var parts = line.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let pair = parts.popFirst() else { return nil }
        let (nameOctets, valueOctets) = Self.pair(pair) ?? ([], pair.withoutBlanks)
        (name, value) = (Self.text(nameOctets), Self.text(valueOctets))
        if !name.utf8.elementsEqual(nameOctets) || !value.utf8.elementsEqual(valueOctets) {
            self.pair = nameOctets.isEmpty ? Array(valueOctets) : nameOctets + [UInt8(ascii: "=")] + valueOctets
        }
        let size = nameOctets.count + valueOctets.count
        guard size > 0, size <= Self.maximumSize else { return nil }
        for part in parts {
            let (name, value) = Self.pair(part) ?? (part.withoutBlanks, [])
            guard value.count <= Self.maximumAttributeSize else { continue }
            if let attribute = Self.text(name).ascii?.lowercased() { take(attribute, Self.text(value)) }
        }
        // §5.7: the prefix requires the attribute, even where the default path is the same.
        guard path != nil || !Cookie.hasPrefix("__host-", name) else { return nil }
    }

    private mutating func take(_ attribute: String, _ value: String) {
        switch attribute {
        case "expires": expires = Cookie.date(value) ?? expires
        case "max-age": maximumAge = Self.seconds(value) ?? maximumAge
        case "domain": domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased()
        case "path": path = value.hasPrefix("/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = Cookie.SameSite(rawValue: value.lowercased())
        case "version": version = Int(value) == 1 ? 1 : 0
        case "comment": comment = value.isEmpty ? nil : value
        case "commenturl": commentURL = value.isEmpty ? nil : value
        case "port": ports = Self.ports(value)
        case "discard": isDiscarded = value.isEmpty || isDiscarded
        default: break
        }
    }

    /// Returns the number of digits with an optional minus (§5.6.2); more than a Double counts exactly is more than 400
    /// days anyway.
    private static func seconds(_ text: String) -> Double? {
        let digits = text.hasPrefix("-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !text.isEmpty, digits.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
        guard !digits.isEmpty else { return 0 }
        return Double(text)
    }

    /// Returns the ports of a Port attribute, without those that are no port.
    public static func ports(_ text: String) -> [Int] {
        text.split { $0 == "," || $0 == "\"" || $0 == " " }.compactMap { Int($0) }.filter { (1...65535).contains($0) }
    }

    /// Splits at the first equals sign; nil without one.
    private static func pair(_ text: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        return (text[..<equals].withoutBlanks, text[(equals + 1)...].withoutBlanks)
    }

    private static func text(_ octets: ArraySlice<UInt8>) -> String { String(shown: octets.span) }

    /// Returns the cookie of this line, from that request at that time, without asking whether it may be set.
    public func cookie(from scope: CookieScope, now: Double) -> Cookie {
        // An address has no hosts below it, so the cookie is for that host alone.
        let isHostOnly = domain.isEmpty || domain.utf8.contains(UInt8(ascii: ":")) || ipv4Bits(domain) != nil
        var cookie = Cookie(
            name: name,
            value: value,
            domain: domain.isEmpty ? scope.host : domain,
            isHostOnly: isHostOnly,
            path: path ?? scope.defaultPath,
            expires: maximumAge.map { now + max(0, $0) } ?? expires
        )
        cookie.expires = cookie.expires.map { min($0, now + Self.maximumLifetime) }
        cookie.pair = pair
        cookie.isSecure = isSecure
        cookie.isHTTPOnly = isHTTPOnly
        cookie.sameSite = sameSite
        cookie.version = version
        cookie.comment = comment
        cookie.commentURL = commentURL
        cookie.ports = ports
        cookie.isDiscarded = isDiscarded
        if isDiscarded { cookie.expires = cookie.expires.flatMap { $0 <= now ? $0 : nil } }
        return cookie
    }
}

/// Whether a server may store a cookie (RFC 6265bis §5.7), without regard to what the jar holds.
extension Cookie {
    /// Returns the cookie of a Set-Cookie line as it is stored, changed where the rules say so; nil if it is refused.
    ///
    /// - Parameters:
    ///   - scope: the scope of the request whose answer set the cookie.
    ///   - isSameSite: whether that request was caused by its own site (RFC 6265bis §5.2).
    ///   - suffixes: the domains for which no host below them may set cookies.
    public func admitted(from scope: CookieScope, isSameSite: Bool, suffixes: PublicSuffixes = .list) -> Cookie? {
        var cookie = self
        guard hasSafeName, !cookie.isSecure || scope.isSecure, cookie.domain.utf8.allSatisfy({ $0 < 0x80 })
        else { return nil }
        if !cookie.isHostOnly, !scope.isAddress, suffixes.contains(cookie.domain) {
            // A public suffix may set cookies for itself, but not for names below it.
            guard cookie.domain == scope.host else { return nil }
            cookie.isHostOnly = true
        }
        guard cookie.isHostOnly ? cookie.domain == scope.host : scope.matches(domain: cookie.domain) else { return nil }
        switch cookie.sameSite {
        case .strict, .lax: if !isSameSite { return nil }
        case .none?, nil: break
        }
        return cookie.fulfilsPrefix ? cookie : nil
    }

    /// Whether the name does not pretend to have a prefix. A cookie without a name is sent as its value alone, which a
    /// server would read as name and value.
    private var hasSafeName: Bool {
        guard !Cookie.holdsControls(name), !Cookie.holdsControls(value) else { return false }
        return !name.isEmpty || !(Cookie.hasPrefix("__secure-", value) || Cookie.hasPrefix("__host-", value))
    }

    /// Whether the cookie is as the prefix of its name says (§4.1.3). Case does not matter: servers ignore it.
    private var fulfilsPrefix: Bool {
        if Cookie.hasPrefix("__secure-", name) { return isSecure }
        if Cookie.hasPrefix("__host-", name) { return isSecure && isHostOnly && path == "/" }
        return true
    }

    static func hasPrefix(_ prefix: String, _ text: String) -> Bool {
        text.utf8.count >= prefix.utf8.count
            && zip(text.utf8, prefix.utf8).allSatisfy { $0.lowercasedASCII == $1 }
    }
}

/// Several Set-Cookie fields that were joined with commas or line feeds, as a dictionary of fields has to join them. A
/// comma in a date does not separate two fields: after one that does, a token and an equals sign follow.
extension SetCookieLine {
    /// Returns the lines that were joined to this text, in their order, without blank ones.
    public static func split(_ text: String) -> [String] {
        text.utf8.split { $0 == 0x0A || $0 == 0x0D }.flatMap { splitAtCommas(Array($0)) }
    }

    private static func splitAtCommas(_ octets: [UInt8]) -> [String] {
        var lines: [String] = []
        var start = 0
        var position = 0
        while position < octets.count {
            switch octets[position] {
            case UInt8(ascii: ",") where beginsCookie(octets, position + 1):
                lines.append(String(decoding: octets[start..<position], as: UTF8.self))
                position += 1
                start = position
            case UInt8(ascii: "="):
                position = endOfQuoted(octets, position + 1)
            default:
                position += 1
            }
        }
        lines.append(String(decoding: octets[start...], as: UTF8.self))
        return lines.filter { line in !line.utf8.allSatisfy(\.isBlankOctet) }
    }

    private static func beginsCookie(_ octets: [UInt8], _ start: Int) -> Bool {
        let rest = octets[start...].drop(while: \.isBlankOctet)
        let afterName = rest.drop(while: \.isTokenOctet)
        return afterName.startIndex > rest.startIndex
            && afterName.first { !$0.isBlankOctet } == UInt8(ascii: "=")
    }

    /// Returns the end of a quoted value. It may hold commas if its closing quote comes before the next semicolon, and
    /// a comma, a semicolon or nothing follows.
    private static func endOfQuoted(_ octets: [UInt8], _ start: Int) -> Int {
        guard start < octets.count, octets[start] == UInt8(ascii: "\""),
            let end = octets[(start + 1)...].firstIndex(of: UInt8(ascii: "\""))
        else { return start }
        let next = octets[(end + 1)...].first { !$0.isBlankOctet }
        let isEnd = next == nil || next == UInt8(ascii: ";") || next == UInt8(ascii: ",")
        return isEnd && !octets[start..<end].contains(UInt8(ascii: ";")) ? end + 1 : start
    }
}

/// Dates in cookies, which servers write in many forms: tokens in any order, as RFC 6265bis §5.1.1 reads them.
extension Cookie {
    /// Returns a cookie's date in seconds since 1970; nil for text that is no date.
    public static func date(_ text: String) -> Double? {
        var time: Time?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            // Each part is taken once; a later token of its form may be one of the other parts.
            if time == nil, let found = self.time(token) {
                time = found
            } else if day == nil, let found = number(token, 1...2) {
                day = found
            } else if month == nil, let found = self.month(token) {
                month = found
            } else if year == nil, let found = number(token, 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year, time.hours < 24, time.minutes < 60, time.seconds < 60 else {
            return nil
        }
        if (70...99).contains(year) { year += 1900 }
        if (0...69).contains(year) { year += 2000 }
        guard year >= 1601, let date = CivilDate(year: year, month: month, day: day) else { return nil }
        return Double(date.daysSince1970 * 86_400 + Int64(time.hours * 3600 + time.minutes * 60 + time.seconds))
    }

    /// delimiter = %x09 / %x20-2F / %x3B-40 / %x5B-60 / %x7B-7E
    private static func isDelimiter(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The first token in the form of a time is the time, even if it is none of a day.
    private typealias Time = (hours: Int, minutes: Int, seconds: Int)

    /// time = hms-time [ non-digit *OCTET ], each field of one or two digits.
    private static func time(_ token: Substring.UTF8View) -> Time? {
        let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[0].count <= 2, fields[1].count <= 2, let hours = number(fields[0], 1...2),
            let minutes = number(fields[1], 1...2), let seconds = number(fields[2], 1...2),
            isAllDigits(fields[0]), isAllDigits(fields[1])
        else { return nil }
        return (hours, minutes, seconds)
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Returns the month of the first three letters; the rest may be anything.
    private static func month(_ token: Substring.UTF8View) -> Int? {
        let start = token.prefix(3).map(\.lowercasedASCII)
        return months.firstIndex { $0.utf8.elementsEqual(start) }.map { $0 + 1 }
    }

    /// Returns a number of so many digits that no digit follows.
    private static func number(_ token: Substring.UTF8View, _ count: ClosedRange<Int>) -> Int? {
        let digits = token.prefix { $0 &- 0x30 < 10 }
        guard count.contains(digits.count) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 &- 0x30) }
    }

    private static func isAllDigits(_ text: Substring.UTF8View) -> Bool { text.allSatisfy { $0 &- 0x30 < 10 } }
}
