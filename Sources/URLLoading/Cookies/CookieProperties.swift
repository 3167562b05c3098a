internal import Foundation
internal import UncurlSemantics

/// Converts between cookies and the dictionaries with which Foundation describes them.
struct CookieProperties {
    private let properties: [HTTPCookiePropertyKey: Any]

    init(_ properties: [HTTPCookiePropertyKey: Any]) {
        self.properties = properties
    }

    /// Returns the cookie. Nil if the name, the value, the path, or both the domain and the origin are missing; if one
    /// of them holds a control character or a semicolon; or if the name holds an equals sign: such a cookie would be
    /// sent as another one, or as several (RFC 6265bis §5.6).
    func cookie(now: Double) -> Cookie? {
        guard let name = string(.name), let value = string(.value), let path = string(.path),
            let domain = (string(.domain).flatMap { $0.isEmpty ? nil : $0 } ?? originURL?.host)?.lowercased(),
            ![name, value, path, domain].contains(where: Cookie.holdsEnd), !name.utf8.contains(UInt8(ascii: "="))
        else { return nil }
        var cookie = Cookie(
            name: name,
            value: value,
            domain: domain.hasPrefix(".") ? String(domain.dropFirst()) : domain,
            isHostOnly: !domain.hasPrefix("."),
            path: path.hasPrefix("/") ? path : "/"
        )
        cookie.version = (properties[.version] as? Int ?? string(.version).flatMap { Int($0) }) == 1 ? 1 : 0
        cookie.isSecure = flag(.secure) ?? false
        cookie.isHTTPOnly = flag(.httpOnly) ?? false
        cookie.comment = string(.comment)
        cookie.commentURL = url(.commentURL)?.absoluteString
        cookie.ports = ports.map { cookie.version == 1 ? $0 : Array($0.prefix(1)) }.flatMap { $0.isEmpty ? nil : $0 }
        let policy = (properties[.sameSitePolicy] as? HTTPCookieStringPolicy)?.rawValue ?? string(.sameSitePolicy)
        cookie.sameSite = policy.flatMap { Cookie.SameSite(rawValue: $0.lowercased()) }
        let maximumAge = cookie.version == 1 ? seconds : nil
        cookie.isDiscarded = flag(.discard) ?? (cookie.version == 1 && maximumAge == nil)
        if !cookie.isDiscarded { cookie.expires = maximumAge.map { min(now + max(0, $0), Self.endOfTime) } ?? expires }
        return cookie
    }

    /// The origin, as a URL or a String. FoundationNetworking refuses a String (swift-corelibs-foundation issue 5217).
    var originURL: URL? { url(.originURL) }

    private var seconds: Double? {
        let age = (properties[.maximumAge] as? NSNumber)?.doubleValue ?? string(.maximumAge).flatMap { Double($0) }
        return age.flatMap { $0.isFinite ? $0 : nil }
    }

    private var expires: Double? {
        let time = (properties[.expires] as? Date)?.timeIntervalSince1970 ?? string(.expires).flatMap(CookieDate.parse)
        guard let time, !time.isNaN else { return nil }
        return min(max(time, -Self.endOfTime), Self.endOfTime)
    }

    /// The latest date, in seconds: some thirty million years from now. JSON has no infinity, so one infinite date
    /// would keep all cookies off the disk.
    private static let endOfTime = 1e15

    private var ports: [Int]? {
        if let numbers = properties[.port] as? [NSNumber] { return numbers.map(\.intValue) }
        if let number = properties[.port] as? NSNumber { return [number.intValue] }
        return string(.port).map(SetCookieLine.ports)
    }

    private func string(_ key: HTTPCookiePropertyKey) -> String? {
        if let part = properties[key] as? Substring { return String(part) }
        return properties[key] as? String
    }

    private func url(_ key: HTTPCookiePropertyKey) -> URL? {
        properties[key] as? URL ?? string(key).flatMap { URL(string: $0) }
    }

    private func flag(_ key: HTTPCookiePropertyKey) -> Bool? {
        if let flag = properties[key] as? Bool { return flag }
        if let number = properties[key] as? NSNumber { return number.boolValue }
        return string(key).map { !["", "FALSE", "NO", "0"].contains($0.uppercased()) }
    }

    /// Returns the dictionary for a cookie, with FoundationNetworking's types: flags are Bools, the version an Int.
    static func of(_ cookie: Cookie, created: Double, originURL: URL?) -> [HTTPCookiePropertyKey: Any] {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .created: created - Date.timeIntervalBetween1970AndReferenceDate,
            .discard: cookie.isDiscarded,
            .domain: cookie.isHostOnly ? cookie.domain : "." + cookie.domain,
            .name: cookie.name,
            .path: cookie.path,
            .secure: cookie.isSecure,
            .value: cookie.value,
            .version: cookie.version,
        ]
        if cookie.isHTTPOnly { properties[.httpOnly] = true }
        properties[.comment] = cookie.comment
        properties[.commentURL] = cookie.commentURL.flatMap { URL(string: $0) }
        properties[.expires] = cookie.expires.map { Date(timeIntervalSince1970: $0) }
        properties[.originURL] = originURL
        properties[.port] = cookie.ports.map { $0.map { NSNumber(value: $0) } }
        properties[.sameSitePolicy] = cookie.sameSite?.rawValue
        return properties
    }
}
