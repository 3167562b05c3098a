public import URLLoading

/// The content that an operation has come to.
extension HTTPRequestOperation {
    /// The content in memory: of an answer that came whole, whatever its status. Nil before the end, after a failure of
    /// the network, and where content goes to an output stream.
    public var responseData: Data? {
        guard outputStream == nil, let result, result.error.map({ $0.response != nil }) ?? true else { return nil }
        return result.data
    }

    /// The content by its charset, else UTF-8, else ISO 8859-1.
    public var responseString: String? {
        guard let data = responseData else { return nil }
        return try? StringResponseSerializer().serialize(ReceivedResponse(response: response, data: data))
    }
}
