internal import CUncurlOpenSSL
public import UncurlTLS
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
        var rest = base64Text(der)[...]
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
    package func handle() throws(TestCertificateError) -> OpaquePointer {
        try unsafe checked(decoded(der) { unsafe d2i_X509(nil, $0, $1) }, "certificate from its DER")
    }
}

/// Ready-made certificates for tests over loopback, made in memory once per process.
public enum TestCertificates {
    /// A server's or client's certificates, and the authority that its peer must trust.
    public struct Identity: Sendable {
        /// The authority that signed the chain.
        public let authority: TestCertificate
        /// The certificate of the server or client.
        public let leaf: TestCertificate
        /// The authority's certificate, which a client trusts.
        public let authorityPEM: String
        /// The leaf and the certificates between it and the authority, which a server sends.
        public let chainPEM: String
        /// The leaf's private key.
        public let keyPEM: String

        /// An identity of existing certificates.
        public init(
            authority: TestCertificate,
            leaf: TestCertificate,
            intermediates: [TestCertificate] = []
        ) throws(TestCertificateError) {
            self.authority = authority
            self.leaf = leaf
            authorityPEM = authority.pem
            chainPEM = leaf.pem + intermediates.map(\.pem).joined()
            keyPEM = try leaf.key.pem()
        }
    }

    /// For `localhost`, `127.0.0.1` and `::1`; P-256.
    public static var localhost: Identity { get throws(TestCertificateError) { try madeLocalhost.get() } }

    /// A client's certificate of another authority than `localhost`'s.
    public static var client: Identity { get throws(TestCertificateError) { try madeClient.get() } }

    /// A server's certificate for these names (`DNS:…`, `IP:…`), by an authority of its own.
    public static func identity(_ names: [String], kind: TestKey.Kind = .p256) throws(TestCertificateError) -> Identity
    {
        let authority = try numbered(.authority("Test Authority")).selfSigned(try TestKey(kind))
        return try Identity(
            authority: authority,
            leaf: numbered(.server(names)).issued(by: authority, key: try TestKey(kind))
        )
    }

    /// With a serial number of its own: a client refuses two certificates with the same issuer and number (RFC 5280
    /// §4.1.2.2), and the issuers of all runs have the same name.
    private static func numbered(_ builder: CertificateBuilder) -> CertificateBuilder {
        var builder = builder
        builder.serial = .random(in: 1...UInt64(Int64.max))
        return builder
    }

    private static let madeLocalhost = made { () throws(TestCertificateError) in
        try identity(["DNS:localhost", "IP:127.0.0.1", "IP:::1"])
    }

    private static let madeClient = made { () throws(TestCertificateError) in
        let authority = try numbered(.authority("Test Client Authority")).selfSigned()
        return try Identity(authority: authority, leaf: numbered(.client("client")).issued(by: authority))
    }

    private static func made(
        _ make: () throws(TestCertificateError) -> Identity
    ) -> Result<Identity, TestCertificateError> {
        do throws(TestCertificateError) { return .success(try make()) } catch { return .failure(error) }
    }
}

extension TLSServerConfiguration {
    /// A server with the chain of a made identity.
    public init(_ identity: TestCertificates.Identity) {
        self.init(certificate: .init(identity))
    }
}

extension TLSServerConfiguration.Certificate {
    /// A made identity's chain and key.
    public init(_ identity: TestCertificates.Identity) {
        self.init(chain: Array(identity.chainPEM.utf8), key: Array(identity.keyPEM.utf8))
    }
}

/// The error for an object that OpenSSL refused to make.
public struct TestCertificateError: Error, CustomStringConvertible {
    /// The object, such as `key`.
    public let what: String

    /// One line that names the object.
    public var description: String { "OpenSSL cannot make the \(what)" }
}

/// The value, or the error that names the object.
package func checked<Value>(_ value: Value?, _ what: String) throws(TestCertificateError) -> Value {
    guard let value = value else { throw TestCertificateError(what: what) }
    return value
}

package func check(_ result: CInt, _ what: String) throws(TestCertificateError) {
    if result <= 0 { throw TestCertificateError(what: what) }
}

/// The DER that an `i2d_…` function makes.
package func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8]? {
    var data: UnsafeMutablePointer<UInt8>? = nil
    let count = unsafe encode(&data)
    guard count >= 0, let data = unsafe data else { return nil }
    defer { unsafe CRYPTO_free(data, nil, 0) }
    return unsafe Array(UnsafeBufferPointer(start: data, count: Int(count)))
}

/// Parses DER with a `d2i_…` function.
func decoded(
    _ bytes: [UInt8],
    _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, CLong) -> OpaquePointer?
) -> OpaquePointer? {
    unsafe bytes.withUnsafeBufferPointer { buffer in
        var cursor = buffer.baseAddress
        return unsafe decode(&cursor, buffer.count)
    }
}
