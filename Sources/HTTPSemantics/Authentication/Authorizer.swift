public import HTTP1
package import TLS

/// Answers one server's, or one proxy's, questions with one user's name and password, request after request.
public struct Authorizer: Sendable {
    private enum Scheme: Sendable {
        case basic
        case digest(DigestAuthentication)
    }

    /// Whose questions it answers.
    public let side: Authenticator.Side
    /// The protection space it answers for.
    public let space: ProtectionSpace
    /// Where it may be used before a server has asked.
    public let scope: AuthorizationScope
    /// By whose name and password it answers.
    public let credentials: Credentials
    private var scheme: Scheme

    /// Nil if no name and password answers the question.
    ///
    /// - Parameters:
    ///   - question: what was asked.
    ///   - credentials: the answer to it.
    ///   - url: of the request that was asked; unused for proxies.
    public init?(_ question: ChallengeQuestion, _ credentials: Credentials, url: WebURL) {
        side = question.side
        space = question.space
        self.credentials = credentials
        if question.space.scheme == .basic {
            scheme = .basic
            scope = .folder(of: url)
        } else if let challenge = DigestChallenge(question.challenge) {
            scheme = .digest(DigestAuthentication(challenge, credentials))
            scope = .domain(question.challenge.parameters["domain"], url)
        } else {
            return nil
        }
    }

    /// The value for the next request's ``Authenticator/Side/credentialsField``. A Digest answer counts up, so each
    /// request takes its own.
    ///
    /// - Parameters:
    ///   - method: exactly as sent.
    ///   - target: the request-target exactly as sent.
    ///   - content: what the request carries; nil if it is not in memory.
    public mutating func value(method: String, target: String, content: [UInt8]?) throws(AuthenticationError) -> String
    {
        switch scheme {
        case .basic:
            return try BasicAuthentication.authorization(credentials)
        case .digest(var digest):
            defer { scheme = .digest(digest) }
            return try digest.authorization(method: method, target: target, content: content)
        }
    }

    /// How content that is not in memory is to be hashed for the next value; nil: it is not.
    package var contentDigest: MessageDigest? {
        if case .digest(let digest) = scheme { digest.contentDigest } else { nil }
    }

    /// The hash of the next request's content, by ``contentDigest``: one value uses it up.
    package mutating func take(contentHash: [UInt8]?) {
        guard case .digest(var digest) = scheme else { return }
        digest.take(contentHash: contentHash)
        scheme = .digest(digest)
    }

    /// Takes up a challenge that only says that the nonce was too old (RFC 7616 §3.3, `stale`): the same name and
    /// password are good for another try, and the user is not asked. False: it says something else.
    public mutating func renew(_ question: ChallengeQuestion) -> Bool {
        guard case .digest = scheme, question.space == space, let challenge = DigestChallenge(question.challenge),
            challenge.isStale
        else { return false }
        scheme = .digest(DigestAuthentication(challenge, credentials))
        return true
    }

    /// Takes up what a response to an authorized request says (RFC 7616 §3.5).
    public mutating func note(_ fields: HTTPFields) {
        guard case .digest(var digest) = scheme, let information = fields.joined(side.informationField) else { return }
        digest.note(information: information)
        scheme = .digest(digest)
    }
}

/// What of an ``Authorizer`` went along with a request. An object: few requests have one, and what holds it is small
/// without.
public final class SentAuthorization: Sendable {
    /// The Authorization field's.
    public let value: String
    /// For what it is good.
    public let space: ProtectionSpace
    /// Whose name and password it proves.
    public let credentials: Credentials

    /// What an authorizer's value went out as.
    public init(value: String, by authorizer: Authorizer) {
        self.value = value
        space = authorizer.space
        credentials = authorizer.credentials
    }
}

/// Where a credential is sent unasked.
public struct AuthorizationScope: Hashable, Sendable {
    /// Beginnings of paths on the server that asked; "/" is all of it.
    public let paths: [String]

    /// RFC 7617 §2.2: what lies at or below the last folder of the path.
    public static func folder(of url: WebURL) -> AuthorizationScope {
        let path = url.cleanPath
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return AuthorizationScope(paths: [path.isEmpty ? "/" : String(path[...end])])
    }

    /// RFC 7616 §3.3, `domain`: those it names, or without it the whole server. It may name other servers, too; what
    /// one server says does not send a user's answers to another.
    public static func domain(_ list: String?, _ url: WebURL) -> AuthorizationScope {
        let base = url.reference
        let found: [String] = (list ?? "").split(separator: " ").compactMap { part in
            let other = WebURL(URIReference(Array(part.utf8)).resolved(against: base))
            return other.origin == url.origin ? other.cleanPath : nil
        }
        let names = list?.contains { $0 != " " } == true
        return AuthorizationScope(paths: names ? found : ["/"])
    }

    /// How much of the URL's path it covers, in octets; nil for nothing. What covers more is meant more.
    public func covers(_ url: WebURL) -> Int? {
        let path = url.cleanPath
        return paths.filter { path.hasPrefix($0) }.map(\.utf8.count).max()
    }
}
