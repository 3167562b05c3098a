package import HTTPEngine

/// Requests for one host and port connect to another, as with curl's `--connect-to`.
package struct ConnectToRule: Hashable, Sendable {
    /// nil: any.
    package let host: URLHost?
    package let port: UInt16?
    /// nil: as in the URL.
    package let newHost: URLHost?
    package let newPort: UInt16?

    package init(host: URLHost?, port: UInt16?, newHost: URLHost?, newPort: UInt16?) {
        (self.host, self.port, self.newHost, self.newPort) = (host, port, newHost, newPort)
    }

    /// Where a connection for this URL really goes, by the first rule that fits.
    package static func destination(of url: TargetURL, by rules: [ConnectToRule]) -> (URLHost, UInt16) {
        guard let rule = rules.first(where: { $0.fits(url) }) else { return (url.host, url.port) }
        return (rule.newHost ?? url.host, rule.newPort ?? url.port)
    }

    private func fits(_ url: TargetURL) -> Bool {
        guard port == nil || port == url.port else { return false }
        return host == nil || host == url.host
    }

}
