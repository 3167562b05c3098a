public import URLLoading
internal import UncurlTLS

/// A public key, as the SHA-256 of its SubjectPublicKeyInfo (RFC 7469 §2.4). It is written as `sha256//` and Base64, as
/// in `curl --pinnedpubkey`. The form with one slash, which OkHttp uses, is read too.
public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    let digest: [UInt8]

    init(digest: [UInt8]) { self.digest = digest }

    /// - Throws: ``PublicKeyPinError`` with a description of what is wrong with the text.
    public init(_ text: String) throws(PublicKeyPinError) {
        do throws(PinError) {
            let pin = try Pin(text)
            guard pin.subject == .publicKey else { throw PinError.unknownForm(text) }
            digest = pin.sha256
        } catch {
            throw PublicKeyPinError(description: "\(error)")
        }
    }

    public var description: String { (try? Pin(sha256: digest).description) ?? "none" }
}

/// The error for a text that is not a pin.
public struct PublicKeyPinError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    public var errorDescription: String? { description }
}

extension PublicKeyPin: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
