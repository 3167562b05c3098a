internal import HTTP1
internal import HTTPSemantics

/// Requests that an HTTP proxy passes on, and the credentials it wants for them.
extension Engine {
    /// A request's head as it goes to a proxy that passes it on.
    ///
    /// - Parameter head: as it goes to an origin; a pipeline's heads and contents all in one.
    func proxied(
        _ head: [UInt8],
        _ request: EngineRequest,
        of exchange: Exchange,
        by proxy: Proxy
    ) throws(ProxyError) -> [UInt8] {
        let content: [UInt8]? =
            switch request.body {
            case .none: []
            case .bytes(let bytes): bytes
            case .stream, .segments: nil
            }
        var all: [UInt8] = []
        let size = head.count / request.pipelineDepth
        for number in 0..<request.pipelineDepth {
            let one = head[(number * size)..<((number + 1) * size)]
            let sent = try authenticators.authorization(
                for: proxy,
                method: request.method,
                target: request.absoluteTarget,
                content: content
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

    /// A 407 from the proxy that passes requests on; inside a tunnel, or without a proxy, a 407 is the origin's answer
    /// like any other. The request goes once more if that can help, on a connection of its own; else it has failed.
    func proxyRefused(_ exchange: Exchange, _ head: ResponseHead, on connection: Connection) {
        guard let proxy = connection.host.route.proxy, let request = exchange.request else { return }
        let refusal = ProxyRefusal(head)
        let attempt = exchange.proxyAttempt
        let isWhole = exchange.expected == request.pipelineDepth && exchange.isRepeatable && !isDraining
        if isWhole, authenticators.accept(refusal, of: proxy, refusing: attempt.sent, round: attempt.rounds) {
            exchange.noteProxyRefusal()
            retry(exchange, instead: connection, .used)
        } else {
            fail(exchange, .proxy(.authenticationRequired(refusal)))
        }
    }
}

extension EngineRequest {
    /// RFC 9112 §3.2.2; and §3.2.4: the server-wide OPTIONS has no path here.
    var absoluteTarget: String { "\(origin.scheme.rawValue)://\(origin.authority)\(target == "*" ? "" : target)" }

    /// - Parameter head: one head in origin-form, and in a pipeline the content behind it.
    fileprivate func absolute(_ head: ArraySlice<UInt8>, authorization: String?) throws(HTTP1Error) -> [UInt8] {
        let targetStart = head.startIndex + method.utf8.count + 1
        let targetEnd = targetStart + target.utf8.count
        let headEnd = head.endIndex - (pipelineDepth > 1 ? contentBytes / pipelineDepth : 0)
        var result = Array(head[..<targetStart])
        result += absoluteTarget.utf8
        // Without the empty line.
        result += head[targetEnd..<(headEnd - 2)]
        if let authorization {
            let name = Authenticator.Side.proxy.credentialsField
            var field = HTTPFields()
            try field.append(name, authorization)
            result += "\(name): \(authorization)\r\n".utf8
        }
        result += head[(headEnd - 2)...]
        return result
    }
}
