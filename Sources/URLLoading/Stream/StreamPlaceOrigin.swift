internal import Foundation
internal import HTTPEngine
internal import TLS

extension StreamPlace {
    /// In the clear at first; a proxy for https is asked for the tunnel all the same.
    func origin() throws(URLError) -> Origin {
        guard let number = UInt16(exactly: port), number > 0 else {
            throw ErrorTranslation.urlError(.badURL, nil, "there is no port \(port)")
        }
        do throws(EngineError) {
            return try Origin(scheme: .http, host: host, port: number)
        } catch {
            throw ErrorTranslation.error(error, nil)
        }
    }

    func isPlace(of other: Origin) -> Bool {
        guard let origin = try? origin() else { return false }
        return origin.host == other.host && origin.port == other.port
    }
}

extension SessionEngine {
    /// How a stream gets to its peer: as https does, through a tunnel, but without a word on HTTP.
    func streamOptions(securing: Bool) throws(TLSError) -> EngineRequest.Options {
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
        if securing { options.tls = try streamContext() }
        return options
    }
}
