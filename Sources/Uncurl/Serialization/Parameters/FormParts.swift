public import URLLoading

extension Parameters {
    /// The parameters as parts of a multipart form: names by the rules of a query, nothing escaped. Bytes stay bytes, null is
    /// an empty part, the rest is text.
    public func formParts(
        _ rules: QueryEncoding = QueryEncoding(),
        stringEncoding: String.Encoding = .utf8
    ) throws(ParameterFailure) -> [(name: String, value: Data)] {
        []
    }
}
