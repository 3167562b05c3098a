public import Foundation

/// An answer apart from its content. It never changes, so it may be read on any thread.
open class URLResponse: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    let values: ResponseValues

    init(values: ResponseValues) {
        self.values = values
    }

    /// Makes a response without a URL, of which nothing is known.
    public override init() {
        values = ResponseValues(url: nil, expectedContentLength: -1, stated: (nil, nil, nil))
    }

    /// - Parameters:
    ///   - url: the request's URL.
    ///   - mimeType: the media type without its parameters; nil where it is not known.
    ///   - length: in octets; -1 where it is not known.
    ///   - name: the charset, as the server wrote it; nil without one.
    public init(url: URL, mimeType: String?, expectedContentLength length: Int, textEncodingName name: String?) {
        values = ResponseValues(url: url, expectedContentLength: Int64(length), stated: (mimeType, name, nil))
    }

    /// Reads a keyed archive; nil for another coder, and for an archive without a URL.
    public required init?(coder aDecoder: NSCoder) {
        guard let values = ResponseValues(coder: aDecoder) else { return nil }
        self.values = values
    }

    /// Writes the response. Writes nothing to a coder without keys.
    open func encode(with aCoder: NSCoder) {
        values.encode(with: aCoder)
    }

    /// Always true.
    public static var supportsSecureCoding: Bool { true }

    open override func copy() -> Any { copy(with: nil) }

    /// Returns the same object: responses never change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The URL that answered: the last one, after redirects.
    open var url: URL? { values.url }

    /// The media type in lower case and without parameters: `text/html`. Nil if the server does not state it.
    open var mimeType: String? { values.mimeType }

    /// The content's length in octets; -1 where it is not known: chunked content, and content that is decoded on its
    /// way.
    open var expectedContentLength: Int64 { values.expectedContentLength }

    /// The charset's IANA name in lower case, as the server gives it: `utf-8`. Nil without one.
    open var textEncodingName: String? { values.textEncodingName }

    /// The name under which the content might be saved: the name in Content-Disposition (RFC 6266, `filename*` first),
    /// or else the last part of the URL's path, or else `Unknown`, as for `data:` URLs, which have no path. It is a
    /// file's name, never a path: separators become underscores, and so does a dot at the front; control characters are
    /// removed; it is at most 255 octets long. It is computed each time it is asked for.
    open var suggestedFilename: String? { values.suggestedFilename }

    open override func isEqual(_ value: Any?) -> Bool {
        guard let other = value as? URLResponse else { return false }
        return other === self || other.values == values
    }

    open override var hash: Int { values.hashValue }
}
