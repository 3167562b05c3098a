internal import Foundation
internal import Synchronization
internal import UncurlHTTP1
internal import UncurlSemantics

/// The rules for a request on the network, for a loading class that stands in for the network.
extension URLSessionTask {
    private var configuration: URLSessionConfiguration? { session?.ownConfiguration }

    /// Returns the request with the cookies of its session's storage, unless it has its own or wants none.
    package func addingCookies(to request: URLRequest) -> URLRequest {
        guard let configuration, configuration.httpShouldSetCookies, request.httpShouldHandleCookies,
            request.values.fields?.contains(.cookie) != true,
            let cookies = configuration.httpCookieStorage?.cookies(sentWith: request)
        else { return request }
        var request = request
        for (name, value) in HTTPCookie.requestHeaderFields(with: cookies) {
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }

    /// Stores the answer's cookies that its server may set and the session takes.
    package func keepCookies(of response: HTTPURLResponse, to request: URLRequest) {
        guard let configuration, let storage = configuration.httpCookieStorage, request.httpShouldHandleCookies,
            let url = request.url, let scope = CookieScope(url)
        else { return }
        let cookies = HTTPCookie.cookies(withResponseHeaderFields: response.fields.dictionary, for: url)
        let taken = CookieStore.admitted(
            cookies.map(\.cookie),
            from: scope,
            document: request.mainDocumentURL.flatMap { CookieScope($0) },
            by: [configuration.httpCookieAcceptPolicy]
        )
        if !taken.isEmpty { storage.storeCookies(taken.map { HTTPCookie($0, created: CookieStore.now) }, for: self) }
    }

    /// Returns the request that follows a redirect (RFC 9110 §15.4); nil if the response is the answer. The session
    /// decides whether it is followed.
    package func request(following response: HTTPURLResponse, to request: URLRequest) -> URLRequest? {
        guard let configuration, let url = request.url else { return nil }
        let redirect = RedirectRule.follow(
            status: response.statusCode,
            fields: response.fields.list,
            method: request.values.httpMethod,
            url: URIReference(url),
            secrets: SecretFields(configuration.secretHeaderFields),
            reading: URIReference.read
        )
        return redirect.flatMap { request.following($0) }
    }
}
