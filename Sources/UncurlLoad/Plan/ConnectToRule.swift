package import UncurlEngine

/// A rule that connects requests for one host and port to another, as with curl's `--connect-to`.
package struct ConnectToRule: Hashable, Sendable {
    /// The host and port of the URL. Nil for any.
    package let host: URLHost?
    package let port: UInt16?
    /// The host and port to connect to. Nil for that of the URL.
    package let newHost: URLHost?
    package let newPort: UInt16?

    package init(host: URLHost?, port: UInt16?, newHost: URLHost?, newPort: UInt16?) {
        (self.host, self.port, self.newHost, self.newPort) = (host, port, newHost, newPort)
    }

    /// Returns the destination of a connection for this URL, by the first rule that fits.
    package static func destination(of url: TargetURL, by rules: [ConnectToRule]) -> (URLHost, UInt16) {
        guard let rule = rules.first(where: { $0.fits(url) }) else { return (url.host, url.port) }
        return (rule.newHost ?? url.host, rule.newPort ?? url.port)
    }

    private func fits(_ url: TargetURL) -> Bool {
        guard port == nil || port == url.port else { return false }
        return host == nil || host == url.host
    }

}
