import Testing
import UncurlEngine
import UncurlReactor
import UncurlTLS

@testable import UncurlLoad

struct SecurityFailuresTests {
    @Test("a certificate that is not trusted is reported by the name of the reason, never by the peer's text")
    func untrusted() {
        let reasons: [(TLSTrustFailure.Reason, String)] = [
            (.selfSigned, "selfSigned"), (.unknownIssuer("CN=evil (x)"), "unknownIssuer"),
            (.wrongHost(expected: "a", found: ["b"], more: 0), "wrongHost"), (.revoked, "revoked"),
        ]
        for (reason, name) in reasons {
            let error = EngineError.tls(.untrusted(TLSTrustFailure(reason: reason, code: 1)))
            #expect(Failure(error, nil) == Failure(.tls, .untrusted, detail: name))
        }
    }

    @Test("alerts, breaches of the protocol and ends in the handshake are classes of their own")
    func classes() {
        let cases: [(EngineError, Failure)] = [
            (.tls(.alert(TLSAlert(code: 40))), Failure(.tls, .tlsAlert, detail: "handshake_failure")),
            (.tls(.plainHTTP), Failure(.tls, .tlsProtocol, detail: "plainHTTP")),
            (.tls(.protocolViolation("whatever came")), Failure(.tls, .tlsProtocol, detail: "protocolViolation")),
            (.tls(.closedInHandshake), Failure(.tls, .closedInHandshake)),
            (.closedWhileOpening(nil), Failure(.tls, .closedInHandshake)),
            (.closedWhileOpening(.connectionReset), Failure(.tls, .reset, errno: 104)),
            (.timedOut(.handshake), Failure(.tls, .timeout)), (.timedOut(.connect), Failure(.connect, .timeout)),
        ]
        for (error, failure) in cases { #expect(Failure(error, nil) == failure) }
    }
}
