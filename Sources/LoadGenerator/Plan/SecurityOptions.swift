package import TLS

/// How TLS is spoken on a run: the identity read. The authorities are read by ``loadRoots()``.
package struct SecurityOptions: Sendable {
    /// For the target, one for all threads, which share its tickets; nil for http.
    package let target: TLSContext?
    /// For an https proxy.
    package let proxy: TLSContext?
    /// To be sent and verified instead of the URL's host.
    package let serverName: String?
    /// What was given to name other authorities than the system's, for messages.
    private let givenRoots: String?

    package init(
        target: TLSContext? = nil,
        proxy: TLSContext? = nil,
        serverName: String? = nil,
        givenRoots: String? = nil
    ) {
        (self.target, self.proxy, self.serverName, self.givenRoots) = (target, proxy, serverName, givenRoots)
    }

    /// Reads the authorities, which blocks: to be done before the clock starts.
    package func loadRoots() throws(LoadTestError) {
        for context in [target, proxy] {
            guard let context, context.configuration.verification == .full else { continue }
            guard case .failure(let error) = context.trust.load() else { continue }
            throw .authorities(reason: oneLine("\(error)", limit: 400), given: givenRoots)
        }
    }
}
