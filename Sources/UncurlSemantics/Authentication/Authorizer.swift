public import UncurlHTTP1
package import UncurlTLS

/// Answers one server's or proxy's questions with one user's name and password, request after request.
public struct Authorizer: Sendable {
    /// The side whose questions it answers.
    public let side: ChallengeAuthenticator.Side
    /// The protection space it answers for.
    public let space: ProtectionSpace
    /// The paths to which it may be sent before a server has asked: prefixes of paths on the server that asked; "/" is
    /// the whole server.
    public let paths: [String]
    /// The user name and password that it answers with.
    public let credentials: Credentials
    /// Nil for Basic.
    private var digest: DigestAuthentication?

    /// Makes an authorizer; nil if no name and password can answer the question.
    ///
    /// - Parameters:
    ///   - question: the question.
    ///   - credentials: the answer to it.
    ///   - url: the URL of the request that was refused; unused for proxies.
    public init?(_ question: ChallengeQuestion, _ credentials: Credentials, url: WebURL) {
        side = question.side
        space = question.space
        self.credentials = credentials
        if question.space.scheme == .basic {
            paths = Self.folder(of: url)
        } else if let challenge = DigestChallenge(question.challenge) {
            digest = DigestAuthentication(challenge, credentials)
            paths = Self.domain(question.challenge.parameters["domain"], url)
        } else {
            return nil
        }
    }

    /// Makes an authorizer for a server that has not asked: by Basic, for all its paths. Nil for a URL without an
    /// origin.
    package init?(unasked credentials: Credentials, for url: WebURL) {
        guard let origin = url.origin else { return nil }
        side = .origin
        space = ProtectionSpace(
            host: origin.host,
            port: origin.port,
            side: .origin,
            isSecure: origin.isSecure,
            realm: nil,
            scheme: .basic
        )
        paths = ["/"]
        self.credentials = credentials
    }

    /// Returns the value for the next request's ``ChallengeAuthenticator/Side/credentialsField``. A Digest answer
    /// increments a count, so each request takes its own.
    ///
    /// - Parameters:
    ///   - method: exactly as sent.
    ///   - target: the request-target exactly as sent.
    ///   - content: the request's content; nil if it is not in memory.
    public mutating func value(method: String, target: String, content: [UInt8]?) throws(AuthenticationError) -> String
    {
        String(decoding: try octets(method: method, target: target, content: content), as: UTF8.self)
    }

    /// The same in octets: a Digest answer repeats the server's own, which may be no UTF-8.
    mutating func octets(method: String, target: String, content: [UInt8]?) throws(AuthenticationError) -> [UInt8] {
        if let octets = try digest?.octets(method: method, target: target, content: content) { return octets }
        return Array(try credentials.basicAuthorization().utf8)
    }

    /// The hash function for content that is not in memory, needed for the next value; nil if no hash is needed.
    package var contentDigest: MessageDigest? { digest?.contentDigest }

    /// Takes the hash of the next request's content, made by ``contentDigest``. One value uses it up.
    package mutating func take(contentHash: [UInt8]?) { digest?.take(contentHash: contentHash) }

    /// Takes a challenge that only says that the nonce was too old (RFC 7616 §3.3, `stale`): the same name and password
    /// may be tried again, and the user is not asked. Returns false if it says something else.
    public mutating func renew(_ question: ChallengeQuestion) -> Bool {
        guard digest != nil, question.space == space, let challenge = DigestChallenge(question.challenge),
            challenge.isStale
        else { return false }
        digest = DigestAuthentication(challenge, credentials)
        return true
    }

    /// Takes what a response to an authorized request says (RFC 7616 §3.5).
    public mutating func note(_ fields: HTTPFields) { digest?.note(fields, side) }
}

/// The part of an ``Authorizer`` that was sent with a request. It is an object: few requests have one, and those
/// without it stay small.
public final class SentAuthorization: Sendable {
    /// The value of the Authorization field.
    public var value: String { String(decoding: octets, as: UTF8.self) }
    /// The octets of ``value``, which are sent.
    package let octets: [UInt8]
    /// The space that it is for.
    public let space: ProtectionSpace
    /// The user name and password that it proves.
    public let credentials: Credentials

    /// Makes the record of a value that was sent.
    public convenience init(value: String, by authorizer: Authorizer) {
        self.init(octets: Array(value.utf8), by: authorizer)
    }

    init(octets: [UInt8], by authorizer: Authorizer) {
        self.octets = octets
        space = authorizer.space
        credentials = authorizer.credentials
    }
}

/// The paths to which credentials are sent without a challenge.
extension Authorizer {
    /// Returns the paths of Basic (RFC 7617 §2.2): everything at or below the last folder of the path.
    static func folder(of url: WebURL) -> [String] {
        let path = url.cleanPath
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return [path.isEmpty ? "/" : String(path[...end])]
    }

    /// Returns the paths of Digest (RFC 7616 §3.3, `domain`): the URLs that it names, or without it the whole server.
    /// It may name other servers too; those are ignored, since one server must not send a user's answers to another. A
    /// list of more than 32 URLs, or with paths of more than 8 KiB, counts as none.
    static func domain(_ list: String?, _ url: WebURL) -> [String] {
        let wholeServer = ["/"]
        let references = (list ?? "").utf8.split(separator: UInt8(ascii: " "))
        guard !references.isEmpty, references.count <= referenceLimit else { return wholeServer }
        let base = url.reference
        var paths: [String] = []
        var length = 0
        for reference in references {
            let other = WebURL(URIReference(Array(reference)).resolved(against: base))
            guard other.origin == url.origin else { continue }
            let path = other.cleanPath
            length += path.utf8.count
            guard length <= lengthLimit else { return wholeServer }
            paths.append(path)
        }
        return paths
    }

    /// The most URLs of a `domain` that are read. Each relative one repeats the request's path, which may be long.
    private static let referenceLimit = 32
    /// The most octets of their paths together. They are kept, and compared with the path of each later request.
    private static let lengthLimit = 8192

    /// Returns how much of the URL's path they cover, in octets; nil for nothing. The authorizer whose paths cover more
    /// is preferred.
    static func covered(of url: WebURL, by paths: [String]) -> Int? {
        let path = url.cleanPath
        return paths.filter { path.hasPrefix($0) }.map(\.utf8.count).max()
    }
}
