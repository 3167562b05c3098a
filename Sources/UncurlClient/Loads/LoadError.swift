package import UncurlEngine
package import UncurlHTTP1
internal import UncurlReactor
package import UncurlSemantics
internal import UncurlTLS
package import UncurlWebSocket

/// Translates the engine's errors into what the answer rules need to know.
extension AnswerFailure {
    /// - Parameters:
    ///   - proxies: the client's proxies.
    ///   - mayRepeat: whether the owner lets its request be tried again.
    init(
        _ error: EngineError,
        _ report: ExchangeReport,
        _ attempt: borrowing Attempt,
        _ proxies: OriginProxies,
        mayRepeat: Bool
    ) {
        self.init(
            isWithoutConnectivity: error.isWithoutConnectivity,
            isTransient: mayRepeat && error.isTransient
        )
        if case .proxy(.authenticationRequired(let refusal)) = error {
            isAnswerable = refusal.isAnswerable
            if let place = attempt.transaction?.place, let proxy = proxies.proxy(for: place.origin) {
                self.proxy = ChallengeQuestion.all(
                    ofProxy: refusal.challenges,
                    host: "\(proxy.host)",
                    port: Int(proxy.port),
                    isSecure: place.scheme == .https
                )
            }
        }
        if attempt.hasStream {
            stream = RetryRule(
                reusedConnection: report.reusedConnection,
                responseStarted: report.timings.responseStart != nil,
                peerClosed: error.isPeerClosure,
                sent: report.bytesSent > 0,
                idempotent: RetryRule.isIdempotent(attempt.request.method),
                // The delegate can be asked for another stream.
                replayable: true,
                alreadyRetried: report.retried
            )
        }
    }
}

extension EngineError {
    /// Whether the server had already closed a kept connection.
    fileprivate var isPeerClosure: Bool {
        switch self {
        case .closedBeforeResponse(let cause), .uploadAborted(_, let cause): cause?.isPeerClosure ?? true
        default: false
        }
    }

    /// Whether the kernel or the name service says that the server, or its proxy, cannot be reached now. One that
    /// refuses a connection was reached.
    package var isWithoutConnectivity: Bool {
        let error: ConnectError
        switch self {
        case .connect(let failure), .proxy(.unreachable(let failure)): error = failure
        default: return false
        }
        guard !error.attempts.isEmpty else { return !error.isWithoutLookup }
        return error.attempts.allSatisfy { $0.errno == .networkUnreachable || $0.errno == .hostUnreachable }
    }

    /// Whether the fault is the network's, so that another try may succeed. A server that has refused would refuse
    /// again.
    package var isTransient: Bool {
        switch self {
        case .connect, .timedOut, .closedWhileOpening, .closedBeforeResponse, .uploadAborted, .truncatedHead,
            .truncatedBody, .connectionLost, .sendFailed, .system, .tls(.truncated), .tls(.closedInHandshake),
            .proxy(.unreachable):
            true
        case .invalidRequest, .tls, .proxy, .unsolicitedBytes, .malformedResponse, .tooManyHeldHeads,
            .unexpectedUpgrade, .undecodable,
            .bodyLengthMismatch, .bodyFailed, .bodyUnreadable, .bodyFileReplaced, .bodySourceFailed, .cancelled,
            .shutDown:
            false
        }
    }
}

extension ConnectError {
    /// Whether the host was not looked up, for example for want of descriptors. That says nothing about the name or the
    /// network.
    package var isWithoutLookup: Bool {
        switch resolution {
        case .tooManyLookups, .shutDown: attempts.isEmpty
        default: attempts.isEmpty && isResourceExhaustion
        }
    }
}

/// The reason why a load has failed, before or beside its exchanges.
package enum LoadError: Error, Sendable {
    /// An exchange has failed, or could not begin.
    case engine(EngineError)
    /// The rules of HTTP leave nothing to do.
    case rule(Step.Reason)
    /// The URL cannot be sent a request.
    case url(HTTPURL.Problem)
    /// The URL of a WebSocket begins with neither ws nor wss.
    case noSocketURL
    /// A WebSocket's handshake by another method than GET.
    case handshakeMethod
    /// The handshake of a WebSocket cannot be offered so.
    case handshake(HandshakeError)
    /// A GET with content.
    case contentWithGET
    /// A field cannot be sent.
    case fields(HTTP1Error)
    /// The client's settings name no proxy.
    case proxy(ProxyFault)
    /// A challenge cannot be answered.
    case authentication(AuthenticationError)
    /// The server of a resumable upload does not say how much it has.
    case uploadUnknown
}
