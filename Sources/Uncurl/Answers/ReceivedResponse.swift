public import URLLoading

/// A complete answer, as a serializer receives it.
public struct ReceivedResponse: Sendable {
    /// The request that was answered; after redirects, the last one.
    public var request: URLRequest?
    /// The head of the answer; nil where no head came.
    public var response: URLResponse?
    /// The content; empty for a download.
    public var data: Data
    /// The file of a download.
    public var fileURL: URL?

    /// An answer, for a program that calls a serializer itself.
    public init(request: URLRequest? = nil, response: URLResponse?, data: Data, fileURL: URL? = nil) {
        self.request = request
        self.response = response
        self.data = data
        self.fileURL = fileURL
    }

    /// The status; nil where the answer is not HTTP.
    public var status: Int? { (response as? HTTPURLResponse)?.statusCode }

    /// Whether the answer has content.
    var hasContent: Bool {
        guard let fileURL else { return !data.isEmpty }
        let size = try? FileManager.default.attributesOfItem(atPath: fileURL.path)[.size] as? NSNumber
        return size?.int64Value != 0
    }

    /// The encoding that the charset of the content type names; nil where there is no charset or its name is unknown.
    public var charset: String.Encoding? { response?.textEncodingName.flatMap(TextEncoding.named) }

    /// The same, but a name that is unknown is an error.
    package func knownCharset() throws(SerializationFailure) -> String.Encoding? {
        guard let charset else {
            guard let name = response?.textEncodingName else { return nil }
            throw SerializationFailure(.charset(name), answer: self)
        }
        return charset
    }

    /// The content, from memory or from the file. A file is mapped: only the pages that are read come into memory. As
    /// with every mapping, the file must not be shortened while the content is in use. The file may be removed.
    public func content() throws(SerializationFailure) -> Data {
        guard let fileURL else { return data }
        // Foundation of Swift 6.3 leaks a page for each empty file that it reads.
        guard hasContent else { return Data() }
        do {
            // On Linux, `mappedIfSafe` reads the whole file.
            return try Data(contentsOf: fileURL, options: .alwaysMapped)
        } catch {
            throw SerializationFailure(.file, answer: self, underlying: error)
        }
    }
}
