internal import Foundation
internal import HTTP1
internal import HTTPEngine

/// One way in which a 401 or 407 lets itself be answered.
struct ChallengeQuestion: Hashable, Sendable {
    let side: Authenticator.Side
    let challenge: AuthenticationChallenge
    /// What the delegate and the storage are asked about.
    let space: ProtectionSpace

    /// Whether a name and a password are of use. The methods whose answers need an operating system's help are asked
    /// about, since a delegate may want to know, but no credential answers them.
    var isAnswerable: Bool {
        switch space.method {
        case NSURLAuthenticationMethodHTTPBasic: true
        case NSURLAuthenticationMethodHTTPDigest: DigestChallenge(challenge) != nil
        default: false
        }
    }
}

/// Which questions a response asks, and in which order (RFC 9110 §11, RFC 7616, RFC 7617).
enum ChallengeRule {
    /// How many answers to one request may be refused. People mistype, programs repeat themselves.
    static let attemptLimit = 3

    /// How many answers a request may be given in all, whatever they are for: a proxy and a server with two schemes each, and their nonces.
    static let answerLimit = 16

    /// The questions of a 401, the strongest first: Digest with a good hash, Digest with MD5, Basic; then what can only be
    /// asked about. Of equals the server's first (RFC 7616 §3.7). Empty for another status, and if every scheme is unknown
    /// (`Bearer` and its like): then the response is the answer, without anybody being asked.
    static func questions(status: Int, fields: HTTPFields, url: URL) -> [ChallengeQuestion] {
        guard status == Authenticator.Side.origin.status, let origin = WebOrigin(url) else { return [] }
        return sorted(AuthenticationChallenge.all(in: fields, Authenticator.Side.origin.challengeField)) {
            challenge,
            method in
            ChallengeQuestion(
                side: .origin,
                challenge: challenge,
                space: ProtectionSpace(
                    host: origin.host,
                    port: origin.port,
                    side: .server(origin.scheme),
                    realm: challenge.realm,
                    method: method
                )
            )
        }
    }

    /// The same for the challenges of a proxy.
    ///
    /// - Parameter kind: ``NSURLProtectionSpaceHTTPProxy`` and its like.
    static func questions(
        ofProxy challenges: [AuthenticationChallenge],
        host: String,
        port: Int,
        kind: String
    ) -> [ChallengeQuestion] {
        sorted(challenges) { challenge, method in
            ChallengeQuestion(
                side: .proxy,
                challenge: challenge,
                space: ProtectionSpace(
                    host: host,
                    port: port,
                    side: .proxy(kind),
                    realm: challenge.realm,
                    method: method
                )
            )
        }
    }

    /// Default handling: what is stored is tried, once.
    static func defaultCredential(_ stored: Credential?, failures: Int) -> Credential? {
        failures == 0 ? stored : nil
    }

    private static func sorted(
        _ challenges: [AuthenticationChallenge],
        _ make: (AuthenticationChallenge, String) -> ChallengeQuestion
    ) -> [ChallengeQuestion] {
        let ranked = challenges.enumerated().compactMap { place, challenge in
            method(challenge).map { (rank: rank(challenge), place: place, question: make(challenge, $0)) }
        }
        return ranked.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }.map(\.question)
    }

    private static func method(_ challenge: AuthenticationChallenge) -> String? {
        switch challenge.scheme {
        case "basic": NSURLAuthenticationMethodHTTPBasic
        case "digest": NSURLAuthenticationMethodHTTPDigest
        case "ntlm": NSURLAuthenticationMethodNTLM
        case "negotiate": NSURLAuthenticationMethodNegotiate
        default: nil
        }
    }

    private static func rank(_ challenge: AuthenticationChallenge) -> Int {
        if challenge.scheme == "basic" { return 2 }
        // A Digest that nobody could answer is only to be told of.
        guard let digest = DigestChallenge(challenge) else { return 3 }
        return digest.algorithm == .md5 ? 1 : 0
    }
}
