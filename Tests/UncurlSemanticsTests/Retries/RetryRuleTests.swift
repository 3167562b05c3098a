import Testing

@testable import UncurlSemantics

@Suite("The retry rule (RFC 9112 §9.3.1)")
struct RetryRuleTests {
    private let stale = RetryRule(
        reusedConnection: true,
        responseStarted: false,
        peerClosed: true,
        sent: true,
        idempotent: true,
        replayable: true,
        alreadyRetried: false
    )

    @Test("an idempotent request on a reused connection that closed unanswered is sent again")
    func allowed() { #expect(stale.allowsRetry) }

    @Test("any method is, if the kernel took none of it")
    func unsent() {
        var facts = stale
        facts.idempotent = false
        #expect(!facts.allowsRetry)
        facts.sent = false
        #expect(facts.allowsRetry)
    }

    @Test("each single fact against it forbids it")
    func forbidden() {
        let changes: [(inout RetryRule) -> Void] = [
            { $0.reusedConnection = false }, { $0.responseStarted = true }, { $0.peerClosed = false },
            { $0.replayable = false }, { $0.alreadyRetried = true },
        ]
        for change in changes {
            var facts = stale
            change(&facts)
            #expect(!facts.allowsRetry)
            facts.sent = false
            #expect(!facts.allowsRetry)
        }
    }

    @Test("methods are told apart by case, as RFC 9110 §9.1 says")
    func methods() {
        for method in ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"] { #expect(RetryRule.isIdempotent(method)) }
        for method in ["POST", "PATCH", "CONNECT", "get", "Get", "FOO", ""] { #expect(!RetryRule.isIdempotent(method)) }
    }
}
