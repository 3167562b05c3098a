public import HTTP1

/// The request that an event is about, as far as rules look at it.
public struct AskedRequest {
    /// As sent.
    public let method: String
    /// The fields as they were sent.
    public let fields: HTTPFields
    /// The caller has put an Authorization field into it: challenges are the caller's to answer.
    public let hasOwnAuthorization: Bool
    /// What the answer to a challenge that went along was for; nil without such.
    public let authorized: ProtectionSpace?
    /// When it went out, in seconds since 1970.
    public let sent: Int64
    /// What the answer may be to the cache.
    public let caching: Caching

    /// What an answer may be to the owner's cache.
    public enum Caching: Hashable, Sendable {
        /// There is no cache.
        case none
        /// It is not stored, as files and streams are not, but may say something of what is.
        case compares
        /// It is stored if the rules permit it.
        case stores
    }

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
    /// From 200 on.
    public let status: Int
    /// As the server sent them.
    public let fields: HTTPFields
    /// Of the content as it will be delivered, in octets; -1 where it is not known.
    public let length: Int64

    /// See the properties.
    public init(status: Int, fields: HTTPFields, length: Int64) {
        self.status = status
        self.fields = fields
        self.length = length
    }
}

/// How an exchange has failed, as far as rules look at it.
public struct AnswerFailure: Sendable {
    /// A proxy has asked for credentials instead of opening a tunnel or passing the request on.
    public struct ProxyRefusal: Sendable {
        /// What it asks.
        public let challenges: [AuthenticationChallenge]
        /// The proxy's own.
        public let host: String
        /// The proxy's own.
        public let port: Int
        /// The request was one for https.
        public let isSecure: Bool

        /// See the properties.
        public init(challenges: [AuthenticationChallenge], host: String, port: Int, isSecure: Bool) {
            self.challenges = challenges
            self.host = host
            self.port = port
            self.isSecure = isSecure
        }
    }

    /// Nil for every other failure.
    public var proxy: ProxyRefusal?
    /// There was no way to the server, by the word of the kernel or the name service, and there may be one later.
    public var isWithoutConnectivity: Bool
    /// It is the network's, and another try may not meet it. What the server or its certificate says, it would say
    /// again.
    public var isTransient: Bool
    /// For content that only the caller has, and must give again: the facts that ``RetryRule`` decides on. Nil for
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

/// What the user has said to a challenge.
public enum ChallengeReply: Sendable {
    /// A name and a password.
    case credentials(Credentials)
    /// Not to this question, but perhaps to the next.
    case next
    /// To none: the refusal is the answer.
    case none
}

/// The rest of a download that an earlier one has begun.
public struct ResumeOffer: Hashable, Sendable {
    /// What If-Range says: a strong entity tag, or a date.
    public let validator: String
    /// What is on disk, in octets.
    public let received: Int64
    /// The length of the whole; -1 where it is not known.
    public let expected: Int64

    /// See the properties.
    public init(validator: String, received: Int64, expected: Int64) {
        self.validator = validator
        self.received = received
        self.expected = expected
    }

    /// Range and If-Range (RFC 9110 §14.2, §13.1.5).
    public var fields: [(name: String, value: String)] {
        [("Range", "bytes=\(received)-"), ("If-Range", validator)]
    }
}
