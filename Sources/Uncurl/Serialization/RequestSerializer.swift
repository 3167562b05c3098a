public import URLLoading

/// Puts parameters into a request. A value itself: each request is built from a copy.
public protocol RequestSerializer: Sendable {
    /// - Parameter parameters: nil: none were given, which is not the same as empty ones.
    func serialize(_ parameters: Parameters?, into request: URLRequest) throws(UncurlError) -> URLRequest
}
