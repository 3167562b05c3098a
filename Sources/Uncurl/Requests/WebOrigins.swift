internal import URLLoading
internal import UncurlSemantics

extension WebOrigin {
    /// Nil for a URL of another scheme than http, https, ws and wss, and for one without a host.
    init?(of url: URL) {
        guard let scheme = url.scheme, let host = url.host else { return nil }
        self.init(scheme: scheme, host: Self.bare(host), port: url.port)
    }

    /// The name without the brackets of an IPv6 address.
    static func bare(_ host: String) -> String { host.trimmingCharacters(in: ["[", "]"]) }
}
