public import HTTP1

/// Answers the challenges of one server or proxy with one user's credentials: picks the scheme, remembers what was
/// asked for, and knows when asking again is no use.
///
/// A value. An owner that shares it between requests keeps it in one place, since each Digest answer counts one up.
public struct Authenticator: Sendable {
    /// Whom the credentials are for: names the fields.
    public enum Side: Sendable {
        /// The server that the URL names; the proxy on the way to it.
        case origin, proxy

        /// The status that asks for credentials.
        public var status: Int { self == .origin ? 401 : 407 }
        /// The field with the challenges.
        public var challengeField: String { self == .origin ? "WWW-Authenticate" : "Proxy-Authenticate" }
        /// The field with the credentials.
        public var credentialsField: String { self == .origin ? "Authorization" : "Proxy-Authorization" }
        /// The field in which an answer says what goes with the next request (RFC 7616 §3.5).
        public var informationField: String {
            self == .origin ? "Authentication-Info" : "Proxy-Authentication-Info"
        }
    }

    private enum Scheme {
        case none
        case basic
        case digest(DigestAuthentication)
    }

    /// What it answers.
    public let side: Side
    private let credentials: Credentials?
    private var scheme: Scheme

    /// - Parameters:
    ///   - side: the server, or a proxy.
    ///   - credentials: nil answers nothing.
    ///   - isPreemptive: answer by Basic before there was a challenge.
    public init(_ side: Side, _ credentials: Credentials?, isPreemptive: Bool = false) {
        self.side = side
        self.credentials = credentials
        scheme = isPreemptive && credentials != nil ? .basic : .none
    }

    /// The credentials field's value for the next request; nil as long as nothing was asked for.
    ///
    /// - Parameters: as for ``DigestAuthentication/authorization(method:target:content:)``.
    public mutating func authorization(
        method: String,
        target: String,
        content: [UInt8]?
    ) throws(AuthenticationError) -> String? {
        guard let credentials else { return nil }
        switch scheme {
        case .none:
            return nil
        case .basic:
            return try BasicAuthentication.authorization(credentials)
        case .digest(var digest):
            defer { scheme = .digest(digest) }
            return try digest.authorization(method: method, target: target, content: content)
        }
    }

    /// Takes up the challenges of a 401 or 407. False: sending the request again would change nothing.
    ///
    /// - Parameters:
    ///   - challenges: of the refusal, in the order in which they stood.
    ///   - sent: the value that the refused request bore, if it bore one.
    ///   - round: refusals of the same request before this one. A nonce may have grown old unseen, so the first refusal
    ///     is answered in any case; the second only if it says itself that the nonce was `stale`; no third.
    public mutating func accept(_ challenges: [AuthenticationChallenge], refusing sent: String?, round: Int) -> Bool {
        guard let credentials, round < 2 else { return false }
        if let challenge = Authenticator.strongest(challenges.compactMap(DigestChallenge.init)) {
            guard round == 0 || challenge.isStale else { return false }
            scheme = .digest(DigestAuthentication(challenge, credentials))
            return true
        }
        guard round == 0, challenges.contains(where: { $0.scheme == "basic" && $0.realm != nil }) else { return false }
        // The same words again would be refused again.
        guard sent?.hasPrefix("Basic ") != true else { return false }
        scheme = .basic
        return true
    }

    /// Takes up what a response to an authenticated request says (RFC 7616 §3.5).
    public mutating func note(_ fields: HTTPFields) {
        guard case .digest(var digest) = scheme, let information = fields.joined(side.informationField) else { return }
        digest.note(information: information)
        scheme = .digest(digest)
    }

    /// The server's order decides (RFC 7616 §3.7), except that MD5 is never chosen where something better is offered.
    private static func strongest(_ challenges: [DigestChallenge]) -> DigestChallenge? {
        challenges.first { $0.algorithm != .md5 } ?? challenges.first
    }
}
