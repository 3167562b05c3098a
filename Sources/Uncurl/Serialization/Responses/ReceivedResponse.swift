public import URLLoading

/// An answer that is complete.
public struct ReceivedResponse: Sendable {
    /// The request that was answered: after a redirect, the last.
    public var request: URLRequest?
    public var response: URLResponse?
    /// Empty for a download.
    public var data: Data
    /// Where a download lies.
    public var fileURL: URL?

    public init(request: URLRequest? = nil, response: URLResponse?, data: Data, fileURL: URL? = nil) {
        self.request = request
        self.response = response
        self.data = data
        self.fileURL = fileURL
    }

    /// The status, of an HTTP answer.
    public var status: Int? { (response as? HTTPURLResponse)?.statusCode }

    /// The content, wherever it lies. A file is mapped, not read: only what is looked at comes into memory.
    public func content() throws(SerializationFailure) -> Data {
        guard let fileURL else { return data }
        do {
            return try Data(contentsOf: fileURL, options: .mappedIfSafe)
        } catch {
            throw SerializationFailure(.file, answer: self, underlying: error)
        }
    }
}
