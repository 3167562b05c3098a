package import UncurlTLS

/// The TLS settings of a run, with the identity already read. ``loadRoots()`` reads the authorities.
package struct SecurityOptions: Sendable {
    /// The context for the target, one for all threads, which share its tickets. Nil for http.
    package let target: TLSContext?
    /// The context for an https proxy.
    package let proxy: TLSContext?
    /// The name to send and verify instead of the URL's host.
    package let serverName: String?
    /// The setting that names other authorities than the system's, for messages.
    package let givenRoots: String?

    package init(
        target: TLSContext? = nil,
        proxy: TLSContext? = nil,
        serverName: String? = nil,
        givenRoots: String? = nil
    ) {
        (self.target, self.proxy, self.serverName, self.givenRoots) = (target, proxy, serverName, givenRoots)
    }

    /// Reads the authorities, which blocks. Call it before the clock starts.
    package func loadRoots() throws(LoadTestError) {
        for context in [target, proxy] {
            guard let context, context.configuration.verification == .full else { continue }
            guard case .failure(let error) = context.trust.load() else { continue }
            throw .authorities(reason: oneLine("\(error)", limit: 400), given: givenRoots)
        }
    }
}
