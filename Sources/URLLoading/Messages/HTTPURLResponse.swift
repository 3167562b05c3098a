public import Foundation
internal import HTTP1

/// An answer by HTTP: what ``URLResponse`` has, a status and header fields. Two are equal only with the same status and
/// the same fields; FoundationNetworking looks at neither.
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    /// 100 to 999 from a server; what was given, in a response of the user's own making.
    public let statusCode: Int

    /// A response of the user's own making, for caches, protocols and tests. Never nil.
    ///
    /// - Parameters:
    ///   - url: of the request.
    ///   - statusCode: 100 to 999.
    ///   - httpVersion: for source compatibility; nothing here would tell it.
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

    /// What came from a server. Holds the head's octets and makes strings of them when asked.
    ///
    /// - Parameter isDecoded: whether the content is delivered without its content coding, so that Content-Length says
    ///   nothing of what will come.
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

    /// What a cache kept of a response.
    init(values: ResponseValues, status: Int) {
        statusCode = status
        super.init(values: values)
    }

    /// Takes a keyed archive only; nil for what holds no response.
    public required init?(coder aDecoder: NSCoder) {
        guard let values = ResponseValues(coder: aDecoder), let http = values.http else { return nil }
        statusCode = http.status
        super.init(values: values)
    }

    open override func encode(with aCoder: NSCoder) {
        super.encode(with: aCoder)
    }

    var fields: ResponseFields { values.http?.fields ?? .given([:]) }

    /// The fields as a dictionary, made anew when asked for. Names are capitalised but for those of `X-`, which stay as
    /// they came; several values of one name are joined by ", ".
    public var allHeaderFields: [AnyHashable: Any] { fields.dictionary }

    /// The value of a field, whatever the case of its name; several joined by ", ".
    public func value(forHTTPHeaderField field: String) -> String? { fields[field] }

    /// English, and the same for every locale.
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
