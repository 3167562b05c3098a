public import UncurlHTTP1

/// One way to answer a 401 or a 407.
public struct ChallengeQuestion: Hashable, Sendable {
    /// The challenge.
    public let challenge: AuthenticationChallenge
    /// The space for which the user and the store of credentials are asked.
    public let space: ProtectionSpace

    /// Whether a server or a proxy asks.
    public var side: ChallengeAuthenticator.Side { space.side }

    /// Whether a user name and a password can answer it. The user is also asked about methods that need an operating
    /// system's help, since a user may want to know of them, but no credential answers them.
    public var isAnswerable: Bool {
        switch space.scheme {
        case .basic: true
        case .digest: DigestChallenge(challenge) != nil
        case .ntlm, .negotiate: false
        }
    }
}

/// The questions that a response asks, and their order (RFC 9110 §11, RFC 7616, RFC 7617).
extension ChallengeQuestion {
    /// How many answers to one request may be refused: people mistype, and programs repeat themselves.
    public static let attemptLimit = 3

    /// How many answers a request may be sent with in all: a proxy's and a server's with two schemes each, and their
    /// nonces.
    public static let answerLimit = 16

    /// The most questions of one response. The user is asked each of them, and a head has room for thousands.
    private static let questionLimit = 16

    /// Returns the questions of a 401, the strongest first: Digest with a good hash, Digest with MD5, Basic; then those
    /// that cannot be answered. Among equals the server's order counts (RFC 7616 §3.7). A repeated challenge is one
    /// question, and only the first 16 questions are asked. Empty for another status, and if every scheme is unknown
    /// (such as `Bearer`): then the response is the answer, and the user is not asked.
    public static func all(status: Int, fields: HTTPFields, url: HTTPURL) -> [ChallengeQuestion] {
        guard status == ChallengeAuthenticator.Side.origin.status else { return [] }
        let origin = url.origin
        let challenges = AuthenticationChallenge.all(in: fields, ChallengeAuthenticator.Side.origin.challengeField)
        return all(challenges, .origin, host: origin.host, port: Int(origin.port), isSecure: origin.isSecure)
    }

    /// Returns the same for the challenges of a proxy.
    ///
    /// - Parameters:
    ///   - challenges: those of the 407, in their order.
    ///   - host: the proxy's host.
    ///   - port: the proxy's port.
    ///   - isSecure: whether the request was for https, which goes through the proxy in a tunnel.
    public static func all(
        ofProxy challenges: [AuthenticationChallenge],
        host: String,
        port: Int,
        isSecure: Bool
    ) -> [ChallengeQuestion] {
        all(challenges, .proxy, host: host, port: port, isSecure: isSecure)
    }

    private static func all(
        _ challenges: [AuthenticationChallenge],
        _ side: ChallengeAuthenticator.Side,
        host: String,
        port: Int,
        isSecure: Bool
    ) -> [ChallengeQuestion] {
        let ranked = challenges.enumerated().compactMap { place, challenge in
            AuthenticationScheme(rawValue: challenge.scheme).map { scheme in
                let space = ProtectionSpace(
                    host: host,
                    port: port,
                    side: side,
                    isSecure: isSecure,
                    realm: challenge.realm,
                    scheme: scheme
                )
                let question = ChallengeQuestion(challenge: challenge, space: space)
                return (rank: rank(challenge), place: place, question: question)
            }
        }
        var questions: [ChallengeQuestion] = []
        for one in ranked.sorted(by: { ($0.rank, $0.place) < ($1.rank, $1.place) }) {
            guard questions.count < questionLimit else { break }
            if !questions.contains(one.question) { questions.append(one.question) }
        }
        return questions
    }

    private static func rank(_ challenge: AuthenticationChallenge) -> Int {
        if challenge.scheme == "basic" { return 2 }
        // A Digest challenge that cannot be answered comes last: the user only hears of it.
        guard let digest = DigestChallenge(challenge) else { return 3 }
        return digest.algorithm == .md5 ? 1 : 0
    }
}

/// A part of a server or a proxy that one name and password opens (RFC 9110 §11.5).
public struct ProtectionSpace: Hashable, Sendable {
    /// The host in lower case.
    public let host: String
    /// The port of the server or the proxy.
    public let port: Int
    /// Whether the host is a server or a proxy.
    public let side: ChallengeAuthenticator.Side
    /// Whether the host is reached over TLS.
    public let isSecure: Bool
    /// The realm as the challenge names it; realms are compared with case.
    public let realm: String?
    /// The scheme of the challenge.
    public let scheme: AuthenticationScheme

    /// - Parameters:
    ///   - host: in any case (RFC 3986 §3.2.2).
    ///   - port: the port of the server or the proxy.
    ///   - side: which of the two it is.
    ///   - isSecure: whether the request was for https.
    ///   - realm: nil if the challenge names none.
    ///   - scheme: the scheme of the challenge.
    public init(
        host: String,
        port: Int,
        side: ChallengeAuthenticator.Side,
        isSecure: Bool,
        realm: String?,
        scheme: AuthenticationScheme
    ) {
        self.host = host.lowercased()
        self.port = port
        self.side = side
        self.isSecure = isSecure
        self.realm = realm
        self.scheme = scheme
    }

    /// Compares realms by their octets.
    public static func == (left: ProtectionSpace, right: ProtectionSpace) -> Bool {
        left.host == right.host && left.port == right.port && left.side == right.side
            && left.isSecure == right.isSecure && left.realmOctets == right.realmOctets && left.scheme == right.scheme
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(side)
        hasher.combine(isSecure)
        hasher.combine(realmOctets)
        hasher.combine(scheme)
    }

    private var realmOctets: [UInt8]? { realm.map { Array($0.utf8) } }
}

/// The schemes that a user can be asked about (RFC 9110 §11.1). Those of `ntlm` and `negotiate` cannot be answered
/// here: they need an operating system's help.
public enum AuthenticationScheme: String, Hashable, Sendable {
    /// RFC 7617, RFC 7616, and the two of Microsoft's (RFC 4559).
    case basic, digest, ntlm, negotiate
}
