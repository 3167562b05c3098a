internal import HTTP1

/// The header fields of a response: as the parser left them, or as somebody gave them in a dictionary.
enum ResponseFields: Sendable {
    /// Strings are made when asked for; most responses are asked for few.
    case received(HTTPFields)
    /// Names spelled as in ``HTTPURLResponse/allHeaderFields``.
    case given([String: String])

    /// Empty names are left out. Of names that differ in case alone, the last in alphabetical order wins.
    init(given fields: [String: String]) {
        var result: [String: String] = [:]
        result.reserveCapacity(fields.count)
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) where !name.isEmpty {
            result[HeaderNames.inResponse(name)] = value
        }
        self = .given(result)
    }

    /// All values of that name joined by ", ", those of Set-Cookie too: a dictionary can hold them in no other way.
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
            // One spelling a name: those of `X-` are kept as they came, and may come in two.
            var spellings: [String: String] = [:]
            fields.forEach { name, value in
                let key = HeaderNames.inResponse(name)
                let spelling = spellings[HeaderNames.capitalized(name), default: key]
                spellings[HeaderNames.capitalized(name)] = spelling
                result[spelling] = result[spelling].map { $0 + ", " + value } ?? value
            }
            return result
        }
    }

    /// Each Set-Cookie field by itself; one that came folded into a dictionary's value is one string still.
    var setCookieLines: [String] {
        switch self {
        case .received(let fields):
            guard fields.contains(.setCookie) else { return [] }
            return fields.values(of: "Set-Cookie")
        case .given:
            return self["Set-Cookie"].map { [$0] } ?? []
        }
    }

    /// What Content-Length says, in octets; -1 without one, with one that is no number, and where a transfer coding
    /// overrides it (RFC 9112 §6.3).
    var contentLength: Int64 {
        let text: String?
        switch self {
        case .received(let fields):
            guard !fields.contains(.transferEncoding), fields.contains(.contentLength) else { return -1 }
            // The parser let equal numbers pass (RFC 9110 §8.6), on several lines or on one.
            text = fields["Content-Length"].flatMap { $0.split(separator: ",").first.map(String.init) }
        case .given:
            text = self["Content-Length"]
        }
        guard let text, text.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else { return -1 }
        return Int64(text) ?? -1
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
