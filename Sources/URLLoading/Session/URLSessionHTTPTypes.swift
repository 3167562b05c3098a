#if HTTPTypes
public import Foundation
public import HTTPTypes

/// The asynchronous functions with the messages of swift-http-types, as HTTPTypesFoundation adds them to other
/// `URLSession`s. They need the package trait `HTTPTypes`.
///
/// Each does the same as the function of its name that takes a ``URLRequest``. A request fails with
/// `URLError.unsupportedURL` if no `URLRequest` can be made from it (``URLRequest/init(httpRequest:)``), and with
/// `URLError.badServerResponse` if its response is not one of HTTP, as that of a `data:` URL.
extension URLSession {
    /// Loads a request, and returns the content of its response, whatever the status.
    public func data(
        for request: HTTPRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, HTTPResponse) {
        try answer(await data(for: request.urlRequest, delegate: delegate))
    }

    /// Sends a file, and returns the content of the response.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - fileURL: a local file, which is read while it is sent.
    ///   - delegate: the delegate of this task, which is asked before that of the session.
    public func upload(
        for request: HTTPRequest,
        fromFile fileURL: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, HTTPResponse) {
        try answer(await upload(for: request.urlRequest, fromFile: fileURL, delegate: delegate))
    }

    /// Sends content in memory, and returns the content of the response.
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

    /// Loads a request, and returns the head of its response with its content as a sequence of bytes. While the program
    /// does not read them, the server has to wait.
    public func bytes(
        for request: HTTPRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, HTTPResponse) {
        try answer(await bytes(for: request.urlRequest, delegate: delegate))
    }

    private func answer<Content>(_ loaded: (Content, URLResponse)) throws -> (Content, HTTPResponse) {
        guard let response = (loaded.1 as? HTTPURLResponse)?.httpResponse else {
            throw URLError(.badServerResponse, loaded.1.url, "the response is not an HTTP response")
        }
        return (loaded.0, response)
    }
}

extension URLSessionTask {
    /// ``originalRequest`` as a request of swift-http-types. It needs the package trait `HTTPTypes`.
    public var originalHTTPRequest: HTTPRequest? { originalRequest?.httpRequest }

    /// ``currentRequest`` as a request of swift-http-types. It needs the package trait `HTTPTypes`.
    public var currentHTTPRequest: HTTPRequest? { currentRequest?.httpRequest }

    /// ``response`` as a response of swift-http-types; nil before there is one. It needs the package trait `HTTPTypes`.
    public var httpResponse: HTTPResponse? { (response as? HTTPURLResponse)?.httpResponse }
}

extension HTTPRequest {
    fileprivate var urlRequest: URLRequest {
        get throws {
            if let request = URLRequest(httpRequest: self) { return request }
            let reason = "the request's scheme, authority and path are not a URL, or the value of a field is not UTF-8"
            throw URLError(.unsupportedURL, nil, reason)
        }
    }
}
#endif
