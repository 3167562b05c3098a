internal import UncurlHTTP1
internal import UncurlSemantics

/// Requests that an HTTP proxy forwards, and the credentials that it wants for them.
extension Engine {
    /// Returns a request's head for a proxy that forwards it.
    ///
    /// - Parameter head: the head for an origin; for a pipeline, its heads and contents in one piece.
    func proxied(
        _ head: [UInt8],
        _ request: EngineRequest,
        of exchange: Exchange,
        by proxy: Proxy
    ) throws(ProxyError) -> [UInt8] {
        var all: [UInt8] = []
        let size = head.count / request.pipelineDepth
        for number in 0..<request.pipelineDepth {
            let one = head[(number * size)..<((number + 1) * size)]
            let sent = try authenticators.authorization(
                for: proxy,
                method: request.method,
                target: request.absoluteTarget,
                content: request.body.bytes
            )
            exchange.noteCredentials(sent)
            do throws(HTTP1Error) {
                all += try request.absolute(one, authorization: sent)
            } catch {
                throw .target(error)
            }
        }
        return all
    }

    /// Handles a 407 from the proxy that forwards requests; inside a tunnel, or without a proxy, a 407 is an answer of
    /// the origin like any other. The request is sent once more if that can help, on a connection of its own; otherwise
    /// it has failed.
    func proxyRefused(_ exchange: Exchange, _ head: ResponseHead, on connection: Connection) {
        guard let proxy = connection.host.route.proxy, let request = exchange.request else { return }
        var refusal = ProxyRefusal(head)
        let isWhole = exchange.expected == request.pipelineDepth && exchange.isRepeatable && !isDraining
        // The challenges are kept even if this exchange has failed: the next one answers them at once.
        let (sent, round) = (exchange.proxyCredentials, exchange.proxyRounds)
        let isAnswerable = authenticators.accept(refusal, of: proxy, refusing: sent, round: round)
        if isWhole, isAnswerable {
            exchange.noteProxyRefusal()
            retry(exchange, instead: connection, .used)
        } else {
            refusal.isAnswerable = isAnswerable
            fail(exchange, .proxy(.authenticationRequired(refusal)))
        }
    }
}

extension EngineRequest {
    /// The target in absolute-form (RFC 9112 §3.2.2); the server-wide OPTIONS has no path here (§3.2.4).
    var absoluteTarget: String { "\(origin)\(target == "*" ? "" : target)" }

    /// - Parameter head: one head in origin-form; in a pipeline, with the content after it.
    fileprivate func absolute(_ head: ArraySlice<UInt8>, authorization: [UInt8]?) throws(HTTP1Error) -> [UInt8] {
        let targetStart = head.startIndex + method.utf8.count + 1
        let targetEnd = targetStart + target.utf8.count
        let headEnd = head.endIndex - (pipelineDepth > 1 ? contentBytes / pipelineDepth : 0)
        var result = Array(head[..<targetStart])
        result += absoluteTarget.utf8
        // The empty line is left out.
        result += head[targetEnd..<(headEnd - 2)]
        if let authorization {
            let name = ChallengeAuthenticator.Side.proxy.credentialsField
            var field = HTTPFields()
            try field.append(name, octets: authorization)
            result += Array("\(name): ".utf8) + authorization + Array("\r\n".utf8)
        }
        result += head[(headEnd - 2)...]
        return result
    }
}
