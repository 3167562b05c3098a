public import UncurlHTTP1

/// The request that an event concerns, with what the rules need of it.
public struct AskedRequest {
    /// The method as it was sent.
    public let method: String
    /// The fields as they were sent.
    public let fields: HTTPFields
    /// Whether the caller has put an Authorization field into it: then the caller answers challenges.
    public let hasOwnAuthorization: Bool
    /// The space of the answer to a challenge that the request carried; nil if it carried none.
    public let authorized: ProtectionSpace?
    /// When the request was sent, in seconds since 1970.
    public let sent: Int64
    /// Whether the answer may be stored.
    public let caching: Caching

    /// What the owner's cache may do with an answer.
    public enum Caching: Hashable, Sendable {
        /// There is no cache.
        case none
        /// The answer is not stored, as those to files and streams are not; but it may update or remove what is stored.
        case compares
        /// The answer is stored if the rules permit it.
        case stores
    }

    /// Whether a challenge to it is answered. A TRACE carries no credentials, since its answer repeats them (RFC 9110
    /// §9.3.8).
    var mayBeAuthorized: Bool { !hasOwnAuthorization && method != "TRACE" }

    /// See the properties.
    public init(
        method: String,
        fields: HTTPFields,
        hasOwnAuthorization: Bool,
        authorized: ProtectionSpace?,
        sent: Int64,
        caching: Caching
    ) {
        self.caching = caching
        self.method = method
        self.fields = fields
        self.hasOwnAuthorization = hasOwnAuthorization
        self.authorized = authorized
        self.sent = sent
    }
}

/// The head of a final response.
public struct AnswerHead {
    /// The status, from 200 on.
    public let status: Int
    /// The fields as the server sent them.
    public let fields: HTTPFields
    /// The length of the content as it will be delivered, in octets; -1 where it is not known.
    public let length: Int64

    /// See the properties.
    public init(status: Int, fields: HTTPFields, length: Int64) {
        self.status = status
        self.fields = fields
        self.length = length
    }
}

/// The failure of an exchange, with what the rules need of it.
public struct AnswerFailure: Sendable {
    /// The questions of a proxy that has asked for credentials instead of opening a tunnel or passing the request on;
    /// nil for every other failure.
    public var proxy: [ChallengeQuestion]?
    /// Whether credentials that the owner has for the proxy answer its challenge once the request is sent again.
    package var isAnswerable = false
    /// Whether there was no way to the server, as the kernel or the name service says. There may be one later.
    public var isWithoutConnectivity: Bool
    /// Whether the fault is the network's, so that another try may succeed. What the server or its certificate says, it
    /// would say again.
    public var isTransient: Bool
    /// The facts of a retry, for content that only the caller has, and must give again. Nil for
    /// other content.
    public var stream: RetryRule?

    /// See the properties.
    public init(
        proxy: [ChallengeQuestion]? = nil,
        isWithoutConnectivity: Bool = false,
        isTransient: Bool = false,
        stream: RetryRule? = nil
    ) {
        self.proxy = proxy
        self.isWithoutConnectivity = isWithoutConnectivity
        self.isTransient = isTransient
        self.stream = stream
    }
}

/// The user's answer to a challenge.
public enum ChallengeReply: Sendable {
    /// A name and a password.
    case credentials(Credentials)
    /// Declines this question; the user may answer the next.
    case next
    /// Declines all questions: the refusal is the answer.
    case none
}

/// What an earlier download has left, as the offer to request the rest.
public struct ResumeOffer: Hashable, Sendable {
    /// The value of If-Range: a strong entity tag, or a date.
    public let validator: String
    /// How much is on disk, in octets.
    public let received: Int64
    /// The length of the whole; -1 where it is not known.
    public let expected: Int64

    /// See the properties.
    public init(validator: String, received: Int64, expected: Int64) {
        self.validator = validator
        self.received = received
        self.expected = expected
    }

    /// The fields Range and If-Range (RFC 9110 §14.2, §13.1.5).
    public var fields: [(name: String, value: [UInt8])] {
        [("Range", Array("bytes=\(received)-".utf8)), ("If-Range", Array(validator.utf8))]
    }
}

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
    public typealias Placement = ResumeRule.Placement

    /// What the cache does with the answer, once it is complete.
    public typealias Storage = CacheStorage

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
