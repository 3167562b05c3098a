public import Foundation
internal import UncurlClient

/// A question to the program. A server or a proxy asks for credentials; a connection asks whether its server is
/// trusted, or for a client certificate. A challenge never changes. Any thread.
open class URLAuthenticationChallenge: NSObject, NSSecureCoding, @unchecked Sendable {
    private let space: URLProtectionSpace
    private let credential: URLCredential?
    private let failures: Int
    private let response: URLResponse?
    private let reason: (any Error)?
    private let answering: (any URLAuthenticationChallengeSender)?

    /// Makes a challenge for a loading class.
    ///
    /// - Parameters:
    ///   - space: the server or proxy that asks, and the realm.
    ///   - credential: what default handling would answer; nil for none.
    ///   - previousFailureCount: how many answers were refused before.
    ///   - response: the response that asks; nil for none.
    ///   - error: the error of the last attempt; nil for none.
    ///   - sender: the object that gets the answer.
    public init(
        protectionSpace space: URLProtectionSpace,
        proposedCredential credential: URLCredential?,
        previousFailureCount: Int,
        failureResponse response: URLResponse?,
        error: (any Error)?,
        sender: any URLAuthenticationChallengeSender
    ) {
        self.space = space
        self.credential = credential
        failures = previousFailureCount
        self.response = response
        reason = error
        answering = sender
    }

    /// Makes the same challenge with another sender.
    public init(
        authenticationChallenge challenge: URLAuthenticationChallenge,
        sender: any URLAuthenticationChallengeSender
    ) {
        space = challenge.protectionSpace
        credential = challenge.proposedCredential
        failures = challenge.previousFailureCount
        response = challenge.failureResponse
        reason = challenge.error
        answering = sender
    }

    /// The server or proxy that asks, and the realm.
    open var protectionSpace: URLProtectionSpace { space }

    /// The credential that default handling would answer with; nil if there is none, or it was tried already.
    open var proposedCredential: URLCredential? { credential }

    /// How many answers to this challenge were refused before.
    open var previousFailureCount: Int { failures }

    /// The response that asked: a 401 or 407. Nil for trust and for client certificates.
    open var failureResponse: URLResponse? { response }

    /// The error of the last attempt; nil for none.
    open var error: (any Error)? { reason }

    /// The sender, for clients of ``URLProtocol``. A session's delegate answers by its completion handler; if it calls
    /// the sender instead, the first of the two answers counts.
    open var sender: (any URLAuthenticationChallengeSender)? { answering }

    // MARK: Archives

    /// Always true.
    public static var supportsSecureCoding: Bool { true }

    /// Reads an archive; nil unless it is keyed and has a protection space. The challenge has no sender.
    public required init?(coder aDecoder: NSCoder) {
        guard aDecoder.allowsKeyedCoding, let space = aDecoder.object(URLProtectionSpace.self, "protectionSpace") else {
            return nil
        }
        self.space = space
        credential = aDecoder.object(URLCredential.self, "proposedCredential")
        failures = aDecoder.number("previousFailureCount")?.intValue ?? 0
        response = aDecoder.response("failureResponse")
        reason = aDecoder.string("error.domain").map { domain in
            let words = aDecoder.string("error.localizedDescription").map { [NSLocalizedDescriptionKey: $0] }
            return NSError(domain: domain, code: aDecoder.number("error.code")?.intValue ?? 0, userInfo: words)
        }
        answering = nil
    }

    /// Writes the challenge without its sender, and of its error the domain, the code and the description. A proposed
    /// credential is written if it is a name and a password, unencrypted. Writes nothing to a coder without keys.
    open func encode(with aCoder: NSCoder) {
        guard aCoder.allowsKeyedCoding else { return }
        aCoder.encode(protectionSpace, forKey: "protectionSpace")
        if let credential = proposedCredential, credential.user != nil {
            aCoder.encode(credential, forKey: "proposedCredential")
        }
        aCoder.encode(NSNumber(value: previousFailureCount), forKey: "previousFailureCount")
        if let failureResponse { aCoder.encode(failureResponse, forKey: "failureResponse") }
        guard let error = error as NSError? else { return }
        aCoder.encode(NSString(string: error.domain), forKey: "error.domain")
        aCoder.encode(NSNumber(value: error.code), forKey: "error.code")
        aCoder.encode(NSString(string: error.localizedDescription), forKey: "error.localizedDescription")
    }
}

/// The object that waits for the answer to a challenge.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    /// Answers with a credential.
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
    /// Continues without a credential: the response that asked is delivered.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
    /// Ends the load as cancelled.
    func cancel(_ challenge: URLAuthenticationChallenge)
    /// Handles the challenge as if there were no delegate.
    func performDefaultHandling(for challenge: URLAuthenticationChallenge)
    /// Rejects this challenge and continues with the response's next one, if it has one.
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}

/// The sender of a session's own challenges. The first answer counts, whether it comes by one of these methods or by a
/// delegate's completion handler; later answers do nothing. Any thread.
package final class ChallengeSender: NSObject, URLAuthenticationChallengeSender {
    /// An answer as a session's delegate gives it to its completion handler.
    package typealias Reply = (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?)

    private let question: Answer<Reply>

    /// - Parameter answer: called at most once, on the thread that answers.
    init(_ answer: @escaping @Sendable (Reply) -> Void) {
        question = Answer { reply in
            if let reply { answer(reply) }
        }
    }

    private func answer(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil) {
        question.give((disposition, credential))
    }

    package func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        answer(.useCredential, credential)
    }
    /// Delivers the response that asked.
    package func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answer(.useCredential) }
    package func cancel(_ challenge: URLAuthenticationChallenge) { answer(.cancelAuthenticationChallenge) }
    package func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answer(.performDefaultHandling) }
    /// Continues with the response's next challenge, if it has one.
    package func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        answer(.rejectProtectionSpace)
    }
}

extension URLAuthenticationChallengeSender {
    /// Tells a `URLProtocol` class how the delegate has answered its challenge.
    func pass(on answer: ChallengeSender.Reply, to challenge: URLAuthenticationChallenge) {
        switch (answer.disposition, answer.credential) {
        case (.useCredential, let credential?): use(credential, for: challenge)
        case (.useCredential, nil): continueWithoutCredential(for: challenge)
        case (.performDefaultHandling, _): performDefaultHandling(for: challenge)
        case (.rejectProtectionSpace, _): rejectProtectionSpaceAndContinue(with: challenge)
        case (.cancelAuthenticationChallenge, _): cancel(challenge)
        }
    }
}
