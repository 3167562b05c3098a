internal import CUncurlOpenSSL

/// Reads certificates and revocation lists from PEM, or from DER where the bytes contain no PEM.
enum PEMReader {
    struct Certificates {
        var certificates: [Certificate] = []
        /// The reasons why blocks that are marked as certificates were left out.
        var faults: [String] = []
    }

    static func certificates(_ bytes: [UInt8]) -> Certificates {
        var result = Certificates()
        let end = unsafe each(in: bytes) { bio -> Bool in
            // This reads TRUSTED CERTIFICATE, too: some distributions use it in their bundles.
            guard let one = unsafe PEM_read_bio_X509_AUX(bio, nil, neverAsk, nil) else { return false }
            unsafe result.certificates.append(Certificate(adopting: one))
            return true
        }
        result.faults = end
        if result.certificates.isEmpty, bytes.first == 0x30, let one = try? Certificate(der: bytes) {
            return Certificates(certificates: [one])
        }
        return result
    }

    static func revocationLists(_ bytes: [UInt8]) -> (lists: [OpaquePointer], faults: [String]) {
        var lists: [OpaquePointer] = unsafe []
        let faults = unsafe each(in: bytes) { bio -> Bool in
            guard let one = unsafe PEM_read_bio_X509_CRL(bio, nil, neverAsk, nil) else { return false }
            unsafe lists.append(one)
            return true
        }
        if unsafe lists.isEmpty, bytes.first == 0x30 {
            let one = unsafe bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
                var cursor = buffer.baseAddress
                return unsafe d2i_X509_CRL(nil, &cursor, buffer.count)
            }
            if let one = unsafe one { return unsafe ([one], []) }
        }
        return unsafe (lists, faults)
    }

    /// Calls `body` with a read-only BIO over the bytes, which is valid for the length of the call.
    static func withBIO<Value>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Value?) -> Value? {
        guard OpenSSLStart.made, let count = CInt(exactly: bytes.count) else { return nil }
        return unsafe bytes.withUnsafeBufferPointer { buffer -> Value? in
            guard let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, count) else { return nil }
            defer { unsafe BIO_free(bio) }
            return unsafe body(bio)
        }
    }

    /// The password callback for each place where OpenSSL would otherwise ask for a password on the terminal.
    static let neverAsk: @convention(c) (UnsafeMutablePointer<CChar>?, CInt, CInt, UnsafeMutableRawPointer?) -> CInt = {
        _,
        _,
        _,
        _ in -1
    }

    /// Reads blocks until there are no more. A block that cannot be read is a fault, and the next one is tried:
    /// PEM_read_bio has moved past its end line by then.
    static func each(in bytes: [UInt8], _ read: (OpaquePointer) -> Bool) -> [String] {
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
