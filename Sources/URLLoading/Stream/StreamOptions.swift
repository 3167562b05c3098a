internal import Foundation
internal import UncurlEngine
internal import UncurlTLS

extension SessionEngine {
    /// Returns the options of a stream's connection. Like https it goes through a proxy's tunnel, but no HTTP is sent
    /// to the peer.
    ///
    /// - Parameters:
    ///   - origin: the peer. Its proxy is that of https.
    ///   - load: whose session's rules TLS follows, and whose task's delegate may answer for it.
    ///   - isSecured: whether TLS is spoken with the peer.
    func streamOptions(
        to origin: Origin,
        of load: any StreamLoadDelegate,
        isSecured: Bool
    ) throws(TLSError) -> EngineRequest.Options {
        var options = EngineRequest.Options()
        options.timeouts = Timeouts(
            connect: RequestBuilder.duration(settings.requestTimeout),
            poolWait: nil,
            responseHead: nil,
            idle: nil,
            total: nil
        )
        // A setting that names no proxy has failed the task before.
        var proxies = (try? self.proxies.route(for: .https, origin.host).get()) ?? .direct
        proxies.http = proxies.https
        options.proxies = proxies
        if proxies.areSecure { ask(load.session) }
        options.trustEvaluator = ownSecurity(load.task.listener, in: load.session)
        if isSecured { options.tls = try streamContext(of: load.session) }
        return options
    }
}
