public import Foundation

/// A server's, or a proxy's, question for credentials, or a connection's whether the server is trusted. Never changed;
/// any thread.
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    private let space: URLProtectionSpace
    private let credential: URLCredential?
    private let failures: Int
    private let response: URLResponse?
    private let reason: (any Error)?
    private let answering: (any URLAuthenticationChallengeSender)?

    /// A challenge of a loading class's own.
    ///
    /// - Parameters:
    ///   - space: what asks, and the realm.
    ///   - credential: what default handling would answer; nil for none.
    ///   - previousFailureCount: how many answers were refused before.
    ///   - response: the response that asks; nil for none.
    ///   - error: why the last attempt failed, where an error says so.
    ///   - sender: is told the answer.
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

    /// The same challenge, answered through another sender.
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

    /// What asks: a server or a proxy, and the realm.
    open var protectionSpace: URLProtectionSpace { space }

    /// What default handling would answer with; nil if that has nothing, or has tried it.
    open var proposedCredential: URLCredential? { credential }

    /// How many answers to this challenge were refused before.
    open var previousFailureCount: Int { failures }

    /// The response that asked: a 401 or 407. Nil for trust and client certificates.
    open var failureResponse: URLResponse? { response }

    /// Why the last attempt failed, where an error says so.
    open var error: (any Error)? { reason }

    /// For delegates of ``URLProtocol`` clients; a session's delegate answers its completion handler instead, and what
    /// it calls here counts as that answer, if it comes first.
    open var sender: (any URLAuthenticationChallengeSender)? { answering }
}

/// What waits for the answer to a challenge.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    /// Answers with a credential.
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
    /// Goes on without one: the response that asked is delivered.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
    /// Ends the load as cancelled.
    func cancel(_ challenge: URLAuthenticationChallenge)
    /// Does what is done where nothing answers challenges.
    func performDefaultHandling(for challenge: URLAuthenticationChallenge)
    /// Answers the next challenge of the response, if it has one.
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}
