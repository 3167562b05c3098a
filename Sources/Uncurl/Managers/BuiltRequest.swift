internal import URLLoading

/// A request as a manager built it last, for the next that says the same: most programs ask for one thing again and
/// again.
struct BuiltRequest: Sendable {
    let request: URLRequest
    private let method: HTTPMethod
    private let path: String
    private let settings: ManagerCore.Snapshot

    /// Nil for one that may be built otherwise the next time.
    init?(_ request: URLRequest, for wanted: HTTPRequest, _ settings: ManagerCore.Snapshot) {
        guard settings.buildsAlike, wanted.isPlain else { return nil }
        self.request = request
        (method, path, self.settings) = (wanted.method, wanted.path, settings)
    }

    func serves(_ wanted: HTTPRequest, _ settings: ManagerCore.Snapshot) -> Bool {
        settings === self.settings && wanted.path == path && wanted.method == method && wanted.isPlain
    }
}

extension HTTPRequest {
    /// Nothing makes it what it is but its method and its path.
    fileprivate var isPlain: Bool {
        guard case .parameters = body, parameters == nil, headers.isEmpty, serializer == nil else { return false }
        return options.timeout == nil && options.cachePolicy == nil && options.throttle == nil
            && options.compression == nil && options.maximumDataLength == nil
    }
}
