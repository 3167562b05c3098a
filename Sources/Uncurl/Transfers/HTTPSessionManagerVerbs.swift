public import URLLoading

/// Methods as functions that wait. Each throws ``UncurlError``; cancelling the Swift task cancels the request.
extension HTTPSessionManager {
    /// - Parameters:
    ///   - path: a reference to the base URL, or a URL.
    ///   - parameters: where the request serializer puts them: the query, for this method.
    public func get<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.get, path, parameters: parameters, headers: headers), type)
    }

    /// The answer's head; there is no content.
    public func head(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders()
    ) async throws(UncurlError) -> HTTPURLResponse {
        let request = HTTPRequest(.head, path, parameters: parameters, headers: headers)
        let response = await response(to: request, serializer: .data)
        _ = try response.result.get()
        guard let head = response.response else { throw .transport(URLError(.badServerResponse)) }
        return head
    }

    public func post<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.post, path, parameters: parameters, headers: headers), type)
    }

    /// Sends a form of several parts.
    public func post<Value: Decodable & Sendable>(
        _ path: String,
        form: MultipartForm,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        var request = HTTPRequest(.post, path, parameters: parameters, headers: headers, body: .multipart(form))
        request.options.uploadProgress = progress
        return try await value(of: request, type)
    }

    public func put<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.put, path, parameters: parameters, headers: headers), type)
    }

    public func patch<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.patch, path, parameters: parameters, headers: headers), type)
    }

    public func delete<Value: Decodable & Sendable>(
        _ path: String,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = HTTPHeaders(),
        as type: Value.Type
    ) async throws(UncurlError) -> Value {
        try await value(of: HTTPRequest(.delete, path, parameters: parameters, headers: headers), type)
    }

    private func value<Value: Decodable & Sendable>(
        of request: HTTPRequest,
        _ type: Value.Type
    ) async throws(UncurlError) -> Value {
        try await response(to: request, serializer: .decodable(type)).result.get()
    }
}
