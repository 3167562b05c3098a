public import HTTP1

/// One way in which a 401 or 407 lets itself be answered.
public struct ChallengeQuestion: Hashable, Sendable {
    /// Whether a server or a proxy asks.
    public let side: Authenticator.Side
    /// What it says.
    public let challenge: AuthenticationChallenge
    /// What the user and the store of credentials are asked about.
    public let space: ProtectionSpace

    /// Whether a name and a password are of use. The methods whose answers need an operating system's help are asked
    /// about, since a user may want to know, but no credential answers them.
    public var isAnswerable: Bool {
        switch space.scheme {
        case .basic: true
        case .digest: DigestChallenge(challenge) != nil
        case .ntlm, .negotiate: false
        }
    }
}

/// Which questions a response asks, and in which order (RFC 9110 §11, RFC 7616, RFC 7617).
public enum ChallengeRule {
    /// How many answers to one request may be refused. People mistype, programs repeat themselves.
    public static let attemptLimit = 3

    /// How many answers a request may be given in all, whatever they are for: a proxy and a server with two schemes
    /// each, and their nonces.
    public static let answerLimit = 16

    /// The questions of a 401, the strongest first: Digest with a good hash, Digest with MD5, Basic; then what can only
    /// be asked about. Of equals the server's first (RFC 7616 §3.7). Empty for another status, and if every scheme is
    /// unknown (`Bearer` and its like): then the response is the answer, without anybody being asked.
    public static func questions(status: Int, fields: HTTPFields, url: WebURL) -> [ChallengeQuestion] {
        guard status == Authenticator.Side.origin.status, let origin = url.origin else { return [] }
        return sorted(AuthenticationChallenge.all(in: fields, Authenticator.Side.origin.challengeField)) {
            challenge,
            scheme in
            ChallengeQuestion(
                side: .origin,
                challenge: challenge,
                space: ProtectionSpace(
                    host: origin.host,
                    port: origin.port,
                    side: .origin,
                    isSecure: origin.isSecure,
                    realm: challenge.realm,
                    scheme: scheme
                )
            )
        }
    }

    /// The same for the challenges of a proxy.
    ///
    /// - Parameters:
    ///   - challenges: of the 407, in the order in which they stood.
    ///   - host: of the proxy.
    ///   - port: of the proxy.
    ///   - isSecure: whether requests for https are meant, which go through the proxy in a tunnel.
    public static func questions(
        ofProxy challenges: [AuthenticationChallenge],
        host: String,
        port: Int,
        isSecure: Bool
    ) -> [ChallengeQuestion] {
        sorted(challenges) { challenge, scheme in
            ChallengeQuestion(
                side: .proxy,
                challenge: challenge,
                space: ProtectionSpace(
                    host: host,
                    port: port,
                    side: .proxy,
                    isSecure: isSecure,
                    realm: challenge.realm,
                    scheme: scheme
                )
            )
        }
    }

    private static func sorted(
        _ challenges: [AuthenticationChallenge],
        _ make: (AuthenticationChallenge, AuthenticationScheme) -> ChallengeQuestion
    ) -> [ChallengeQuestion] {
        let ranked = challenges.enumerated().compactMap { place, challenge in
            AuthenticationScheme(rawValue: challenge.scheme).map {
                (rank: rank(challenge), place: place, question: make(challenge, $0))
            }
        }
        return ranked.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }.map(\.question)
    }

    private static func rank(_ challenge: AuthenticationChallenge) -> Int {
        if challenge.scheme == "basic" { return 2 }
        // A Digest challenge that cannot be answered comes last: the user only hears of it.
        guard let digest = DigestChallenge(challenge) else { return 3 }
        return digest.algorithm == .md5 ? 1 : 0
    }
}
