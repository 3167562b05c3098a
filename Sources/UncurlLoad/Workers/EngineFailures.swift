import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlTLS

extension Failure {
    /// Makes the failure of an exchange or, if `report` is nil, of a connection without an exchange.
    init(_ error: EngineError, _ report: ExchangeReport?) {
        switch error {
        case .connect(let cause): self.init(cause)
        case .timedOut(let limit): self.init(Self.phase(of: limit, report), .timeout)
        case .closedWhileOpening(let cause): self.init(.tls, ended: .closedInHandshake, by: cause)
        case .tls(let cause): self.init(cause, in: Self.openedPhase(report) ?? .tls)
        case .proxy(let cause): self.init(cause, in: Self.openedPhase(report) ?? .proxy)
        case .unsolicitedBytes: self.init(.connect, .malformed, detail: "spoke unasked")
        case .closedBeforeResponse(let cause): self.init(.responseStart, ended: .closedBeforeAnswer, by: cause)
        case .uploadAborted(_, let cause): self.init(.write, ended: .closedBeforeAnswer, by: cause)
        case .truncatedHead(let cause): self.init(.head, ended: .closedInHead, by: cause)
        case .truncatedBody(_, _, let cause): self.init(.body, ended: .closedInBody, by: cause)
        case .malformedResponse(let cause): self.init(malformed: cause.kind, in: report?.status == nil ? .head : .body)
        case .tooManyHeldHeads: self.init(report?.status == nil ? .head : .body, .limit, detail: "heldHeadBytes")
        case .unexpectedUpgrade: self.init(.head, .malformed, detail: "switched protocols unasked")
        case .undecodable: self.init(.body, .malformed, detail: "content does not decode")
        case .sendFailed(let cause): self.init(.write, ended: .reset, by: cause)
        case .system(let cause): self.init(Self.phase(of: report), ended: .other, by: cause)
        case .invalidRequest, .bodyLengthMismatch, .bodyFailed, .bodyUnreadable, .bodyFileReplaced, .bodySourceFailed,
            .connectionLost,
            .cancelled,
            .shutDown:
            self.init(Self.phase(of: report), .other, detail: "\(error)")
        }
    }

    private init(_ error: ProxyError, in phase: Phase) {
        switch error {
        case .unreachable(let cause): self.init(cause)
        case .tls(let cause): self.init(cause, in: .tls)
        case .closed(let cause): self.init(phase, ended: .closedInHandshake, by: cause)
        case .refused(let refusal): self.init(phase, .proxyRefused, detail: "\(refusal.status)")
        case .authenticationRequired(let refusal): self.init(phase, .proxyAuthentication, detail: "\(refusal.status)")
        case .malformedResponse(let cause): self.init(malformed: cause.kind, in: phase)
        case .socks(.refused(let reply)): self.init(phase, .proxyRefused, detail: "\(reply)")
        case .socks(.loginRejected), .socks(.noAcceptableMethod): self.init(phase, .proxyAuthentication)
        case .socks(.version), .socks(.method), .socks(.addressType): self.init(phase, .malformed, detail: "SOCKS")
        case .socks(.hostLength), .socks(.credentialsLength), .credentials, .target:
            self.init(phase, .other, detail: "\(error)")
        }
    }

    private static func phase(of limit: TimeoutPhase, _ report: ExchangeReport?) -> Phase {
        switch limit {
        case .connect, .poolWait: .connect
        case .handshake, .trustDecision: .tls
        case .responseHead, .idle, .total: phase(of: report)
        }
    }

    init(_ error: ConnectError) {
        if let errno = error.errno {
            self.init(.connect, FailureClass(errno), errno: errno.code)
        } else if case .system(let errno)? = error.resolution {
            self.init(.resolve, FailureClass(errno), errno: errno.code)
        } else {
            self.init(.resolve, .unresolved, detail: error.resolution.map { "\($0)" } ?? "")
        }
    }

    /// Returns what was wrong with a whole answer, as the example of the failure.
    func words(_ report: ExchangeReport, _ latency: UInt64) -> String {
        kind == .surplus ? "\(report.surplus) bytes behind the whole answer" : "answered after \(timeText(latency))"
    }

    private static func phase(of report: ExchangeReport?) -> Phase { openedPhase(report) ?? .connect }

    static func openedPhase(_ report: ExchangeReport?) -> Phase? {
        guard let report, report.timings.requestStart != nil else { return nil }
        if report.timings.requestEnd == nil { return .write }
        if report.timings.responseStart == nil { return .responseStart }
        return report.status == nil ? .head : .body
    }

    /// Makes the failure of a connection that ended by a FIN, which has no error number, or by a socket's error.
    init(_ phase: Phase, ended fin: FailureClass, by error: Errno?) {
        guard let error else {
            self.init(phase, fin)
            return
        }
        self.init(phase, error.isPeerClosure ? .reset : FailureClass(error), errno: error.code)
    }

    /// Makes the failure of a malformed response. Its detail is the name of the parser's reason, from a fixed set.
    init(malformed kind: HTTP1Error.Kind, in phase: Phase) {
        if case .limitExceeded(let limit) = kind {
            self.init(phase, .limit, detail: limit.rawValue)
        } else {
            self.init(phase, .malformed, detail: String("\(kind)".prefix { $0 != "(" }))
        }
    }
}

extension FailureClass {
    init(_ error: Errno) {
        switch error {
        case .connectionRefused, .noSuchFile: self = .refused
        case .hostUnreachable, .networkUnreachable: self = .unreachable
        case .timedOut: self = .timeout
        case .addressNotAvailable, .addressInUse: self = .noLocalPort
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem: self = .descriptorLimit
        default: self = error.isPeerClosure ? .reset : .other
        }
    }
}

extension Failure {
    /// Makes the failure of a TLS error. Its detail is from a fixed set: names of this program, or RFC 8446's alerts.
    init(_ error: TLSError, in phase: Phase) {
        switch error {
        case .untrusted(let failure):
            // The name of the reason's case, without the names and dates that it carries.
            self.init(phase, .untrusted, detail: String("\(failure.reason)".prefix { $0 != "(" }))
        case .refused: self.init(phase, .untrusted, detail: "refused")
        case .roots: self.init(phase, .untrusted, detail: "noRoots")
        case .alert(let alert): self.init(phase, .tlsAlert, detail: alert.name)
        case .closedInHandshake, .closeNotifyInHandshake: self.init(phase, .closedInHandshake)
        case .plainHTTP: self.init(phase, .tlsProtocol, detail: "plainHTTP")
        case .notTLS: self.init(phase, .tlsProtocol, detail: "notTLS")
        case .unsupportedVersion: self.init(phase, .tlsProtocol, detail: "unsupportedVersion")
        case .downgraded: self.init(phase, .tlsProtocol, detail: "downgraded")
        case .noSharedCipher: self.init(phase, .tlsProtocol, detail: "noSharedCipher")
        case .unexpectedApplicationProtocol: self.init(phase, .tlsProtocol, detail: "unexpectedApplicationProtocol")
        case .truncated: self.init(phase, .tlsProtocol, detail: "truncated")
        case .corruptRecord: self.init(phase, .tlsProtocol, detail: "corruptRecord")
        case .protocolViolation: self.init(phase, .tlsProtocol, detail: "protocolViolation")
        case .tooManyKeyUpdates: self.init(phase, .tlsProtocol, detail: "tooManyKeyUpdates")
        case .tooManyHelloRequests: self.init(phase, .tlsProtocol, detail: "tooManyHelloRequests")
        case .identity: self.init(phase, .other, detail: "identity")
        case .closed: self.init(phase, .other, detail: "closed")
        case .invalidServerName: self.init(phase, .other, detail: "invalidServerName")
        case .configuration: self.init(phase, .other, detail: "configuration")
        case .outOfMemory: self.init(phase, .other, detail: "outOfMemory")
        }
    }
}
