internal import UncurlHTTP1
package import UncurlTLS
import UncurlText

/// Answers one Digest challenge, request after request (RFC 7616 §3.4; RFC 2069 §2.1.2 if the challenge is that old).
///
/// A challenge is valid until the next one; each answer increments a count (`nc`), so that none can be replayed.
public struct DigestAuthentication: Sendable {
    /// The challenge that it answers.
    public let challenge: DigestChallenge
    private let credentials: Credentials
    private var nonce: [UInt8]
    private var count: UInt32 = 0
    private var clientNonce = DigestAuthentication.randomNonce()
    /// §3.4.2: the secret of a session algorithm is made once, with the nonces of its first request.
    private var secret: String?
    /// The hash of the next request's content, if that is not in memory.
    private var contentHash: [UInt8]?

    /// Makes the answers to that challenge with those credentials; the first answer counts 1.
    public init(_ challenge: DigestChallenge, _ credentials: Credentials) {
        self.challenge = challenge
        self.credentials = credentials
        nonce = challenge.nonceOctets
    }

    /// Returns the value of an Authorization or Proxy-Authorization field for one request.
    ///
    /// - Parameters:
    ///   - method: exactly as sent.
    ///   - target: the request-target exactly as sent.
    ///   - content: the request's content; nil if it is not in memory.
    public mutating func authorization(
        method: String,
        target: String,
        content: [UInt8]?
    ) throws(AuthenticationError) -> String {
        String(decoding: try octets(method: method, target: target, content: content), as: UTF8.self)
    }

    /// The same in octets: what is the server's goes back as it came, also where it is no UTF-8 (RFC 9110 §5.5).
    mutating func octets(method: String, target: String, content: [UInt8]?) throws(AuthenticationError) -> [UInt8] {
        defer { contentHash = nil }
        try credentials.checkControls()
        count &+= 1
        let secret = if let secret { secret } else { try makeSecret() }
        if challenge.isSession { self.secret = secret }
        let request = try hash(try describe(method, target, content))
        let response: String
        var counted: [UInt8]?
        if let protection {
            let digits = String(count, radix: 16)
            let number = String(repeating: "0", count: 8 - digits.count) + digits
            response = try hash(around(nonce, "\(secret):", ":\(number):\(clientNonce):\(protection):\(request)"))
            counted = Array("nc=\(number), cnonce=\"\(clientNonce)\", qop=\(protection)".utf8)
        } else {
            response = try hash(around(nonce, "\(secret):", ":\(request)"))
        }
        // §3.4: algorithm, qop and nc are written without quotes, all else with them; the order is that of its
        // examples.
        let parts: [[UInt8]?] = [
            try user(), quoted("realm", challenge.realmOctets), quoted("uri", Array(target.utf8)),
            challenge.algorithmName.map { Array("algorithm=\($0)".utf8) }, quoted("nonce", nonce), counted,
            quoted("response", Array(response.utf8)), challenge.opaqueOctets.map { quoted("opaque", $0) },
            challenge.hashesUser ? Array("userhash=true".utf8) : nil,
        ]
        return Array("Digest ".utf8) + parts.compactMap(\.self).joined(separator: Array(", ".utf8))
    }

    /// Takes an Authentication-Info or Proxy-Authentication-Info field (§3.5): the nonce to use next.
    public mutating func note(information field: String) { note(information: Array(field.utf8)) }

    /// Takes those fields of a response.
    mutating func note(_ fields: HTTPFields, _ side: ChallengeAuthenticator.Side) {
        let lines = fields.octets(of: side.informationField)
        if !lines.isEmpty { note(information: Array(lines.joined(separator: Array(", ".utf8)))) }
    }

    mutating func note(information field: [UInt8]) {
        // The grammar is that of a challenge, without the scheme.
        let information = AuthenticationChallenge.all(inLine: Array("digest ".utf8) + field).first
        guard let next = information?.octets(of: "nextnonce"), next != nonce else { return }
        nonce = next
        count = 0
        clientNonce = DigestAuthentication.randomNonce()
    }

    /// The hash function for content that is not in memory, needed for the next answer; nil if no hash is needed.
    package var contentDigest: MessageDigest? {
        challenge.protection == .content ? challenge.algorithm.function : nil
    }

    /// Takes the hash of the next request's content, made by ``contentDigest``. One answer uses it up.
    package mutating func take(contentHash: [UInt8]?) { self.contentHash = contentHash }

    /// Sets the client's nonce, for the specifications' examples.
    mutating func use(clientNonce: String) { self.clientNonce = clientNonce }

    private var protection: String? {
        switch challenge.protection {
        case .legacy: nil
        case .request: "auth"
        case .content: "auth-int"
        }
    }

    /// Returns H(A1) (§3.4.2).
    private func makeSecret() throws(AuthenticationError) -> String {
        let secret = try hash(around(challenge.realmOctets, "\(credentials.user):", ":\(credentials.password)"))
        return challenge.isSession ? try hash(around(nonce, "\(secret):", ":\(clientNonce)")) : secret
    }

    /// Returns A2 (§3.4.3).
    private func describe(_ method: String, _ target: String, _ content: [UInt8]?) throws(AuthenticationError) -> String
    {
        guard challenge.protection == .content else { return "\(method):\(target)" }
        if let content { return "\(method):\(target):\(try hash(content))" }
        guard let contentHash else { throw .contentNeeded }
        return "\(method):\(target):\(hexText(contentHash))"
    }

    private func user() throws(AuthenticationError) -> [UInt8] {
        if challenge.hashesUser {
            return quoted("username", Array(try hash(around(challenge.realmOctets, "\(credentials.user):", "")).utf8))
        }
        // §3.4 with RFC 8187 §3.2.1, if the server is known to read it.
        if challenge.isUTF8, !credentials.user.utf8.allSatisfy({ $0 < 0x80 }) {
            return Self.extended("username*=UTF-8''", credentials.user)
        }
        return quoted("username", Array(credentials.user.utf8))
    }

    private func hash(_ text: String) throws(AuthenticationError) -> String { try hash(Array(text.utf8)) }

    private func hash(_ bytes: [UInt8]) throws(AuthenticationError) -> String {
        guard let digest = challenge.algorithm.function.hash(bytes.span) else { throw .hashUnavailable }
        return hexText(digest)
    }

    /// Returns the octets between two texts.
    private func around(_ octets: [UInt8], _ before: String, _ after: String) -> [UInt8] {
        Array(before.utf8) + octets + Array(after.utf8)
    }

    /// Returns a parameter with its value in quotes.
    private func quoted(_ name: String, _ value: [UInt8]) -> [UInt8] {
        var result = Array("\(name)=\"".utf8)
        for octet in value {
            if octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\") { result.append(UInt8(ascii: "\\")) }
            result.append(octet)
        }
        return result + [UInt8(ascii: "\"")]
    }

    /// Returns 128 random bits from the system, so that a server that chooses its nonce cannot guess them (§5.11).
    private static func randomNonce() -> String {
        var generator = SystemRandomNumberGenerator()
        return hexText((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// RFC 8187 §3.2.1: attr-char stands for itself.
    private static func extended(_ start: String, _ text: String) -> [UInt8] {
        text.utf8.reduce(into: Array(start.utf8)) { result, byte in
            if byte.isASCIIAlphanumeric { result.append(byte) } else { appendPercentEncoded(byte, to: &result) }
        }
    }
}

/// A Digest challenge that can be answered (RFC 7616 §3.3, and RFC 2069 where it names no `qop`).
public struct DigestChallenge: Hashable, Sendable {
    /// The hash functions of RFC 7616 §3.2, by their names in challenges.
    public enum Algorithm: String, Hashable, Sendable {
        /// The one that every server knows, and the weakest.
        case md5 = "MD5"
        /// SHA-256.
        case sha256 = "SHA-256"
        /// SHA-512, cut to 256 bits.
        case sha512Cut256 = "SHA-512-256"

        var function: MessageDigest {
            switch self {
            case .md5: .md5
            case .sha256: .sha256
            case .sha512Cut256: .sha512Cut256
            }
        }
    }

    /// What a response covers.
    public enum Protection: Hashable, Sendable {
        /// No `qop`: method and target, without a client's nonce.
        case legacy
        /// `auth`: method and target.
        case request
        /// `auth-int` alone: also the content.
        case content
    }

    /// The protection space, in the server's words.
    public let realm: String
    /// The server's nonce, from which the answer is made.
    public let nonce: String
    /// Data that is sent back as it came.
    public let opaque: String?
    /// The hash function of the answer.
    public let algorithm: Algorithm
    /// Whether it is a `-sess` algorithm: its secret depends on the first nonce and on the client's.
    public let isSession: Bool
    /// The `algorithm` as the server wrote it, to be sent back; nil for none.
    let algorithmName: String?
    /// What the answer covers: the least that the server offers.
    public let protection: Protection
    /// Whether the credentials were right and only the nonce was too old.
    public let isStale: Bool
    /// Whether the user's name is to be sent hashed (§3.4.4).
    public let hashesUser: Bool
    /// Whether the server says that names are in UTF-8 (§3.3).
    let isUTF8: Bool
    /// The octets of ``realm``, ``nonce`` and ``opaque``, of which the answer is made.
    let realmOctets: [UInt8]
    let nonceOctets: [UInt8]
    let opaqueOctets: [UInt8]?

    /// Reads a challenge. Nil for another scheme, and for one that cannot be answered: without realm or nonce, with an
    /// unknown algorithm or protection, or with a session algorithm but no client's nonce to make a session with.
    public init?(_ challenge: AuthenticationChallenge) {
        let parameters = challenge.parameters
        guard challenge.scheme == "digest", let realm = challenge.realm, let nonce = parameters["nonce"],
            let realmOctets = challenge.octets(of: "realm"), let nonceOctets = challenge.octets(of: "nonce")
        else { return nil }
        guard var name = (parameters["algorithm"] ?? "MD5").ascii?.uppercased()[...] else { return nil }
        isSession = name.hasSuffix("-SESS")
        if isSession { name = name.dropLast(5) }
        guard let algorithm = Algorithm(rawValue: String(name)) else { return nil }
        if let list = parameters["qop"] {
            let offered = list.utf8.split { ", \t".utf8.contains($0) }.map { Substring($0).ascii?.lowercased() }
            if offered.contains("auth") {
                protection = .request
            } else if offered.contains("auth-int") {
                protection = .content
            } else {
                return nil
            }
        } else {
            guard !isSession else { return nil }
            protection = .legacy
        }
        self.realm = realm
        self.nonce = nonce
        self.algorithm = algorithm
        self.realmOctets = realmOctets
        self.nonceOctets = nonceOctets
        opaque = parameters["opaque"]
        opaqueOctets = challenge.octets(of: "opaque")
        algorithmName = parameters["algorithm"]
        isStale = parameters["stale"]?.ascii?.lowercased() == "true"
        hashesUser = parameters["userhash"]?.ascii?.lowercased() == "true"
        isUTF8 = challenge.isUTF8
    }
}
