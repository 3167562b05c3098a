internal import Foundation
internal import UncurlHTTP1

/// The values of a response. ``URLResponse`` and ``HTTPURLResponse`` are shells over it.
struct ResponseValues: Sendable {
    /// The source of the type, the encoding and the name.
    enum Details: Sendable {
        /// - Parameter suggestedFilename: nil for the name in the URL, which is found when it is asked for.
        case stated(mimeType: String?, textEncodingName: String?, suggestedFilename: String?)
        /// Read from the fields each time: the loader makes many responses that are never asked for them.
        case derived
    }

    /// The part that only HTTP responses have.
    struct HTTP: Sendable, Equatable {
        var status: Int
        var fields: ResponseFields
    }

    var url: URL?
    /// In octets; -1 where it is not known.
    var expectedContentLength: Int64
    var details: Details
    var http: HTTP?

    var mimeType: String? {
        switch details {
        case .stated(let mimeType, _, _): return mimeType
        case .derived:
            let type = contentType?.value.lowercased()
            return type == "" ? nil : type
        }
    }

    var textEncodingName: String? {
        switch details {
        case .stated(_, let textEncodingName, _): textEncodingName
        case .derived: contentType?["charset"]?.lowercased()
        }
    }

    var suggestedFilename: String {
        switch details {
        case .stated(_, _, let suggestedFilename):
            suggestedFilename ?? SuggestedFilename.of(url: url, contentDisposition: nil)
        case .derived: SuggestedFilename.of(url: url, contentDisposition: http?.fields["Content-Disposition"])
        }
    }

    private var contentType: FieldParameters? {
        http?.fields["Content-Type"].map(FieldParameters.init(contentType:))
    }
}

extension ResponseValues: Hashable {
    /// Compares all but the name, which follows from the rest.
    static func == (left: ResponseValues, right: ResponseValues) -> Bool {
        left.url == right.url && left.expectedContentLength == right.expectedContentLength
            && left.mimeType == right.mimeType && left.textEncodingName == right.textEncodingName
            && left.http == right.http
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(expectedContentLength)
        hasher.combine(http?.status)
    }
}

/// Responses in keyed archives, under FoundationNetworking's keys.
extension ResponseValues {
    init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding, let url = coder.url("NS.url") else { return nil }
        self.url = url
        expectedContentLength = coder.decodeInt64(forKey: "NS.expectedContentLength")
        details = .stated(
            mimeType: coder.string("NS.mimeType"),
            textEncodingName: coder.string("NS.textEncodingName"),
            // An archive is trusted no more than a server. Of a path the last part counts, as in FoundationNetworking.
            suggestedFilename: coder.string("NS.suggestedFilename").flatMap(SuggestedFilename.lastPart) ?? "Unknown"
        )
        guard coder.containsValue(forKey: "NS.statusCode") else { return }
        http = HTTP(
            status: coder.decodeInteger(forKey: "NS.statusCode"),
            fields: ResponseFields(given: coder.strings("NS.allHeaderFields") ?? [:])
        )
    }

    func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encode(url as NSURL?, forKey: "NS.url")
        coder.encode(mimeType as NSString?, forKey: "NS.mimeType")
        coder.encode(expectedContentLength, forKey: "NS.expectedContentLength")
        coder.encode(textEncodingName as NSString?, forKey: "NS.textEncodingName")
        coder.encode(suggestedFilename as NSString, forKey: "NS.suggestedFilename")
        guard let http else { return }
        coder.encode(http.status, forKey: "NS.statusCode")
        coder.encode(http.fields.dictionary as NSDictionary, forKey: "NS.allHeaderFields")
    }
}

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
