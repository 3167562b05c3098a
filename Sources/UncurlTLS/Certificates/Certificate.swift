internal import CUncurlOpenSSL

/// One X.509 certificate as OpenSSL read it. It never changes after its initialisation, so any thread may read it.
@safe public final class Certificate: Sendable {
    private let address: UInt

    /// OpenSSL's certificate, borrowed from this object.
    var pointer: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    /// Reads exactly one certificate in DER. Octets after it are an error.
    public init(der: [UInt8]) throws(CertificateError) {
        guard OpenSSLStart.made else { throw .malformed("OpenSSL does not start") }
        ERR_clear_error()
        let parsed = unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            guard let made = unsafe d2i_X509(nil, &cursor, buffer.count) else { return nil }
            if unsafe cursor == buffer.baseAddress.map({ unsafe $0 + buffer.count }) { return unsafe made }
            unsafe X509_free(made)
            return nil
        }
        guard let parsed = unsafe parsed else { throw .malformed(OpenSSLErrors.take().text) }
        address = UInt(bitPattern: parsed)
    }

    /// Takes over the caller's reference.
    init(adopting pointer: OpaquePointer) { address = UInt(bitPattern: pointer) }

    /// Adds a reference to the certificate, which stays its owner's.
    init(retaining pointer: OpaquePointer) {
        _ = unsafe X509_up_ref(pointer)
        address = UInt(bitPattern: pointer)
    }

    deinit { unsafe X509_free(pointer) }

    /// The certificate in DER.
    public var der: [UInt8] { unsafe encodedDER { unsafe i2d_X509(pointer, $0) } }

    /// Reads every certificate of a PEM text, in order. It skips text between the blocks, as RFC 7468 §2 allows.
    public static func all(inPEM text: [UInt8]) throws(CertificateError) -> [Certificate] {
        let parsed = PEMReader.certificates(text)
        if let fault = parsed.faults.first { throw .malformed(fault) }
        if parsed.certificates.isEmpty { throw .none }
        return parsed.certificates
    }
}

/// A text or octets that hold no readable certificate.
public enum CertificateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No certificate was found.
    case none
    /// A certificate cannot be read, in OpenSSL's words.
    case malformed(String)

    public var description: String {
        switch self {
        case .none: "there is no certificate in it"
        case .malformed(let why): "the certificate cannot be read: \(why)"
        }
    }
}
