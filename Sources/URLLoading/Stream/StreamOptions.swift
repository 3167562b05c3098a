internal import Foundation
internal import HTTPEngine
internal import TLS

extension SessionEngine {
    /// How a stream gets to its peer: as https does, through a tunnel, but without a word on HTTP.
    ///
    /// - Parameter session: nil where it goes in the clear.
    func streamOptions(securing session: URLSession?) throws(TLSError) -> EngineRequest.Options {
        var options = EngineRequest.Options()
        options.timeouts = Timeouts(
            connect: RequestBuilder.duration(settings.requestTimeout),
            poolWait: nil,
            responseHead: nil,
            idle: nil,
            total: nil
        )
        var proxies = proxies
        proxies.http = proxies.https
        options.proxies = proxies
        if let session { options.tls = try streamContext(of: session) }
        return options
    }
}
