public import URLLoading

/// Makes a value of an answer. A value itself: its copy in a task cannot be changed by anybody else.
public protocol ResponseSerializer<Value>: Sendable {
    associatedtype Value: Sendable

    /// Which answers are looked at; checked before ``serialize(_:)``.
    var validation: ResponseValidation { get }

    /// Called on no particular thread, for several answers at once.
    ///
    /// - Throws: anything; what is not a ``SerializationFailure`` is wrapped in one.
    func serialize(_ answer: ReceivedResponse) throws -> Value
}

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
}
