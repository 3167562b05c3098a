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
    public static func all(status: Int, fields: HTTPFields, url: WebURL) -> [ChallengeQuestion] {
        guard status == ChallengeAuthenticator.Side.origin.status, let origin = url.origin else { return [] }
        let challenges = AuthenticationChallenge.all(in: fields, ChallengeAuthenticator.Side.origin.challengeField)
        return all(challenges, .origin, host: origin.host, port: origin.port, isSecure: origin.isSecure)
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
