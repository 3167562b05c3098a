internal import Foundation
internal import UncurlSemantics

extension CacheKey {
    init(method: String, url: URL) { self.init(method: method, url: url.absoluteString) }

    /// Nil for a request without a URL.
    init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        self.init(method: request.values.httpMethod, url: url)
    }

    /// The request that has this key, for callers that know only requests.
    var request: URLRequest? {
        guard let url = URL(string: url) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = method
        return request
    }
}

extension CacheMode {
    init(_ policy: NSURLRequest.CachePolicy) {
        self =
            switch policy {
            case .useProtocolCachePolicy: .standard
            case .reloadIgnoringLocalCacheData: .bypass
            case .reloadIgnoringLocalAndRemoteCacheData: .reload
            case .returnCacheDataElseLoad: .preferStored
            case .returnCacheDataDontLoad: .onlyStored
            case .reloadRevalidatingCacheData: .revalidate
            }
    }
}
