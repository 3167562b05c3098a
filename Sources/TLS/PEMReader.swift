internal import COpenSSL

/// An X509 with one reference of its own.
@safe final class CertificateHandle: Sendable {
    private let address: UInt
    init(taking certificate: OpaquePointer) { address = UInt(bitPattern: certificate) }
    deinit { unsafe X509_free(handle) }
    var handle: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }
}

/// An EVP_PKEY with one reference of its own.
@safe final class KeyHandle: Sendable {
    private let address: UInt
    init(taking key: OpaquePointer) { address = UInt(bitPattern: key) }
    deinit { unsafe EVP_PKEY_free(handle) }
    var handle: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }
}

/// What a PEM text holds. A key under a passphrase is not read here: nobody is asked for one.
enum PEMReader {
    static func certificates(_ text: [UInt8]) -> [CertificateHandle] {
        var certificates: [CertificateHandle] = []
        unsafe reading(text) { bio in
            while let certificate = unsafe PEM_read_bio_X509(bio, nil, { _, _, _, _ in 0 }, nil) {
                unsafe certificates.append(CertificateHandle(taking: certificate))
            }
        }
        return certificates
    }

    static func key(_ text: [UInt8]) -> KeyHandle? {
        var key: KeyHandle?
        unsafe reading(text) { bio in
            guard let read = unsafe PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in 0 }, nil) else { return }
            key = unsafe KeyHandle(taking: read)
        }
        return key
    }

    private static func reading(_ text: [UInt8], _ body: (OpaquePointer) -> Void) {
        unsafe text.withUnsafeBytes { bytes in
            guard let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count)) else { return }
            unsafe body(bio)
            unsafe BIO_free(bio)
        }
        // The end of the text is an error to OpenSSL.
        OpenSSLErrors.forget()
    }
}
