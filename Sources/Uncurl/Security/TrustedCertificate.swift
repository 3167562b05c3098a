public import URLLoading
internal import UncurlTLS

/// A certificate that the program provides, to pin or to trust. It is read when the value is made, so an unreadable
/// certificate is an error then, and not a pin that is silently missing.
public struct TrustedCertificate: Sendable {
    /// The certificate in DER.
    public let der: Data
    let certificate: Certificate
    let sha256: [UInt8]
    /// The key that the mode ``SecurityPolicy/PinningMode/publicKey`` compares.
    public let publicKey: PublicKeyPin
    /// The subject, in the form of RFC 4514.
    public let subject: String

    init(_ certificate: Certificate) {
        let facts = CertificateFacts(certificate)
        self.certificate = certificate
        der = Data(certificate.der)
        sha256 = facts.sha256
        publicKey = PublicKeyPin(digest: facts.spkiSHA256)
        subject = facts.subject
    }

    /// Reads exactly one certificate in DER.
    public init(der: Data) throws(TrustedCertificateError) {
        do throws(CertificateError) { self.init(try Certificate(der: Array(der))) } catch {
            throw .unreadable(nil, reason: "\(error)")
        }
    }

    /// Reads any number of certificates in PEM, or one in DER.
    public static func all(in data: Data) throws(TrustedCertificateError) -> [TrustedCertificate] {
        try all(in: data, from: nil)
    }

    /// Reads any number of certificates in PEM.
    public static func all(inPEM text: String) throws(TrustedCertificateError) -> [TrustedCertificate] {
        try all(in: Data(text.utf8), from: nil)
    }

    /// Reads any number of certificates in PEM, or one in DER. Blocks on the disk.
    public static func all(inFile file: URL) throws(TrustedCertificateError) -> [TrustedCertificate] {
        let data: Data
        do { data = try Data(contentsOf: file) } catch {
            throw .unreadable(file, reason: error.localizedDescription)
        }
        return try all(in: data, from: file)
    }

    /// The usual suffixes of certificate files.
    public static let fileExtensions: Set<String> = ["cer", "crt", "der", "pem"]

    /// Reads the files of a folder whose names end in ``fileExtensions``, sorted by name. Subfolders are ignored. Each
    /// file must hold a certificate, and there must be at least one file. Blocks on the disk.
    public static func all(inDirectory directory: URL) throws(TrustedCertificateError) -> [TrustedCertificate] {
        let files: [URL]
        do {
            files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        } catch {
            throw .unreadable(directory, reason: error.localizedDescription)
        }
        var found: [TrustedCertificate] = []
        for file in files.sorted(by: { $0.lastPathComponent < $1.lastPathComponent })
        where fileExtensions.contains(file.pathExtension.lowercased()) {
            found += try all(inFile: file)
        }
        if found.isEmpty { throw .none(directory) }
        return found
    }

    /// Reads the certificates among a bundle's resources. Blocks on the disk.
    public static func all(in bundle: Bundle) throws(TrustedCertificateError) -> [TrustedCertificate] {
        try all(inDirectory: bundle.resourceURL ?? bundle.bundleURL)
    }

    private static func all(in data: Data, from file: URL?) throws(TrustedCertificateError) -> [TrustedCertificate] {
        do throws(CertificateError) {
            return try Certificate.all(inPEM: Array(data)).map { TrustedCertificate($0) }
        } catch .noCertificate {
            throw .none(file)
        } catch {
            throw .unreadable(file, reason: "\(error)")
        }
    }
}

extension TrustedCertificate: Hashable {
    public static func == (left: TrustedCertificate, right: TrustedCertificate) -> Bool { left.der == right.der }
    public func hash(into hasher: inout Hasher) { hasher.combine(der) }
}

extension TrustedCertificate: CustomStringConvertible {
    public var description: String { subject }
}

extension TrustedCertificate: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(der: decoder.singleValueContainer().decode(Data.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(der)
    }
}

/// Why certificates could not be read. The URL is nil for data in memory.
@frozen public enum TrustedCertificateError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    /// The file or the data cannot be read, or holds something other than a certificate.
    case unreadable(URL?, reason: String)
    /// The folder, the bundle or the data holds no certificate.
    case none(URL?)

    public var description: String {
        switch self {
        case .unreadable(let place, let reason): "\(place?.path ?? "(in memory)"): \(reason)"
        case .none(let place): "\(place?.path ?? "(in memory)"): there is no certificate in it"
        }
    }

    public var errorDescription: String? { description }
}

/// A public key, as the SHA-256 of its SubjectPublicKeyInfo (RFC 7469 §2.4). It is written as `sha256//` and Base64, as
/// in `curl --pinnedpubkey`. The form with one slash, which OkHttp uses, is read too.
public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    let digest: [UInt8]

    init(digest: [UInt8]) { self.digest = digest }

    /// - Throws: ``PublicKeyPinError`` with a description of what is wrong with the text.
    public init(_ text: String) throws(PublicKeyPinError) {
        do throws(PinError) {
            let pin = try Pin(text)
            guard !pin.isOfCertificate else { throw PinError.unknownForm(text) }
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

/// Certificate revocation lists (RFC 5280 §5) that the program provides. Neither lists nor OCSP responses are
/// downloaded: a policy decides at once, with the lists that it has.
public struct RevocationList: Sendable, Hashable {
    /// The lists in DER or PEM, as the program gave them.
    public let data: Data

    /// - Parameter data: one list in DER, or any number in PEM. It is read at once.
    public init(_ data: Data) throws(TrustedCertificateError) {
        do throws(CertificateError) { _ = try RevocationLists(Array(data)) } catch {
            throw .unreadable(nil, reason: "\(error)")
        }
        self.data = data
    }

    /// Reads the lists of a file. Blocks on the disk.
    public init(file: URL) throws(TrustedCertificateError) {
        let data: Data
        do { data = try Data(contentsOf: file) } catch {
            throw .unreadable(file, reason: error.localizedDescription)
        }
        do throws(TrustedCertificateError) { try self.init(data) } catch {
            if case .unreadable(_, let reason) = error { throw .unreadable(file, reason: reason) }
            throw error
        }
    }

    /// All lists in one.
    static func joined(_ lists: [RevocationList]) throws(CertificateError) -> RevocationLists {
        if lists.count == 1 { return try RevocationLists(Array(lists[0].data)) }
        var text: [UInt8] = []
        for list in lists { text += list.pem }
        return try RevocationLists(text)
    }

    private var pem: [UInt8] {
        guard data.first == 0x30 else { return Array(data) + [UInt8(ascii: "\n")] }
        let lines = data.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Array("-----BEGIN X509 CRL-----\n\(lines)\n-----END X509 CRL-----\n".utf8)
    }
}

extension RevocationList: Codable {
    public init(from decoder: any Decoder) throws { try self.init(decoder.singleValueContainer().decode(Data.self)) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(data)
    }
}
