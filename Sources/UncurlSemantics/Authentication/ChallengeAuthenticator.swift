public import UncurlHTTP1

/// Answers the challenges of one server or proxy with one user's credentials: it selects the scheme, remembers the
/// challenge, and knows when another try is of no use.
///
/// A value. An owner that shares it between requests keeps it in one place, since each Digest answer increments a
/// count.
public struct ChallengeAuthenticator: Sendable {
    /// The receiver of the credentials, which determines the names of the fields.
    public enum Side: Sendable {
        /// `origin` is the server that the URL names; `proxy` is the proxy on the way to it.
        case origin, proxy

        /// The status that asks for credentials.
        public var status: Int { self == .origin ? 401 : 407 }
        /// The field with the challenges.
        public var challengeField: String { self == .origin ? "WWW-Authenticate" : "Proxy-Authenticate" }
        /// The field with the credentials.
        public var credentialsField: String { self == .origin ? "Authorization" : "Proxy-Authorization" }
        /// The field in which an answer tells what the next request needs (RFC 7616 §3.5).
        public var informationField: String {
            self == .origin ? "Authentication-Info" : "Proxy-Authentication-Info"
        }
    }

    /// The side whose challenges it answers.
    public let side: Side
    private let credentials: Credentials?
    /// Whether it answers by Basic; by Digest if there is a challenge. Neither: nothing was asked for.
    private var isBasic: Bool
    private var digest: DigestAuthentication?

    /// Makes an authenticator.
    ///
    /// - Parameters:
    ///   - side: the server, or a proxy.
    ///   - credentials: nil to answer nothing.
    ///   - isPreemptive: whether to answer by Basic before there was a challenge.
    public init(_ side: Side, _ credentials: Credentials?, isPreemptive: Bool = false) {
        self.side = side
        self.credentials = credentials
        isBasic = isPreemptive && credentials != nil
    }

    /// Returns the credentials field's value for the next request; nil as long as nothing was asked for.
    ///
    /// - Parameters: as for ``DigestAuthentication/authorization(method:target:content:)``.
    public mutating func authorization(
        method: String,
        target: String,
        content: [UInt8]?
    ) throws(AuthenticationError) -> String? {
        try octets(method: method, target: target, content: content).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The same in octets: a Digest answer repeats the proxy's own, which may be no UTF-8.
    package mutating func octets(
        method: String,
        target: String,
        content: [UInt8]?
    ) throws(AuthenticationError) -> [UInt8]? {
        guard let credentials else { return nil }
        if let octets = try digest?.octets(method: method, target: target, content: content) { return octets }
        return isBasic ? Array(try credentials.basicAuthorization().utf8) : nil
    }

    /// Takes the challenges of a 401 or 407. Returns false if sending the request again would change nothing.
    ///
    /// - Parameters:
    ///   - challenges: those of the refusal, in their order.
    ///   - sent: the value that the refused request carried; nil for none.
    ///   - round: how often the same request was refused before. A nonce may have become stale unnoticed, so the first
    ///     refusal is answered in any case; the second only if it says that the nonce was `stale`; a third never.
    public mutating func accept(_ challenges: [AuthenticationChallenge], refusing sent: String?, round: Int) -> Bool {
        guard let credentials, round < 2 else { return false }
        if let challenge = ChallengeAuthenticator.strongest(challenges.compactMap(DigestChallenge.init)) {
            guard round == 0 || challenge.isStale else { return false }
            digest = DigestAuthentication(challenge, credentials)
            return true
        }
        guard round == 0, challenges.contains(where: { $0.scheme == "basic" && $0.realm != nil }) else { return false }
        // The same credentials would be refused again.
        guard sent?.hasPrefix("Basic ") != true else { return false }
        (isBasic, digest) = (true, nil)
        return true
    }

    /// Takes what a response to an authenticated request says (RFC 7616 §3.5).
    public mutating func note(_ fields: HTTPFields) { digest?.note(fields, side) }

    /// Returns the first challenge in the server's order (RFC 7616 §3.7), but MD5 only if there is no better one.
    private static func strongest(_ challenges: [DigestChallenge]) -> DigestChallenge? {
        challenges.first { $0.algorithm != .md5 } ?? challenges.first
    }
}
