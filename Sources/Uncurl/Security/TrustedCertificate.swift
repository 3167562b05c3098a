internal import TLS
public import URLLoading

/// A certificate that the program brings along, to pin or to trust. It has been read when it is made: one that cannot
/// be is an error then, and never a pin that is silently missing.
public struct TrustedCertificate: Sendable {
    /// The certificate in DER.
    public let der: Data
    let certificate: Certificate
    let sha256: [UInt8]
    /// What the mode ``SecurityPolicy/PinningMode/publicKey`` compares.
    public let publicKey: PublicKeyPin
    /// In the form of RFC 4514.
    public let subject: String

    init(_ certificate: Certificate) {
        let facts = CertificateFacts(certificate)
        self.certificate = certificate
        der = Data(certificate.der)
        sha256 = facts.sha256
        publicKey = PublicKeyPin(digest: facts.spkiSHA256)
        subject = facts.subject
    }

    /// Exactly one, in DER.
    public init(der: Data) throws(TrustedCertificateError) {
        do throws(CertificateError) { self.init(try Certificate(der: Array(der))) } catch {
            throw .unreadable(nil, reason: "\(error)")
        }
    }

    /// Any number in PEM, or one in DER.
    public static func all(in data: Data) throws(TrustedCertificateError) -> [TrustedCertificate] {
        try all(in: data, from: nil)
    }

    /// Any number in PEM.
    public static func all(inPEM text: String) throws(TrustedCertificateError) -> [TrustedCertificate] {
        try all(in: Data(text.utf8), from: nil)
    }

    /// Any number in PEM, or one in DER. Blocks.
    public static func all(inFile file: URL) throws(TrustedCertificateError) -> [TrustedCertificate] {
        let data: Data
        do { data = try Data(contentsOf: file) } catch {
            throw .unreadable(file, reason: error.localizedDescription)
        }
        return try all(in: data, from: file)
    }

    /// The names under which certificates are kept in folders.
    public static let fileExtensions: Set<String> = ["cer", "crt", "der", "pem"]

    /// The files of the folder, not of those in it, that end in ``fileExtensions``, in their names' order. Each must
    /// hold a certificate, and there must be one. Blocks.
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

    /// Reads the certificates among a bundle's resources. It waits for the disk.
    public static func all(in bundle: Bundle) throws(TrustedCertificateError) -> [TrustedCertificate] {
        try all(inDirectory: bundle.resourceURL ?? bundle.bundleURL)
    }

    private static func all(in data: Data, from file: URL?) throws(TrustedCertificateError) -> [TrustedCertificate] {
        do throws(CertificateError) {
            return try Certificate.all(inPEM: Array(data)).map { TrustedCertificate($0) }
        } catch .none {
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

extension TrustedCertificate: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(der: decoder.singleValueContainer().decode(Data.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(der)
    }
}

/// Certificates that could not be had. The URL is nil for what was in memory.
@frozen public enum TrustedCertificateError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    /// The file or the data cannot be read, or is no certificate.
    case unreadable(URL?, reason: String)
    /// The place holds no certificate.
    case none(URL?)

    public var description: String {
        switch self {
        case .unreadable(let place, let reason): "\(place?.path ?? "(in memory)"): \(reason)"
        case .none(let place): "\(place?.path ?? "(in memory)"): there is no certificate in it"
        }
    }

    public var errorDescription: String? { description }
}
