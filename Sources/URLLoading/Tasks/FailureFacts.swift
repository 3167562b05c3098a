internal import Foundation
internal import UncurlEngine
internal import UncurlReactor
internal import UncurlSemantics
internal import UncurlTLS

/// Translates the engine's errors into what the answer rules need to know.
extension AnswerFailure {
    /// - Parameters:
    ///   - proxies: the session's proxies.
    ///   - mayRepeat: whether the task lets its request be tried again.
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
        if case .stream = attempt.content {
            stream = RetryRule(
                reusedConnection: report.reusedConnection,
                responseStarted: report.timings.responseStart != nil,
                peerClosed: error.isPeerClosure,
                sent: report.bytesSent > 0,
                idempotent: RetryRule.isIdempotent(attempt.request.values.httpMethod),
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
    var isWithoutConnectivity: Bool {
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
    var isTransient: Bool {
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

extension ErrorTranslation {
    /// Returns the error for the reason that the rules give for failing.
    static func error(_ reason: Step.Reason, _ url: URL?) -> URLError {
        switch reason {
        case .tooManyRedirects:
            urlError(
                .httpTooManyRedirects,
                url,
                "there are more redirects than \(ResponseLimits.words("redirectCount"))"
            )
        case .nothingStored:
            urlError(
                .resourceUnavailable,
                url,
                "nothing is cached for this request, and only the cache was to be asked"
            )
        case .refusedByProxy:
            urlError(
                .userAuthenticationRequired,
                url,
                "the proxy asks for credentials, and there are none that it takes"
            )
        case .failure: urlError(.unknown, url, "the request failed")
        }
    }
}
