public import Foundation
internal import UncurlTLS

/// A certificate with its private key, for servers that ask for one: Linux's counterpart of `SecIdentity`. It never
/// changes; any thread.
public final class URLClientIdentity: Sendable {
    private let identity: ClientIdentity

    /// Reads PEM.
    ///
    /// - Parameters:
    ///   - certificates: PEM, the identity's own certificate first, then those between it and its root.
    ///   - key: PEM; nil if the key is among `certificates`.
    ///   - password: the password of an encrypted key.
    public init(pem certificates: Data, key: Data? = nil, password: String? = nil) throws {
        identity = try Self.make { () throws(CertificateError) in
            try ClientIdentity(pem: Array(certificates), key: key.map { Array($0) }, password: password)
        }
    }

    /// Reads PEM files, which blocks.
    public init(pemFile: URL, keyFile: URL? = nil, password: String? = nil) throws {
        identity = try Self.make { () throws(CertificateError) in
            try ClientIdentity(pemFile: pemFile.path, keyFile: keyFile?.path, password: password)
        }
    }

    /// Reads PKCS #12.
    ///
    /// - Parameters:
    ///   - pkcs12: a PKCS #12 file (RFC 7292), usually with the extension `.p12` or `.pfx`.
    ///   - password: nil for a file without one.
    public init(pkcs12: Data, password: String?) throws {
        identity = try Self.make { () throws(CertificateError) in
            try ClientIdentity(pkcs12: Array(pkcs12), password: password)
        }
    }

    /// Reads a PKCS #12 file, which blocks.
    public init(pkcs12File: URL, password: String?) throws {
        identity = try Self.make { () throws(CertificateError) in
            try ClientIdentity(pkcs12File: pkcs12File.path, password: password)
        }
    }

    /// The certificates in DER, the identity's own first.
    public var certificates: [Data] { identity.chain.map { Data($0.der) } }

    /// The reason why an identity cannot be used.
    public struct Unusable: Error, Hashable, Sendable, CustomStringConvertible {
        /// The fault, in words.
        public let description: String
    }

    /// - Parameter intermediates: in DER; nil sends those that the identity came with.
    func tlsIdentity(sending intermediates: [Data]?) throws(Unusable) -> ClientIdentity {
        guard let intermediates else { return identity }
        do throws(CertificateError) {
            return identity.sending(
                try intermediates.map { der throws(CertificateError) in try Certificate(der: Array(der)) }
            )
        } catch {
            throw Unusable(description: error.description)
        }
    }

    private static func make(
        _ body: () throws(CertificateError) -> ClientIdentity
    ) throws(Unusable) -> ClientIdentity {
        do throws(CertificateError) { return try body() } catch { throw Unusable(description: error.description) }
    }
}

extension URLClientIdentity: Hashable {
    /// Whether both have the same certificates.
    public static func == (left: URLClientIdentity, right: URLClientIdentity) -> Bool {
        left.identity == right.identity
    }
    /// Hashes the certificates.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

extension URLClientIdentity.Unusable: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}
