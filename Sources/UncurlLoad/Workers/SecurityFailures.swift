import UncurlTLS

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
