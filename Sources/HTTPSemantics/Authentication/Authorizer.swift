internal import Foundation
internal import HTTP1
internal import HTTPEngine

/// Answers one server's, or proxy's, questions with one user's name and password, request after request.
struct Authorizer: Sendable {
    private enum Scheme: Sendable {
        case basic
        case digest(DigestAuthentication)
    }

    let side: Authenticator.Side
    let space: ProtectionSpace
    /// Where it may be used before anybody asked.
    let scope: AuthorizationScope
    let credentials: Credentials
    private var scheme: Scheme

    /// Nil if no name and password answers the question.
    ///
    /// - Parameter url: of the request that was asked; unused for proxies.
    init?(_ question: ChallengeQuestion, _ credentials: Credentials, url: URL) {
        side = question.side
        space = question.space
        self.credentials = credentials
        if question.space.method == NSURLAuthenticationMethodHTTPBasic {
            scheme = .basic
            scope = .folder(of: url)
        } else if let challenge = DigestChallenge(question.challenge) {
            scheme = .digest(DigestAuthentication(challenge, credentials))
            scope = .domain(question.challenge.parameters["domain"], url)
        } else {
            return nil
        }
    }

    /// The value for the next request's ``Authenticator/Side/credentialsField``. A Digest answer counts up, so each request
    /// takes its own.
    ///
    /// - Parameters:
    ///   - target: the request-target exactly as sent.
    ///   - content: what the request carries; nil if it is not in memory.
    mutating func value(method: String, target: String, content: [UInt8]?) throws(AuthenticationError) -> String {
        switch scheme {
        case .basic:
            return try BasicAuthentication.authorization(credentials)
        case .digest(var digest):
            defer { scheme = .digest(digest) }
            return try digest.authorization(method: method, target: target, content: content)
        }
    }

    /// Takes up a challenge that only says that the nonce was too old (RFC 7616 §3.3, `stale`): the same name and password
    /// are good for another try, and nobody is asked. False: it says something else.
    mutating func renew(_ question: ChallengeQuestion) -> Bool {
        guard case .digest = scheme, question.space == space, let challenge = DigestChallenge(question.challenge),
            challenge.isStale
        else { return false }
        scheme = .digest(DigestAuthentication(challenge, credentials))
        return true
    }

    /// Takes up what a response to an authorized request says (RFC 7616 §3.5).
    mutating func note(_ fields: HTTPFields) {
        guard case .digest(var digest) = scheme, let information = fields.joined(side.informationField) else { return }
        digest.note(information: information)
        scheme = .digest(digest)
    }
}

/// What of an ``Authorizer`` went along with a request.
struct SentAuthorization: Sendable {
    let value: String
    /// For what it is good.
    let space: ProtectionSpace
    let credentials: Credentials

    init(value: String, by authorizer: Authorizer) {
        self.value = value
        space = authorizer.space
        credentials = authorizer.credentials
    }
}

/// Where a credential is sent unasked.
struct AuthorizationScope: Hashable, Sendable {
    /// Beginnings of paths on the server that asked; "/" is all of it.
    let paths: [String]

    /// RFC 7617 §2.2: what lies at or below the last folder of the path.
    static func folder(of url: URL) -> AuthorizationScope {
        let path = path(of: url)
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return AuthorizationScope(paths: [path.isEmpty ? "/" : String(path[...end])])
    }

    /// RFC 7616 §3.3, `domain`: those it names, or without it the whole server. It may name other servers, too; what one
    /// server says does not send a user's answers to another.
    static func domain(_ list: String?, _ url: URL) -> AuthorizationScope {
        let base = URIReference(Array(url.absoluteString.utf8))
        let found: [String] = (list ?? "").split(separator: " ").compactMap { part in
            let target = URIReference(Array(part.utf8)).resolved(against: base)
            guard let other = URL(string: String(decoding: target.bytes, as: UTF8.self)),
                WebOrigin(other) == WebOrigin(url)
            else { return nil }
            return path(of: other)
        }
        let names = list?.contains { $0 != " " } == true
        return AuthorizationScope(paths: names ? found : ["/"])
    }

    /// How much of the URL's path it covers, in octets; nil for nothing. What covers more is meant more.
    func covers(_ url: URL) -> Int? {
        let path = Self.path(of: url)
        return paths.filter { path.hasPrefix($0) }.map(\.utf8.count).max()
    }

    /// Without dot segments, which would lead out of a folder; encoded as it came.
    private static func path(of url: URL) -> String {
        let reference = URIReference(Array(url.absoluteString.utf8))
        let path = URIReference.withoutDotSegments(reference.path)
        return path.isEmpty ? "/" : String(decoding: path, as: UTF8.self)
    }
}
