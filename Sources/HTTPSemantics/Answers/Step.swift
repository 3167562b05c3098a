/// What is to be done next about a request: the answer of ``AnswerMachine`` to each event. Its owner does it, and tells
/// the machine what comes of it. Cases that are rare and large are kept apart: the step of a usual answer is small.
public enum Step: Sendable {
    /// Goes over the network, with these fields besides its own.
    case send([(name: String, value: String)])
    /// The stored response is the answer.
    ///
    /// - `age`: in seconds, for the Age field; nil: it is counted again when the response is served.
    /// - `refresh`: the conditions of a request that brings the cache up to date meanwhile (RFC 5861 §3); nil for none.
    case serveStored(age: Int64?, refresh: [(name: String, value: String)]?)
    /// The stored response is the answer, with the fields that a 304 has left.
    indirect case serveUpdated(StoredExchange)
    /// The stored response is no good any more: it is removed, and the same request goes out without conditions.
    case discardStored
    /// There is nothing to serve, and the request wanted nothing else: a 504 is the answer (RFC 9111 §5.2.1.7).
    case answerGatewayTimeout
    /// The user, or a store of credentials, is asked for a name and a password.
    ///
    /// - `failures`: how many answers to this question were refused before.
    indirect case askForCredentials(ChallengeQuestion, failures: Int)
    /// The user is asked whether the redirect is followed; without a user to ask, it is.
    indirect case proposeRedirect(Redirect)
    /// The request goes out again, or the one that the user has put in its place.
    case sendAgain
    /// The request goes out again for the whole. What an earlier download has left is of no use and goes, and the rest
    /// of this answer is not worth reading.
    case requestWhole
    /// The user is asked for the content's stream once more, and then the request goes out again.
    case askForStream
    /// The request waits for a way to its server, and is sent again then.
    ///
    /// - `isFirst`: the user has not been told yet that it waits.
    case waitForConnectivity(Duration, isFirst: Bool)
    /// All begins anew after that time, with what has come so far if it can be gone on from.
    case beginAnew(after: Duration)
    /// The response is the answer.
    case deliver(Placement, Storage)
    /// There is no answer.
    case fail(Reason)

    /// Where the content of an answer goes, if it goes to a file.
    public enum Placement: Hashable, Sendable {
        /// To the beginning of a new file.
        case whole
        /// To the beginning of a new file; what an earlier download has left is of no use, and goes.
        case wholeInsteadOfRest
        /// Behind what an earlier download has left.
        ///
        /// - `total`: the length of the whole, in octets.
        case rest(total: Int64)
    }

    /// What the answer means to the cache.
    public enum Storage: Hashable, Sendable {
        /// It is not for the cache.
        case none
        /// It is stored when it is complete.
        case store(CacheStorage)
        /// It is an answer to HEAD: what is stored for GET is compared with it (RFC 9111 §4.3.5).
        case compare
    }

    /// Why there is no answer.
    public enum Reason: Hashable, Sendable {
        /// More than ``RedirectRule/limit`` redirects.
        case tooManyRedirects
        /// Only the cache was to be asked, and it has nothing.
        case nothingStored
        /// The proxy refuses all credentials there are.
        case refusedByProxy
        /// What ended the exchange, which nothing makes up for.
        case failure
    }
}
