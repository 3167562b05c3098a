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

/// The meaning of status codes, in words: the IANA registry's reason phrases; for other codes, words for their class.
/// 413 and 422 have the phrases from before RFC 9110, as in FoundationNetworking.
enum StatusText {
    static func of(_ status: Int) -> String {
        if let text = registered[status] { return text }
        return switch status {
        case 100...199: "Informational"
        case 200...299: "Success"
        case 300...399: "Redirection"
        case 400...499: "Client Error"
        // Codes beyond the classes are treated as 5xx (RFC 9110 §15).
        default: "Server Error"
        }
    }

    private static let registered: [Int: String] = [
        100: "Continue",
        101: "Switching Protocols",
        102: "Processing",
        103: "Early Hints",
        200: "OK",
        201: "Created",
        202: "Accepted",
        203: "Non-Authoritative Information",
        204: "No Content",
        205: "Reset Content",
        206: "Partial Content",
        207: "Multi-Status",
        208: "Already Reported",
        226: "IM Used",
        300: "Multiple Choices",
        301: "Moved Permanently",
        302: "Found",
        303: "See Other",
        304: "Not Modified",
        305: "Use Proxy",
        307: "Temporary Redirect",
        308: "Permanent Redirect",
        400: "Bad Request",
        401: "Unauthorized",
        402: "Payment Required",
        403: "Forbidden",
        404: "Not Found",
        405: "Method Not Allowed",
        406: "Not Acceptable",
        407: "Proxy Authentication Required",
        408: "Request Timeout",
        409: "Conflict",
        410: "Gone",
        411: "Length Required",
        412: "Precondition Failed",
        413: "Payload Too Large",
        414: "URI Too Long",
        415: "Unsupported Media Type",
        416: "Range Not Satisfiable",
        417: "Expectation Failed",
        421: "Misdirected Request",
        422: "Unprocessable Entity",
        423: "Locked",
        424: "Failed Dependency",
        425: "Too Early",
        426: "Upgrade Required",
        428: "Precondition Required",
        429: "Too Many Requests",
        431: "Request Header Fields Too Large",
        451: "Unavailable For Legal Reasons",
        500: "Internal Server Error",
        501: "Not Implemented",
        502: "Bad Gateway",
        503: "Service Unavailable",
        504: "Gateway Timeout",
        505: "HTTP Version Not Supported",
        506: "Variant Also Negotiates",
        507: "Insufficient Storage",
        508: "Loop Detected",
        510: "Not Extended",
        511: "Network Authentication Required",
    ]
}
