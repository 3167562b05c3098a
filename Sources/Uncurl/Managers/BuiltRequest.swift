internal import URLLoading

/// The request that a manager built last. An equal request reuses it: most programs repeat requests.
struct BuiltRequest: Sendable {
    let request: URLRequest
    private let method: HTTPMethod
    private let path: String
    private let mark: ManagerCore.Snapshot.Mark

    /// Nil for a request that may be built differently the next time.
    init?(_ request: URLRequest, for wanted: HTTPRequest, _ settings: ManagerCore.Snapshot) {
        guard settings.buildsAlike, wanted.isPlain else { return nil }
        self.request = request
        (method, path, mark) = (wanted.method, wanted.path, settings.mark)
    }

    func serves(_ wanted: HTTPRequest, _ settings: ManagerCore.Snapshot) -> Bool {
        settings.mark === mark && wanted.path == path && wanted.method == method && wanted.isPlain
    }
}

extension HTTPRequest {
    /// Whether the request is determined by its method and its path.
    fileprivate var isPlain: Bool {
        guard case .parameters = body, parameters == nil, headers.isEmpty, serializer == nil, whole == nil else {
            return false
        }
        return options.isPlain || options.changeNoRequest
    }
}

extension RequestOptions {
    /// Whether these options change nothing in a built request.
    fileprivate var changeNoRequest: Bool {
        timeout == nil && cachePolicy == nil && throttle == nil && compression == nil && maximumDataLength == nil
            && connectTimeout == nil && firstByteTimeout == nil && connectTo == nil && proxy == nil
            && responseLimits == nil && !sendsContentWithGET
    }
}
