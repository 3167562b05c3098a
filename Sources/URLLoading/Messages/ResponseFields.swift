internal import UncurlHTTP1

/// The header fields of a response: as the parser has left them, or as a program gave them in a dictionary.
enum ResponseFields: Sendable {
    /// Strings are made only when asked for: most responses are asked for few.
    case received(HTTPFields)
    /// Names are spelled as in ``HTTPURLResponse/allHeaderFields``.
    case given([String: String])

    /// Makes fields of a dictionary. Empty names are left out. Of names that differ only in case, the last in
    /// alphabetical order wins.
    init(given fields: [String: String]) {
        var result: [String: String] = [:]
        result.reserveCapacity(fields.count)
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) where !name.isEmpty {
            result[HeaderNames.inResponse(name)] = value
        }
        self = .given(result)
    }

    /// Returns all values of a name joined by ", ", also those of Set-Cookie: a dictionary can hold them in no other
    /// way.
    subscript(name: String) -> String? {
        switch self {
        case .received(let fields):
            let values = fields.values(of: name)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        case .given(let fields):
            return fields[HeaderNames.inResponse(name)] ?? fields.first { HeaderNames.areEqual($0.key, name) }?.value
        }
    }

    var dictionary: [String: String] {
        switch self {
        case .given(let fields): return fields
        case .received(let fields):
            var result: [String: String] = [:]
            result.reserveCapacity(fields.count)
            // Each name gets one spelling: names that begin with `X-` are kept as they came, and may come in two
            // spellings.
            var spellings: [String: String] = [:]
            fields.forEach { name, value in
                let key = HeaderNames.inResponse(name)
                let spelling = spellings[HeaderNames.capitalized(name), default: key]
                spellings[HeaderNames.capitalized(name)] = spelling
                // Appended in place: a server may send thousands of one name.
                if result[spelling]?.append(", " + value) == nil { result[spelling] = value }
            }
            return result
        }
    }

    /// The octets of each Set-Cookie field by itself. Fields that a dictionary holds joined in one value stay one.
    var setCookieLines: [ArraySlice<UInt8>] {
        if case .received(let fields) = self, !fields.contains(.setCookie) { return [] }
        return octets(of: "Set-Cookie")
    }

    /// The octets of each field of a name by itself.
    func octets(of name: String) -> [ArraySlice<UInt8>] {
        switch self {
        case .received(let fields): fields.octets(of: name)
        case .given: self[name].map { [Array($0.utf8)[...]] } ?? []
        }
    }

    /// The value of Content-Length, in octets; -1 without the field, for a value that is no number, and where a
    /// transfer coding overrides it (RFC 9112 §6.3).
    var contentLength: Int64 {
        switch self {
        case .received(let fields):
            // The value is read in place, since every response is asked. The parser let several equal numbers pass (RFC
            // 9110 §8.6).
            guard !fields.contains(.transferEncoding), let range = fields.first(.contentLength) else { return -1 }
            return Self.number(fields.block[range].prefix { $0 != UInt8(ascii: ",") })
        case .given:
            return self["Content-Length"].map { Self.number($0.utf8) } ?? -1
        }
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int64 {
        var value: Int64 = digits.isEmpty ? -1 : 0
        for octet in digits {
            let digit = octet &- 0x30
            let (tens, isTooMuch) = value.multipliedReportingOverflow(by: 10)
            let (sum, isStillTooMuch) = tens.addingReportingOverflow(Int64(digit))
            guard digit < 10, !isTooMuch, !isStillTooMuch else { return -1 }
            value = sum
        }
        return value
    }
}

extension ResponseFields: Equatable {
    static func == (left: ResponseFields, right: ResponseFields) -> Bool {
        switch (left, right) {
        case (.received(let left), .received(let right)) where left == right: true
        default: left.dictionary == right.dictionary
        }
    }
}
