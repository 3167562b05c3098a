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
    /// A proxy has asked for credentials instead of opening a tunnel or passing the request on.
    public struct ProxyRefusal: Sendable {
        /// The proxy's challenges.
        public let challenges: [AuthenticationChallenge]
        /// The proxy's host.
        public let host: String
        /// The proxy's port.
        public let port: Int
        /// Whether the request was one for https.
        public let isSecure: Bool

        /// See the properties.
        public init(challenges: [AuthenticationChallenge], host: String, port: Int, isSecure: Bool) {
            self.challenges = challenges
            self.host = host
            self.port = port
            self.isSecure = isSecure
        }
    }

    /// The proxy's challenge; nil for every other failure.
    public var proxy: ProxyRefusal?
    /// Whether credentials that the owner has for the proxy answer its challenge once the request is sent again.
    package var isAnswerable = false
    /// Whether there was no way to the server, as the kernel or the name service says. There may be one later.
    public var isWithoutConnectivity: Bool
    /// Whether the fault is the network's, so that another try may succeed. What the server or its certificate says, it
    /// would say again.
    public var isTransient: Bool
    /// The facts that ``RetryRule`` decides on, for content that only the caller has, and must give again. Nil for
    /// other content.
    public var stream: RetryRule.Facts?

    /// See the properties.
    public init(
        proxy: ProxyRefusal? = nil,
        isWithoutConnectivity: Bool = false,
        isTransient: Bool = false,
        stream: RetryRule.Facts? = nil
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
