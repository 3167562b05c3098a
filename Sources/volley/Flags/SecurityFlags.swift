import ArgumentParser
import UncurlEngine
import UncurlLoad
import UncurlTLS

/// The text of the flags about TLS. ``SecurityOptions`` reads them.
struct SecurityFlags: ParsableArguments {
    @Flag(name: [.customShort("k"), .long], help: .of("insecure")) var insecure = false
    @Option(help: .of("cacert")) var cacert: String?
    @Option(help: .of("capath")) var capath: String?
    @Option(help: .of("cert")) var cert: String?
    @Option(help: .of("key")) var key: String?
    @Option(name: .customLong("pass"), parsing: .unconditional, help: .of("pass")) var password: String?
    @Option(help: .of("sni")) var sni: String?
    @Option(help: .of("tls-min")) var tlsMin: String?
    @Option(help: .of("tls-max")) var tlsMax: String?
    @Option(help: .of("ciphers")) var ciphers: String?
    @Option(name: .customLong("tls13-ciphers"), help: .of("tls13-ciphers")) var tls13Ciphers: String?
    @Flag(help: .of("no-resume")) var noResume = false
    @Flag(help: .of("handshake-only")) var handshakeOnly = false
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
        let bytes = try readFile(cert, for: "--cert", limit: Self.identityLimit)
        let isPEM = Self.isPEM(bytes)
        try need(isPEM || key == nil, "--cert \(quoted(cert)) is not PEM, so its key is in it: leave --key out")
        let keyBytes = try key.map { path throws(UsageError) in
            try readFile(path, for: "--key", limit: Self.identityLimit)
        }
        do throws(CertificateError) {
            if isPEM { return try ClientIdentity(pem: bytes, key: keyBytes, password: password) }
            return try ClientIdentity(pkcs12: bytes, password: password)
        } catch {
            throw complaint(error)
        }
    }

    func complaint(_ error: CertificateError) -> UsageError {
        let files = Self.words(["--cert": cert, "--key": key])
        let remedy =
            switch error {
            case .passwordNeeded: "give it with --pass"
            case .wrongPassword: "correct --pass"
            case .noKey: "name the file of the key with --key"
            case .keyMismatch: "name the key of this certificate with --key"
            case .legacyEncryption: "install that provider, or write the file anew with `openssl pkcs12 -export`"
            case .tooManyIterations:
                "write the file anew with fewer, with `-iter` of `openssl pkcs8` or `openssl pkcs12`"
            case .unreadable, .noCertificate, .malformedCertificate, .malformedKey, .malformedPKCS12, .refused,
                .noRevocationList, .malformedRevocationList:
                "name a certificate and key in PEM, or a PKCS #12 file"
            }
        return UsageError("\(files): \(oneLine("\(error)", limit: 400)): \(remedy)")
    }

    fileprivate static func words(_ flags: KeyValuePairs<String, String?>) -> String {
        flags.compactMap { flag, value in value.map { "\(flag) \(quoted($0))" } }.joined(separator: " and ")
    }

    /// A PKCS #12 file is DER and begins with a SEQUENCE. A PEM file may have text before its first dashes.
    private static func isPEM(_ bytes: [UInt8]) -> Bool {
        let mark = Array("-----BEGIN".utf8)
        return bytes.indices.contains { bytes[$0...].starts(with: mark) }
    }
}

extension SecurityOptions {
    /// - Parameters:
    ///   - connections: the number of connections that may reconnect at once, each with a ticket of its own.
    init(
        _ flags: SecurityFlags,
        given: Set<String>,
        isSecure: Bool,
        throughSecureProxy hasProxy: Bool,
        connections: Int
    ) throws(UsageError) {
        // Flags without effect. As in curl, --insecure may stand before any URL: it asks for nothing that http lacks.
        let ofTarget = [
            "--cert", "--key", "--pass", "--sni", "--tls-min", "--tls-max", "--ciphers", "--tls13-ciphers",
            "--no-resume", "--handshake-only",
        ]
        if !isSecure {
            let words = "is about TLS with the target, which speaks none: use an https URL, or leave it out"
            try given.refuse((hasProxy ? [] : ["--cacert", "--capath"]) + ofTarget, words)
        }
        if flags.insecure, let flag = flags.rootFlags {
            throw UsageError("--insecure and \(flag) exclude each other: trust any certificate, or those authorities")
        }
        var base = TLSConfiguration()
        base.verifiesServers = !flags.insecure
        self.init()
        (base.roots, givenRoots) = flags.roots ?? (.system, nil)
        if hasProxy { proxy = try Self.context(base, flags) }
        serverName = try flags.sni.map { name throws(UsageError) in try Self.serverName(name) }
        guard isSecure else { return }
        base.resumes = !flags.noResume
        base.ticketsPerHost = max(base.ticketsPerHost, connections)
        (base.minimumVersion, base.maximumVersion) = try flags.versions()
        (base.ciphers, base.cipherSuites) = (flags.ciphers, flags.tls13Ciphers)
        base.identity = try flags.identity()
        target = try Self.context(base, flags)
    }

    private static func context(
        _ configuration: TLSConfiguration,
        _ flags: SecurityFlags
    ) throws(UsageError) -> TLSContext {
        do throws(TLSError) {
            return try TLSContext(configuration)
        } catch .identity(let error) {
            throw flags.complaint(error)
        } catch {
            let flags = SecurityFlags.words(["--ciphers": flags.ciphers, "--tls13-ciphers": flags.tls13Ciphers])
            throw UsageError("\(flags.isEmpty ? "" : "\(flags): ")\(error): use names that `openssl ciphers -v` prints")
        }
    }

    private static func serverName(_ text: String) throws(UsageError) -> String {
        guard let name = try? ServerName(text) else {
            throw UsageError("--sni \(quoted(text)) is no host name: use one such as www.example.com")
        }
        // A server name is never an address (RFC 6066 §3).
        try need(!name.isAddress, "--sni \(quoted(text)) is an address, which is never sent: use a host name")
        return name.text
    }
}

extension SecurityFlags {
    fileprivate var rootFlags: String? {
        let text = Self.words(["--cacert": cacert, "--capath": capath])
        return text.isEmpty ? nil : text
    }

    fileprivate var roots: (TrustRoots, String?)? {
        guard let rootFlags else { return nil }
        let sources = [cacert.map { TrustRoots.Source.file($0) }, capath.map { TrustRoots.Source.directory($0) }]
        return (TrustRoots(sources.compactMap(\.self)), rootFlags)
    }

    fileprivate func versions() throws(UsageError) -> (TLSVersion, TLSVersion) {
        let minimum = try tlsMin.map { text throws(UsageError) in try Self.version(text, for: "--tls-min") } ?? .v1_2
        let maximum = try tlsMax.map { text throws(UsageError) in try Self.version(text, for: "--tls-max") } ?? .v1_3
        try need(minimum <= maximum, "--tls-min is above --tls-max: use the same for one version alone")
        if let ciphers, minimum > .v1_2 {
            throw UsageError(
                "--ciphers \(quoted(ciphers)) is for TLS 1.2, which --tls-min excludes: use --tls13-ciphers"
            )
        }
        if let tls13Ciphers, maximum < .v1_3 {
            throw UsageError(
                "--tls13-ciphers \(quoted(tls13Ciphers)) is for TLS 1.3, which --tls-max excludes: use --ciphers"
            )
        }
        return (minimum, maximum)
    }

    private static func version(_ text: String, for flag: String) throws(UsageError) -> TLSVersion {
        switch text {
        case "1.2": return .v1_2
        case "1.3": return .v1_3
        default: throw UsageError("\(flag) \(quoted(text)) is no TLS version spoken here: use 1.2 or 1.3")
        }
    }
}
