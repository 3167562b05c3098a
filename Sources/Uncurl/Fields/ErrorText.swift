internal import URLLoading
internal import UncurlEngine

extension Error {
    /// The description of any error. Foundation's `localizedDescription` describes every error without a text of its
    /// own as "The operation could not be completed".
    var sentence: String {
        switch self {
        case let error as URLError: error.words
        case let error as any LocalizedError: error.errorDescription ?? "\(error)"
        case let error as any CustomNSError: error.errorUserInfo[NSLocalizedDescriptionKey] as? String ?? "\(error)"
        default: "\(self)"
        }
    }
}

extension URLError {
    /// The particular cause that URLLoading stores; else the error's own description, or a text for its code.
    fileprivate var words: String {
        if let file { return "the file \(file.path) cannot be loaded: \(fileWords)" }
        let words = particulars ?? userInfo[NSLocalizedDescriptionKey] as? String ?? Self.words(for: code)
        guard isUnsent, let url = userInfo[NSURLErrorFailingURLErrorKey] as? URL else { return words }
        let name = url.host.map { $0.contains(":") ? "[\($0)]" : $0 } ?? ""
        let host = name + (url.port.map { ":\($0)" } ?? "")
        return "there is no connection to \(host), so nothing was sent to \(url.redacted): \(words)"
    }

    private var fileWords: String {
        switch code {
        case .fileDoesNotExist: "there is no such file"
        case .noPermissionsToReadFile: "it may not be read"
        case .fileIsDirectory: "it is a folder"
        default: particulars ?? Self.words(for: code)
        }
    }

    private static func words(for code: URLError.Code) -> String {
        switch code {
        case .cancelled: "the request was cancelled"
        case .badURL: "the URL is malformed"
        case .unsupportedURL: "URLs of this scheme cannot be loaded"
        case .timedOut: "the request timed out"
        case .cannotFindHost, .dnsLookupFailed: "the host's name could not be looked up"
        case .cannotConnectToHost: "the host could not be connected to"
        case .networkConnectionLost: "the connection was lost"
        case .notConnectedToInternet: "there is no network"
        case .httpTooManyRedirects: "there were too many redirects"
        case .badServerResponse, .cannotParseResponse: "the server's response is malformed"
        case .userAuthenticationRequired: "the server requires credentials"
        case .cannotDecodeContentData, .cannotDecodeRawData: "the content could not be decoded"
        case .secureConnectionFailed: "the TLS connection could not be made"
        case .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid:
            "the server's certificate is not trusted"
        case .clientCertificateRejected, .clientCertificateRequired:
            "the server did not accept the client certificate, or did not get one"
        case .resourceUnavailable: "the resource is not available"
        case .fileDoesNotExist: "the file does not exist"
        case .noPermissionsToReadFile: "the file may not be read"
        default: "the load failed with the URL error code \(code.rawValue)"
        }
    }
}

extension URLError {
    package init(_ code: Code, words: String) { self.init(code, userInfo: [NSLocalizedDescriptionKey: words]) }

    /// Whether no connection could be made, so that the request was not sent: not to the server, and not to a proxy.
    var isUnsent: Bool {
        switch cause as? EngineError {
        case .connect, .timedOut(.connect), .proxy(.unreachable): true
        default: false
        }
    }

    /// The file whose load failed; nil where the URL is not a `file:` URL.
    var file: URL? {
        guard let url = userInfo[NSURLErrorFailingURLErrorKey] as? URL, url.isFileURL else { return nil }
        return url
    }
}

extension Duration {
    /// The duration as a wait: not below zero, and a century at most. The runtime's clocks trap on instants beyond 63
    /// bits of seconds.
    package var bounded: Duration { min(max(.zero, self), .seconds(3_155_760_000)) }

    var inSeconds: Double { self / .seconds(1) }
}
