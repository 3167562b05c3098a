/// The next thing to do about a request, which ``AnswerMachine`` returns for each event. The owner does it, and tells
/// the machine the result. Rare, large cases are indirect: the step of a usual answer is small.
public enum Step: Sendable {
    /// Sends the request over the network, with these fields besides its own.
    case send([(name: String, value: [UInt8])])
    /// Makes the stored response the answer.
    ///
    /// - `age`: in seconds, for the Age field; nil: it is computed when the response is served.
    /// - `refresh`: the conditions of a request that updates the cache meanwhile (RFC 5861 §3); nil for none.
    case serveStored(age: Int64?, refresh: [(name: String, value: [UInt8])]?)
    /// Makes the stored response the answer, with the fields as a 304 has updated them.
    indirect case serveUpdated(StoredExchange)
    /// Removes the stored response, which is no longer good, and sends the request again without conditions.
    case discardStored
    /// Makes a 504 the answer: nothing is stored, and the request accepts nothing else (RFC 9111 §5.2.1.7).
    case answerGatewayTimeout
    /// Asks the user, or a store of credentials, for a user name and a password.
    ///
    /// - `failures`: how many answers to this question were refused before.
    indirect case askForCredentials(ChallengeQuestion, failures: Int)
    /// Asks the user whether to follow the redirect. Without a user to ask, it is followed.
    indirect case proposeRedirect(Redirect)
    /// Sends the request again, or the one that the user has put in its place.
    case sendAgain
    /// Sends the request again, for the whole content. What an earlier download has left is of no use and is removed,
    /// and the rest of this answer is not worth reading.
    case requestWhole
    /// Asks the user for the content's stream once more, and then sends the request again.
    case askForStream
    /// Waits for a way to the server, and then sends the request again.
    ///
    /// - `isFirst`: whether the user has not been told yet that it waits.
    case waitForConnectivity(Duration, isFirst: Bool)
    /// Begins anew after that time, with the content that has come so far if it can be continued.
    case beginAnew(after: Duration)
    /// Makes the response the answer.
    case deliver(Placement, Storage)
    /// Fails the request.
    case fail(Reason)

    /// Where the content of an answer is written, if it goes to a file.
    public enum Placement: Hashable, Sendable {
        /// At the beginning of a new file.
        case whole
        /// At the beginning of a new file; what an earlier download has left is of no use, and is removed.
        case wholeInsteadOfRest
        /// After what an earlier download has left.
        ///
        /// - `total`: the length of the whole, in octets.
        case rest(total: Int64)
    }

    /// What the cache does with the answer.
    public enum Storage: Hashable, Sendable {
        /// Nothing.
        case none
        /// Stores it when it is complete.
        case store(CacheStorage)
        /// Compares it with what is stored for GET: it is an answer to HEAD (RFC 9111 §4.3.5).
        case compare
    }

    /// The reason for failing.
    public enum Reason: Hashable, Sendable {
        /// More than ``AnswerMachine/Rules/redirects`` redirects.
        case tooManyRedirects
        /// Only the cache was to be asked, and it holds nothing.
        case nothingStored
        /// The proxy refuses all available credentials.
        case refusedByProxy
        /// The exchange has failed, and neither a new try nor a stored response can replace it.
        case failure
    }
}
