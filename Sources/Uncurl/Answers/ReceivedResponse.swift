public import URLLoading

/// A complete answer, as a serializer gets it.
public struct ReceivedResponse: Sendable {
    /// The request that was answered: after a redirect, the last.
    public var request: URLRequest?
    /// The head of the answer. Nil where there was none.
    public var response: URLResponse?
    /// Empty for a download.
    public var data: Data
    /// Where a download lies.
    public var fileURL: URL?

    /// An answer, for a serializer that is called by hand.
    public init(request: URLRequest? = nil, response: URLResponse?, data: Data, fileURL: URL? = nil) {
        self.request = request
        self.response = response
        self.data = data
        self.fileURL = fileURL
    }

    /// The status, of an HTTP answer.
    public var status: Int? { (response as? HTTPURLResponse)?.statusCode }

    /// Whether anything came.
    var hasContent: Bool {
        guard let fileURL else { return !data.isEmpty }
        let size = try? FileManager.default.attributesOfItem(atPath: fileURL.path)[.size] as? NSNumber
        return size?.int64Value != 0
    }

    /// The encoding that the content type's charset names; nil where it names none, or one that is not known here.
    public var charset: String.Encoding? { response?.textEncodingName.flatMap(TextEncoding.named) }

    /// The content, wherever it lies. A file is mapped, not read: only what is looked at comes into memory. As with
    /// every mapping, the file must not be shortened while the content is in use. Removing it does no harm.
    public func content() throws(SerializationFailure) -> Data {
        guard let fileURL else { return data }
        do {
            // `mappedIfSafe` reads on Linux.
            return try Data(contentsOf: fileURL, options: .alwaysMapped)
        } catch {
            throw SerializationFailure(.file, answer: self, underlying: error)
        }
    }
}
