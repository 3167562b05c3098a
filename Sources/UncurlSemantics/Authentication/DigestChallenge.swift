internal import UncurlHTTP1
internal import UncurlTLS

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
