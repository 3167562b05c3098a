internal import Foundation
internal import HTTP1
internal import HTTPSemantics
internal import Synchronization

/// The rules for a request on the network, for a loading class that stands in for the network.
extension URLSessionTask {
    private var configuration: URLSessionConfiguration? { snapshot.withLock { $0.session }?.ownConfiguration }

    /// Returns the request that follows a redirect (RFC 9110 §15.4); nil if the response is the answer. The session
    /// decides whether it is followed.
    package func request(following response: HTTPURLResponse, to request: URLRequest) -> URLRequest? {
        guard let configuration, let url = request.url else { return nil }
        let redirect = RedirectRule.follow(
            status: response.statusCode,
            fields: response.fields.list,
            method: request.values.httpMethod,
            url: WebURL(url),
            secrets: SecretFields(configuration.secretHeaderFields),
            reading: WebURL.read
        )
        return redirect.flatMap { request.following($0) }
    }
}
