public import Foundation
internal import UncurlHTTP1

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
                details: .derived,
                http: ResponseValues.HTTP(status: statusCode, fields: fields)
            )
        )
    }

    /// Makes a response that came from a server. It holds the head's octets, and makes strings of them when asked.
    ///
    /// - Parameter isDecoded: whether the content is delivered without its content coding, so that Content-Length is
    ///   not the length of what will come.
    init(url: URL, head: ResponseHead, isDecoded: Bool = false) {
        statusCode = head.status
        let fields = ResponseFields.received(head.fields.trimmed())
        super.init(
            values: ResponseValues(
                url: url,
                expectedContentLength: isDecoded ? -1 : fields.contentLength,
                details: .derived,
                http: ResponseValues.HTTP(status: head.status, fields: fields)
            )
        )
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
        StatusText.of(statusCode)
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
