public import URLLoading

/// The received content of an operation.
extension HTTPRequestOperation {
    /// The content in memory, of a complete answer with any status. Nil before the end, after a failure of the network,
    /// and where the content goes to an output stream.
    public var responseData: Data? {
        guard outputStream == nil, let result, result.error.map({ $0.response != nil }) ?? true else { return nil }
        return result.data
    }

    /// The content as text: decoded by its charset, else as UTF-8, else as ISO 8859-1.
    public var responseString: String? {
        guard let data = responseData else { return nil }
        return try? StringResponseSerializer().serialize(ReceivedResponse(response: response, data: data))
    }
}
