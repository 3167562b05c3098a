internal import URLLoading

/// The values of ``RequestOptions``, which describes each.
struct OptionValues: Sendable {
    var timeout: TimeInterval?
    var connectTimeout: TimeInterval?
    var firstByteTimeout: TimeInterval?
    var connectTo: ConnectTo?
    var proxy: RequestProxy?
    var cachePolicy: URLRequest.CachePolicy?
    var priority: Float?
    var interceptors: [any RequestInterceptor] = []
    var redirects: RedirectBehavior?
    var caching: CacheBehavior?
    var credential: URLCredential?
    var validation: ResponseValidation?
    var maximumDataLength: Int?
    var responseLimits: ResponseLimits?
    var throttle: Throttle?
    var compression: RequestCompression?
    var sendsContentWithGET = false
    var deadline: Duration?
    var tag: String?
    var hooksBox: HooksBox?
    var onResponse: (@Sendable (HTTPURLResponse) async -> URLSession.ResponseDisposition)?
    var uploadProgress: (@Sendable (TransferProgress) -> Void)?
    var downloadProgress: (@Sendable (TransferProgress) -> Void)?
}

/// A reference type, so that copying a request copies one reference.
final class OptionsBox: Sendable {
    let values: OptionValues

    init(_ values: OptionValues) { self.values = values }
}
