#if HTTPTypes
public import Foundation
public import HTTPTypes

/// The asynchronous functions with the messages of swift-http-types, as HTTPTypesFoundation gives them to other
/// `URLSession`s. Behind the package trait `HTTPTypes`.
///
/// Each is the function of its name that takes a ``URLRequest``. A request of which no `URLRequest` can be made
/// (``URLRequest/init(httpRequest:)``) fails with `URLError.unsupportedURL`, an answer that is none of HTTP's, as that
/// of a `data:` URL, with `URLError.badServerResponse`.
extension URLSession {
    /// Loads a request, and returns the content of its answer, whatever the status.
    public func data(
        for request: HTTPRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, HTTPResponse) {
        try answer(await data(for: request.urlRequest, delegate: delegate))
    }

    /// Sends a file, and returns the content of the answer.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - fileURL: a file of this machine, which is read as it is sent.
    ///   - delegate: the task's own delegate, which is asked before the session's.
    public func upload(
        for request: HTTPRequest,
        fromFile fileURL: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, HTTPResponse) {
        try answer(await upload(for: request.urlRequest, fromFile: fileURL, delegate: delegate))
    }

    /// Sends content in memory, and returns the content of the answer.
    public func upload(
        for request: HTTPRequest,
        from bodyData: Data,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, HTTPResponse) {
        try answer(await upload(for: request.urlRequest, from: bodyData, delegate: delegate))
    }

    /// Loads a request into a file, which the caller may move or delete.
    public func download(
        for request: HTTPRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, HTTPResponse) {
        try answer(await download(for: request.urlRequest, delegate: delegate))
    }

    /// Loads a request. Returns the head of the answer, and its content, which is read as it comes: while it is not
    /// read, the server has to wait.
    public func bytes(
        for request: HTTPRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, HTTPResponse) {
        try answer(await bytes(for: request.urlRequest, delegate: delegate))
    }

    private func answer<Content>(_ loaded: (Content, URLResponse)) throws -> (Content, HTTPResponse) {
        guard let response = (loaded.1 as? HTTPURLResponse)?.httpResponse else {
            throw ErrorTranslation.urlError(.badServerResponse, loaded.1.url, "the answer is none of HTTP's")
        }
        return (loaded.0, response)
    }
}

extension URLSessionTask {
    /// ``originalRequest`` as a request of swift-http-types. Behind the package trait `HTTPTypes`.
    public var originalHTTPRequest: HTTPRequest? { originalRequest?.httpRequest }

    /// ``currentRequest`` as a request of swift-http-types. Behind the package trait `HTTPTypes`.
    public var currentHTTPRequest: HTTPRequest? { currentRequest?.httpRequest }

    /// ``response`` as a response of swift-http-types; nil before there is one. Behind the package trait `HTTPTypes`.
    public var httpResponse: HTTPResponse? { (response as? HTTPURLResponse)?.httpResponse }
}

extension HTTPRequest {
    fileprivate var urlRequest: URLRequest {
        get throws {
            if let request = URLRequest(httpRequest: self) { return request }
            let reason = "the request's scheme, authority and path make no URL, or the value of a field is no UTF-8"
            throw ErrorTranslation.urlError(.unsupportedURL, nil, reason)
        }
    }
}
#endif
