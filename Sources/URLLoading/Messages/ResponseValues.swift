public import Foundation
internal import UncurlClient
internal import UncurlHTTP1

/// The values of a response. ``URLResponse`` and ``HTTPURLResponse`` are shells over it.
struct ResponseValues: Sendable {
    /// The type, the encoding, and the name; a name of nil is that in the URL, which is found when it is asked for.
    typealias Details = (mimeType: String?, textEncodingName: String?, suggestedFilename: String?)

    /// The part that only HTTP responses have.
    struct HTTP: Sendable, Equatable {
        var status: Int
        var fields: ResponseFields
    }

    var url: URL?
    /// In octets; -1 where it is not known.
    var expectedContentLength: Int64
    /// Nil: they are read from the fields each time. The loader makes many responses that are never asked for them.
    var stated: Details?
    var http: HTTP?

    var mimeType: String? {
        if let stated { return stated.mimeType }
        let type = contentType?.value.lowercased()
        return type == "" ? nil : type
    }

    var textEncodingName: String? {
        if let stated { return stated.textEncodingName }
        return contentType?["charset"]?.lowercased()
    }

    var suggestedFilename: String {
        if let name = stated?.suggestedFilename { return name }
        let header = stated == nil ? http?.fields["Content-Disposition"] : nil
        return ResponseValues.filename(of: url, contentDisposition: header)
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
        // An archive is trusted no more than a server. Of a path the last part counts, as in FoundationNetworking.
        let name = coder.string("NS.suggestedFilename").flatMap(ResponseValues.lastPart) ?? "Unknown"
        stated = (coder.string("NS.mimeType"), coder.string("NS.textEncodingName"), name)
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
            result[name.responseFieldName] = value
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
            return fields[name.responseFieldName] ?? fields.first { $0.key.isSameName(as: name) }?.value
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
                let key = name.responseFieldName
                let spelling = spellings[name.capitalizedFieldName, default: key]
                spellings[name.capitalizedFieldName] = spelling
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
            return fields.contentLength
        case .given:
            return self["Content-Length"].map { HTTPFields.length(of: $0.utf8) } ?? -1
        }
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

/// A response by HTTP: a ``URLResponse`` with a status and header fields. Two are equal only with the same status and
/// the same fields; FoundationNetworking compares neither.
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    /// The status code: 100 to 999 from a server; any number in a response that a program made.
    public let statusCode: Int

    /// Makes a response of the program's own, for caches, protocols and tests. Never nil.
    ///
    /// - Parameters:
    ///   - url: the request's URL.
    ///   - statusCode: 100 to 999.
    ///   - httpVersion: ignored; it is there for source compatibility, and no property returns it.
    ///   - headerFields: nil for none.
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) {
        self.statusCode = statusCode
        let fields = ResponseFields(given: headerFields ?? [:])
        super.init(
            values: ResponseValues(
                url: url,
                expectedContentLength: fields.contentLength,
                http: ResponseValues.HTTP(status: statusCode, fields: fields)
            )
        )
    }

    /// Makes a response that came from a server. It holds the head's octets, and makes strings of them when asked.
    convenience init(_ response: LocatedHead, _ url: URL) {
        let http = ResponseValues.HTTP(status: response.status, fields: .received(response.fields))
        let values = ResponseValues(url: url, expectedContentLength: response.length, http: http)
        self.init(values: values, status: response.status)
    }

    /// Makes the response that a cache has kept.
    init(values: ResponseValues, status: Int) {
        statusCode = status
        super.init(values: values)
    }

    /// Reads a keyed archive; nil for another coder, and for an archive without a response.
    public required init?(coder aDecoder: NSCoder) {
        guard let values = ResponseValues(coder: aDecoder), let http = values.http else { return nil }
        statusCode = http.status
        super.init(values: values)
    }

    open override func encode(with aCoder: NSCoder) {
        super.encode(with: aCoder)
    }

    var fields: ResponseFields { values.http?.fields ?? .given([:]) }

    /// The fields as a dictionary, made anew each time. Names are capitalised, except those that begin with `X-`, which
    /// stay as they came; several values of one name are joined by ", ".
    public var allHeaderFields: [AnyHashable: Any] { fields.dictionary }

    /// Returns the value of a field, whatever the case of its name; several values are joined by ", ".
    public func value(forHTTPHeaderField field: String) -> String? { fields[field] }

    /// Returns the meaning of a status code, in English for every locale.
    open class func localizedString(forStatusCode statusCode: Int) -> String {
        if let phrase = ResponseHead.registeredReasons[statusCode] { return phrase }
        return switch statusCode {
        case 100...199: "Informational"
        case 200...299: "Success"
        case 300...399: "Redirection"
        case 400...499: "Client Error"
        // Codes beyond the classes are treated as 5xx (RFC 9110 §15).
        default: "Server Error"
        }
    }

    open override var description: String {
        let fields = fields.dictionary.sorted { $0.key < $1.key }.map { name, value in
            let isQuoted =
                name == "Content-Type" || (name == "Content-Disposition" && suggestedFilename != "Unknown")
            return isQuoted ? "   \"\(name)\" = \"\(value)\";\n" : "   \"\(name)\" = \(value);\n"
        }
        let address = unsafe "\(Unmanaged.passUnretained(self).toOpaque())"
        let head = "<\(type(of: self)) \(address)> { URL: \(url?.absoluteString ?? "(null)") }"
        return head + "{ status: \(statusCode), headers {\n\(fields.joined())} }"
    }
}
