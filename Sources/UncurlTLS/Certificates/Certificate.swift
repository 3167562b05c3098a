internal import CUncurlOpenSSL

/// One X.509 certificate as OpenSSL read it. It never changes after its initialisation, so any thread may read it.
@safe public final class Certificate: Sendable {
    private let address: UInt

    /// OpenSSL's certificate, borrowed from this object.
    var pointer: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    /// Reads exactly one certificate in DER. Octets after it are an error.
    public init(der: [UInt8]) throws(CertificateError) {
        guard isOpenSSLStarted else { throw .malformedCertificate("OpenSSL does not start") }
        ERR_clear_error()
        let (parsed, isWhole) = unsafe decodedDER(der) { unsafe d2i_X509(nil, &$0, $1) }
        guard isWhole, let parsed = unsafe parsed else {
            unsafe X509_free(parsed)
            throw .malformedCertificate(OpenSSLErrors.take().text)
        }
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
        let (certificates, faults) = read(text)
        if let fault = faults.first { throw .malformedCertificate(fault) }
        if certificates.isEmpty { throw .noCertificate }
        return certificates
    }
}

/// Certificates and revocation lists in PEM, or in DER where the bytes contain no PEM.
extension Certificate {
    /// Returns the certificates, and the reasons why blocks that are marked as certificates were left out.
    static func read(_ bytes: [UInt8]) -> (certificates: [Certificate], faults: [String]) {
        // This reads TRUSTED CERTIFICATE, too: some distributions use it in their bundles.
        let (found, faults) = unsafe blocks(of: bytes) {
            unsafe PEM_read_bio_X509_AUX($0, nil, PasswordAnswer.callback, nil)
        }
        if unsafe found.isEmpty, bytes.first == 0x30, let one = try? Certificate(der: bytes) { return ([one], []) }
        return unsafe (found.map { unsafe Certificate(adopting: $0) }, faults)
    }

    static func readRevocationLists(_ bytes: [UInt8]) -> (lists: [OpaquePointer], faults: [String]) {
        let (lists, faults) = unsafe blocks(of: bytes) {
            unsafe PEM_read_bio_X509_CRL($0, nil, PasswordAnswer.callback, nil)
        }
        if unsafe lists.isEmpty, bytes.first == 0x30,
            let one = unsafe decodedDER(bytes, { unsafe d2i_X509_CRL(nil, &$0, $1) }).made
        {
            return unsafe ([one], [])
        }
        return unsafe (lists, faults)
    }

    private static func blocks(
        of bytes: [UInt8],
        _ read: (OpaquePointer) -> OpaquePointer?
    ) -> (found: [OpaquePointer], faults: [String]) {
        var found: [OpaquePointer] = unsafe []
        let faults = unsafe eachBlock(of: bytes) { bio -> Bool in
            guard let one = unsafe read(bio) else { return false }
            unsafe found.append(one)
            return true
        }
        return unsafe (found, faults)
    }

    /// Calls `body` with a read-only BIO over the bytes, which is valid for the length of the call.
    static func withBIO<Value>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Value?) -> Value? {
        guard isOpenSSLStarted, let count = CInt(exactly: bytes.count) else { return nil }
        return unsafe bytes.withUnsafeBufferPointer { buffer -> Value? in
            guard let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, count) else { return nil }
            defer { unsafe BIO_free(bio) }
            return unsafe body(bio)
        }
    }

    /// Reads blocks until there are no more. A block that cannot be read is a fault, and the next one is tried:
    /// PEM_read_bio has moved past its end line by then.
    static func eachBlock(of bytes: [UInt8], _ read: (OpaquePointer) -> Bool) -> [String] {
        var faults: [String] = []
        _ = unsafe withBIO(bytes) { bio in
            while true {
                ERR_clear_error()
                if unsafe read(bio) { continue }
                let fault = OpenSSLErrors.take()
                if fault.holds(library: ERR_LIB_PEM, reason: PEM_R_NO_START_LINE) { return }
                faults.append(fault.text)
                // The loop ends: each fault consumes at least one line.
                if unsafe uncurl_bio_pending(bio) == 0 { return }
            }
        }
        return faults
    }
}
