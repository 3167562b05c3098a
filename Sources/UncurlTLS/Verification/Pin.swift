import UncurlText

/// A key, or a certificate, that must be among the peer's. The text is `sha256//BASE64` for the SHA-256 of a
/// SubjectPublicKeyInfo (RFC 7469 §2.4) and `cert-sha256//BASE64` for that of a whole certificate. A text with one
/// slash is read too: curl writes two, and OkHttp and most others write one.
public struct Pin: Hashable, Sendable, CustomStringConvertible {
    /// The part of a certificate that the digest is of.
    public enum Subject: Hashable, Sendable {
        /// Its SubjectPublicKeyInfo: the pin outlives a certificate that is renewed with the same key.
        case publicKey
        /// The whole certificate.
        case certificate
    }

    /// Which certificates may match.
    public enum Scope: Hashable, Sendable {
        /// The peer's own certificate.
        case leaf
        /// Any certificate of the verified chain, the root included. This pins an authority.
        case chain
    }

    /// The part of a certificate that the digest is of.
    public let subject: Subject
    /// Which certificates may match.
    public let scope: Scope
    /// The digest, 32 octets.
    public let sha256: [UInt8]

    /// Makes a pin from its digest. It throws unless that has 32 octets.
    public init(sha256: [UInt8], subject: Subject = .publicKey, scope: Scope = .leaf) throws(PinError) {
        guard sha256.count == 32 else { throw .digestLength(sha256.count) }
        self.sha256 = sha256
        self.subject = subject
        self.scope = scope
    }

    /// Reads a pin from its text: `sha256//BASE64` or `cert-sha256//BASE64`.
    public init(_ text: String, scope: Scope = .leaf) throws(PinError) {
        for (mark, subject) in [("sha256/", Subject.publicKey), ("cert-sha256/", .certificate)]
        where text.utf8.starts(with: mark.utf8) {
            guard let digest = Pin.digest(text.utf8.dropFirst(mark.utf8.count)) else { throw .notBase64(text) }
            try self.init(sha256: digest, subject: subject, scope: scope)
            return
        }
        throw .unknownForm(text)
    }

    /// Reads a digest. A slash at the start belongs either to the mark or to the base64: only one of the two readings
    /// gives the length of a digest.
    private static func digest(_ text: Substring.UTF8View) -> [UInt8]? {
        let behindSlash =
            text.first == UInt8(ascii: "/") ? Base64.decodeCanonical(Substring(text.dropFirst())) : nil
        if let behindSlash, behindSlash.count == 32 { return behindSlash }
        return Base64.decodeCanonical(Substring(text)) ?? behindSlash
    }

    /// Reads pins with semicolons between them. One that cannot be read is an error, and is never left out.
    public static func list(_ text: String, scope: Scope = .leaf) throws(PinError) -> [Pin] {
        var pins: [Pin] = []
        for part in text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
            pins.append(try Pin(String(Substring(part)), scope: scope))
        }
        return pins
    }

    public var description: String {
        (subject == .publicKey ? "sha256//" : "cert-sha256//") + Base64.encode(sha256)
    }

    func matches(_ chain: VerifiedChain) -> Bool {
        let digests = subject == .publicKey ? chain.spkiSHA256 : chain.certificateSHA256
        switch scope {
        case .leaf: return digests.first == sha256
        case .chain: return digests.contains(sha256)
        }
    }

    /// Checks the pins. Returns nil if one matches or there are none.
    static func failure(_ pins: [Pin], _ chain: VerifiedChain) -> TLSTrustFailure? {
        if pins.isEmpty || pins.contains(where: { $0.matches(chain) }) { return nil }
        let leaf = "sha256//" + Base64.encode(chain.spkiSHA256.first ?? [])
        return TLSTrustFailure(reason: .pinMismatch(leaf: leaf), code: TLSTrustFailure.applicationCode)
    }
}

/// The error for a pin that cannot be read.
public enum PinError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text begins with neither mark.
    case unknownForm(String)
    /// What follows the mark is no Base64.
    case notBase64(String)
    /// The digest has this number of octets instead of 32.
    case digestLength(Int)

    public var description: String {
        switch self {
        case .unknownForm(let text): "“\(text)” begins with neither sha256/ nor cert-sha256/"
        case .notBase64(let text): "“\(text)” is no base64 after its mark"
        case .digestLength(let count): "a SHA-256 digest has 32 octets, not \(count)"
        }
    }
}
