internal import CUncurlOpenSSL
import UncurlText

/// A certificate for a test with its private key: a server's, or that of an authority.
public struct TestCertificate: Sendable {
    /// The certificate in DER.
    public let der: [UInt8]
    /// Its private key.
    public let key: TestKey

    /// A certificate and its key. Whether they belong together is not checked.
    public init(der: [UInt8], key: TestKey) {
        self.der = der
        self.key = key
    }

    /// The certificate in PEM, without its key.
    public var pem: String { Self.pem(der, label: "CERTIFICATE") }

    /// RFC 7468 §2: base64 in lines of 64.
    public static func pem(_ der: [UInt8], label: String) -> String {
        var text = "-----BEGIN \(label)-----\n"
        var rest = Base64.encode(der)[...]
        while !rest.isEmpty {
            text += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END \(label)-----\n"
    }

    /// The certificate, its key and `chain` as PKCS #12 (RFC 7292), encrypted with AES-256 and PBKDF2.
    public func pkcs12(
        password: String,
        chain: [TestCertificate] = []
    ) throws(TestCertificateError) -> [UInt8] {
        let stack = try unsafe checked(uncurl_new_certificates(), "stack")
        defer { unsafe uncurl_free_certificates(stack) }
        for one in chain { try check(unsafe uncurl_push_certificate(stack, try one.handle()), "chain") }
        let own = try unsafe handle()
        defer { unsafe X509_free(own) }
        let made = try unsafe checked(
            unsafe PKCS12_create(password, "test", key.pointer, own, stack, NID_undef, NID_undef, 0, 0, 0),
            "PKCS #12 file"
        )
        defer { unsafe PKCS12_free(made) }
        return try unsafe checked(encoded { unsafe i2d_PKCS12(made, $0) }, "PKCS #12 file")
    }

    /// The caller frees it.
    func handle() throws(TestCertificateError) -> OpaquePointer {
        try unsafe checked(decoded(der) { unsafe d2i_X509(nil, $0, $1) }, "certificate from its DER")
    }
}
