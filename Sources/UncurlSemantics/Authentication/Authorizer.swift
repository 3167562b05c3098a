public import UncurlHTTP1
package import UncurlTLS
import UncurlText

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
    public init?(_ question: ChallengeQuestion, _ credentials: Credentials, url: HTTPURL) {
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

    /// Makes an authorizer for a server that has not asked: by Basic, for all its paths.
    package init(unasked credentials: Credentials, for url: HTTPURL) {
        let origin = url.origin
        side = .origin
        space = ProtectionSpace(
            host: origin.host,
            port: Int(origin.port),
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
    static func folder(of url: HTTPURL) -> [String] {
        let path = url.cleanPath
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return [path.isEmpty ? "/" : String(path[...end])]
    }

    /// Returns the paths of Digest (RFC 7616 §3.3, `domain`): the URLs that it names, or without it the whole server.
    /// It may name other servers too; those are ignored, since one server must not send a user's answers to another. A
    /// list of more than 32 URLs, or with paths of more than 8 KiB, counts as none.
    static func domain(_ list: String?, _ url: HTTPURL) -> [String] {
        let wholeServer = ["/"]
        let references = (list ?? "").utf8.split(separator: UInt8(ascii: " "))
        guard !references.isEmpty, references.count <= referenceLimit else { return wholeServer }
        let base = URIReference(url.description)
        var paths: [String] = []
        var length = 0
        for reference in references {
            let other = URIReference(Array(reference)).resolved(against: base)
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
    static func covered(of url: HTTPURL, by paths: [String]) -> Int? {
        let path = url.cleanPath
        return paths.filter { path.hasPrefix($0) }.map(\.utf8.count).max()
    }
}

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

/// A user name and a password, for Basic and Digest authentication and for SOCKS5.
public struct Credentials: Hashable, Sendable {
    /// The user name; it may be empty.
    public let user: String
    /// The password; it may be empty.
    public let password: String

    /// Makes credentials of any text; a scheme refuses what it cannot carry.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Neither name nor password: descriptions end up in logs.
    public var description: String { "Credentials(…)" }
    /// As `description`.
    public var debugDescription: String { description }
    /// No children: reflection ends up in logs too.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why no credentials could be written for a challenge.
public enum AuthenticationError: Error, Hashable, Sendable {
    /// The user name or the password holds a control character (RFC 7617 §2, RFC 7616 §3.4).
    case controlCharacter
    /// The user name holds a colon, at which Basic would end it (RFC 7617 §2).
    case colonInUser
    /// The challenge protects the content too (`qop=auth-int`), which is not in memory.
    case contentNeeded
    /// The system's OpenSSL refuses the hash function (MD5 under FIPS).
    case hashUnavailable
}

extension AuthenticationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .controlCharacter: "user name or password hold a control character"
        case .colonInUser: "a user name for Basic authentication cannot hold a colon"
        case .contentNeeded: "the challenge wants the content hashed, which is not in memory"
        case .hashUnavailable: "the system's OpenSSL refuses the hash function of the challenge"
        }
    }
}

extension Credentials {
    /// Throws for control characters: RFC 7617 §2 forbids them, and a line end would begin a second field.
    func checkControls() throws(AuthenticationError) {
        let isControl: (UInt8) -> Bool = { $0 < 0x20 || $0 == 0x7F }
        guard !user.utf8.contains(where: isControl), !password.utf8.contains(where: isControl) else {
            throw .controlCharacter
        }
    }
}

extension Credentials {
    /// Returns the value of an Authorization or Proxy-Authorization field by the Basic scheme (RFC 7617): name and
    /// password, readable by all that can read the connection. They are in UTF-8: servers that name a charset ask for
    /// it (§2.1), and most others take it.
    public func basicAuthorization() throws(AuthenticationError) -> String {
        try checkControls()
        guard !user.utf8.contains(UInt8(ascii: ":")) else { throw .colonInUser }
        return "Basic " + base64Text(Array("\(user):\(password)".utf8))
    }
}
