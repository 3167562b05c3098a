import UncurlText

/// A key, or a certificate, that must be among the peer's. The text is `sha256//BASE64` for the SHA-256 of a
/// SubjectPublicKeyInfo (RFC 7469 §2.4) and `cert-sha256//BASE64` for that of a whole certificate. A text with one
/// slash is read too: curl writes two, and OkHttp and most others write one.
public struct Pin: Hashable, Sendable, CustomStringConvertible {
    /// Whether the digest is of the whole certificate. If not, it is of its SubjectPublicKeyInfo: such a pin outlives a
    /// certificate that is renewed with the same key.
    public let isOfCertificate: Bool
    /// Whether any certificate of the verified chain may match, the root included, which pins an authority. If not, the
    /// peer's own must.
    public let isForChain: Bool
    /// The digest, 32 octets.
    public let sha256: [UInt8]

    /// Makes a pin from its digest. It throws unless that has 32 octets.
    public init(sha256: [UInt8], isOfCertificate: Bool = false, isForChain: Bool = false) throws(PinError) {
        guard sha256.count == 32 else { throw .digestLength(sha256.count) }
        self.sha256 = sha256
        self.isOfCertificate = isOfCertificate
        self.isForChain = isForChain
    }

    /// Reads a pin from its text: `sha256//BASE64` or `cert-sha256//BASE64`.
    public init(_ text: String, isForChain: Bool = false) throws(PinError) {
        for (mark, isOfCertificate) in [("sha256/", false), ("cert-sha256/", true)]
        where text.utf8.starts(with: mark.utf8) {
            guard let digest = Pin.digest(text.utf8.dropFirst(mark.utf8.count)) else { throw .notBase64(text) }
            try self.init(sha256: digest, isOfCertificate: isOfCertificate, isForChain: isForChain)
            return
        }
        throw .unknownForm(text)
    }

    /// Reads a digest. A slash at the start belongs either to the mark or to the base64: only one of the two readings
    /// gives the length of a digest.
    private static func digest(_ text: Substring.UTF8View) -> [UInt8]? {
        let behindSlash =
            text.first == UInt8(ascii: "/") ? canonicalBase64Octets(Substring(text.dropFirst())) : nil
        if let behindSlash, behindSlash.count == 32 { return behindSlash }
        return canonicalBase64Octets(Substring(text)) ?? behindSlash
    }

    /// Reads pins with semicolons between them. One that cannot be read is an error, and is never left out.
    public static func list(_ text: String, isForChain: Bool = false) throws(PinError) -> [Pin] {
        var pins: [Pin] = []
        for part in text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
            pins.append(try Pin(String(Substring(part)), isForChain: isForChain))
        }
        return pins
    }

    public var description: String {
        (isOfCertificate ? "cert-sha256//" : "sha256//") + base64Text(sha256)
    }

    func matches(_ chain: VerifiedChain) -> Bool {
        let digests = isOfCertificate ? chain.certificateSHA256 : chain.spkiSHA256
        return isForChain ? digests.contains(sha256) : digests.first == sha256
    }

    /// Checks the pins. Returns nil if one matches or there are none.
    static func failure(_ pins: [Pin], _ chain: VerifiedChain) -> TLSTrustFailure? {
        if pins.isEmpty || pins.contains(where: { $0.matches(chain) }) { return nil }
        let leaf = "sha256//" + base64Text(chain.spkiSHA256.first ?? [])
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
