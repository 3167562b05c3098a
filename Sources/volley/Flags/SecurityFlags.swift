import ArgumentParser
import UncurlLoad
import UncurlTLS

/// The text of the flags about TLS. ``SecurityOptions`` reads them.
struct SecurityFlags: ParsableArguments {
    @Flag(
        name: [.customShort("k"), .long],
        help: "Accept any certificate of the server and of an https proxy. With http it changes nothing."
    )
    var insecure = false

    @Option(
        help: ArgumentHelp(
            "A file with the certificates of trusted authorities in PEM, in place of the system's.",
            valueName: "FILE"
        )
    )
    var cacert: String?

    @Option(help: ArgumentHelp("A directory of such files; with --cacert, both are used.", valueName: "DIR"))
    var capath: String?

    @Option(
        help: ArgumentHelp(
            "The client's certificate in PEM, or with its key in PKCS #12, at most 1 MiB.",
            valueName: "FILE"
        )
    )
    var cert: String?

    @Option(
        help: ArgumentHelp("The private key of --cert in PEM, where it is not in the same file.", valueName: "FILE")
    )
    var key: String?

    @Option(
        name: .customLong("pass"),
        parsing: .unconditional,
        help: ArgumentHelp("The password of the private key.", valueName: "TEXT")
    )
    var password: String?

    @Option(
        help: ArgumentHelp("The server name to send and to verify instead of the URL's host.", valueName: "NAME")
    )
    var sni: String?

    @Option(help: ArgumentHelp("The oldest TLS version. (default: 1.2)", valueName: "1.2|1.3"))
    var tlsMin: String?

    @Option(help: ArgumentHelp("The newest TLS version. (default: 1.3)", valueName: "1.2|1.3"))
    var tlsMax: String?

    @Option(help: ArgumentHelp("Cipher suites for TLS 1.2, in OpenSSL's notation.", valueName: "LIST"))
    var ciphers: String?

    @Option(
        name: .customLong("tls13-ciphers"),
        help: ArgumentHelp("Cipher suites for TLS 1.3, in OpenSSL's notation.", valueName: "LIST")
    )
    var tls13Ciphers: String?

    @Flag(help: "Make a full handshake for every connection; resume no session.")
    var noResume = false

    @Flag(help: "Only connect, make the TLS handshake and close again: send no request.")
    var handshakeOnly = false
}

extension SecurityFlags {
    /// The largest file of a key or of certificates, in bytes. A larger file is something else.
    private static var identityLimit: Int { 1 << 20 }

    /// The identity of `--cert`, `--key` and `--pass`; nil without them. Reads the files.
    func identity() throws(UsageError) -> ClientIdentity? {
        guard let cert else {
            guard let flag = key != nil ? "--key" : password != nil ? "--pass" : nil else { return nil }
            throw UsageError("\(flag) belongs to a certificate: name it with --cert FILE")
        }
        let bytes = try Files.read(cert, for: "--cert", limit: Self.identityLimit)
        let isPEM = Self.isPEM(bytes)
        guard isPEM || key == nil else {
            throw UsageError("--cert \(quoted(cert)) is not PEM, so its key is in it: leave --key out")
        }
        let keyBytes = try key.map { path throws(UsageError) in
            try Files.read(path, for: "--key", limit: Self.identityLimit)
        }
        do throws(IdentityError) {
            if isPEM { return try ClientIdentity(pem: bytes, key: keyBytes, password: password) }
            return try ClientIdentity(pkcs12: bytes, password: password)
        } catch {
            throw complaint(error)
        }
    }

    func complaint(_ error: IdentityError) -> UsageError {
        let files = ([cert.map { "--cert \(quoted($0))" }, key.map { "--key \(quoted($0))" }]).compactMap(\.self)
        let remedy =
            switch error {
            case .passwordNeeded: "give it with --pass"
            case .wrongPassword: "correct --pass"
            case .noKey: "name the file of the key with --key"
            case .keyMismatch: "name the key of this certificate with --key"
            case .legacyEncryption: "install that provider, or write the file anew with `openssl pkcs12 -export`"
            case .tooManyIterations:
                "write the file anew with fewer, with `-iter` of `openssl pkcs8` or `openssl pkcs12`"
            case .unreadable, .noCertificate, .malformedCertificate, .malformedKey, .malformedPKCS12, .refused:
                "name a certificate and key in PEM, or a PKCS #12 file"
            }
        return UsageError("\(files.joined(separator: " and ")): \(oneLine("\(error)", limit: 400)): \(remedy)")
    }

    /// A PKCS #12 file is DER and begins with a SEQUENCE. A PEM file may have text before its first dashes.
    private static func isPEM(_ bytes: [UInt8]) -> Bool {
        let mark = Array("-----BEGIN".utf8)
        return bytes.indices.contains { bytes[$0...].starts(with: mark) }
    }
}
