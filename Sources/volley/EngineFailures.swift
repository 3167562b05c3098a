import HTTP1
import HTTPEngine
import Reactor

extension Failure {
    /// What an exchange's end means in the report's words.
    init(_ error: EngineError, _ report: ExchangeReport) {
        switch error {
        case .connect(let cause): self.init(cause)
        case .timedOut(.connect), .timedOut(.handshake), .timedOut(.trustDecision), .timedOut(.poolWait):
            self.init(.connect, .timeout)
        case .timedOut(.responseHead), .timedOut(.idle), .timedOut(.total): self.init(Self.phase(of: report), .timeout)
        case .closedWhileOpening(let cause): self.init(.connect, ended: .closedBeforeAnswer, by: cause)
        case .tls: self.init(.connect, .other, detail: "TLS")
        case .proxy(let cause): self.init(cause)
        case .unsolicitedBytes: self.init(.connect, .malformed, detail: "spoke unasked")
        case .closedBeforeResponse(let cause): self.init(.firstByte, ended: .closedBeforeAnswer, by: cause)
        case .uploadAborted(_, let cause): self.init(.write, ended: .closedBeforeAnswer, by: cause)
        case .truncatedHead(let cause): self.init(.head, ended: .closedInHead, by: cause)
        case .truncatedBody(_, _, let cause): self.init(.body, ended: .closedInBody, by: cause)
        case .malformedResponse(let cause): self.init(malformed: cause.kind, in: report.status == nil ? .head : .body)
        case .unexpectedUpgrade: self.init(.head, .malformed, detail: "switched protocols unasked")
        case .undecodable: self.init(.body, .malformed, detail: "content does not decode")
        case .sendFailed(let cause): self.init(.write, ended: .reset, by: cause)
        case .system(let cause): self.init(Self.phase(of: report), ended: .other, by: cause)
        case .invalidRequest, .bodyLengthMismatch, .bodyFailed, .bodyUnreadable, .bodyFileReplaced, .cancelled,
            .shutDown:
            self.init(Self.phase(of: report), .other, detail: "\(error)")
        }
    }

    private init(_ error: ProxyError) {
        switch error {
        case .unreachable(let cause): self.init(cause)
        case .closed(let cause): self.init(.connect, ended: .closedBeforeAnswer, by: cause)
        case .refused(let refusal), .authenticationRequired(let refusal):
            self.init(.connect, .other, detail: "proxy: \(refusal.status)")
        case .malformedResponse: self.init(.connect, .malformed, detail: "proxy")
        case .tls: self.init(.connect, .other, detail: "TLS with the proxy")
        case .socks, .credentials, .target: self.init(.connect, .other, detail: "proxy: \(error)")
        }
    }

    private init(_ error: ConnectError) {
        if let errno = error.errno {
            self.init(.connect, FailureClass(errno), errno: errno.code)
        } else if case .system(let errno)? = error.resolution {
            self.init(.resolve, FailureClass(errno), errno: errno.code)
        } else {
            self.init(.resolve, .unresolved, detail: error.resolution.map { "\($0)" } ?? "")
        }
    }

    /// How far the exchange had come.
    private static func phase(of report: ExchangeReport) -> Phase {
        if report.timings.requestStart == nil { return .connect }
        if report.timings.requestEnd == nil { return .write }
        if report.timings.responseStart == nil { return .firstByte }
        return report.status == nil ? .head : .body
    }

    /// A FIN, which has no error number, or a socket's error.
    private init(_ phase: Phase, ended fin: FailureClass, by error: Errno?) {
        guard let error else {
            self.init(phase, fin)
            return
        }
        self.init(phase, error.isPeerClosure ? .reset : FailureClass(error), errno: error.code)
    }

    /// The parser's reason is the name of its case: a fixed set, and fit for a program to read.
    private init(malformed kind: HTTP1Error.Kind, in phase: Phase) {
        if case .limitExceeded(let limit) = kind {
            self.init(phase, .limit, detail: limit.rawValue)
        } else {
            self.init(phase, .malformed, detail: String("\(kind)".prefix { $0 != "(" }))
        }
    }
}

extension FailureClass {
    /// What a socket's error number stands for.
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
