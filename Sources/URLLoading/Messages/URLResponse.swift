public import Foundation

/// What is known of a load's answer apart from its content. Never changes, so it may be read on any thread.
open class URLResponse: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    let values: ResponseValues

    init(values: ResponseValues) {
        self.values = values
    }

    /// - Parameters:
    ///   - url: of the request.
    ///   - mimeType: the media type without its parameters; nil where it is not known.
    ///   - length: in octets; -1 where it is not known.
    ///   - name: the charset, as the server wrote it; nil without one.
    public init(url: URL, mimeType: String?, expectedContentLength length: Int, textEncodingName name: String?) {
        values = ResponseValues(
            url: url,
            expectedContentLength: Int64(length),
            details: .stated(mimeType: mimeType, textEncodingName: name, suggestedFilename: nil)
        )
    }

    /// Takes a keyed archive only; nil without a URL in it.
    public required init?(coder aDecoder: NSCoder) {
        guard let values = ResponseValues(coder: aDecoder) else { return nil }
        self.values = values
    }

    /// A coder without keys gets nothing.
    open func encode(with aCoder: NSCoder) {
        values.encode(with: aCoder)
    }

    /// Always true.
    public static var supportsSecureCoding: Bool { true }

    open override func copy() -> Any { copy(with: nil) }

    /// Responses are never changed: the same one.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The URL that answered: the last one, after redirects.
    open var url: URL? { values.url }

    /// In lower case and without parameters: `text/html`. nil if the server says nothing.
    open var mimeType: String? { values.mimeType }

    /// In octets; -1 where it is not known, as with chunked content and with content that is decoded on its way.
    open var expectedContentLength: Int64 { values.expectedContentLength }

    /// The IANA name in lower case, as the server gives it: `utf-8`.
    open var textEncodingName: String? { values.textEncodingName }

    /// The name under which the content might be saved: what Content-Disposition gives (RFC 6266, `filename*` first),
    /// else the last part of the URL's path, else `Unknown`, as for `data:` URLs, which have no path. A file's name,
    /// never a path: separators become underlines, a dot at the front too, controls are gone, and it is at most 255
    /// octets long. Found each time it is asked for.
    open var suggestedFilename: String? { values.suggestedFilename }

    open override func isEqual(_ value: Any?) -> Bool {
        guard let other = value as? URLResponse else { return false }
        return other === self || other.values == values
    }

    open override var hash: Int { values.hashValue }
}
