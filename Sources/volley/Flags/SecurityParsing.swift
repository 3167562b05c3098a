import UncurlEngine
import UncurlLoad
import UncurlTLS

extension SecurityOptions {
    /// - Parameters:
    ///   - isSecure: whether the target uses TLS.
    ///   - connections: the number of connections that may reconnect at once, each with a ticket of its own.
    init(
        _ flags: SecurityFlags,
        isSecure: Bool,
        throughSecureProxy hasProxy: Bool,
        connections: Int
    ) throws(UsageError) {
        try flags.check(isSecure: isSecure, throughSecureProxy: hasProxy)
        var base = TLSConfiguration()
        base.verification = flags.insecure ? .none : .full
        let rootFlags: String?
        (base.roots, rootFlags) = flags.roots ?? (.system, nil)
        let proxy = hasProxy ? try Self.context(base, flags) : nil
        let serverName = try flags.sni.map { name throws(UsageError) in try Self.serverName(name) }
        guard isSecure else {
            self.init(proxy: proxy, serverName: serverName, givenRoots: rootFlags)
            return
        }
        base.resumes = !flags.noResume
        base.ticketsPerHost = max(base.ticketsPerHost, connections)
        (base.minimumVersion, base.maximumVersion) = try flags.versions()
        (base.ciphers, base.cipherSuites) = (flags.ciphers, flags.tls13Ciphers)
        base.identity = try flags.identity()
        self.init(
            target: try Self.context(base, flags),
            proxy: proxy,
            serverName: serverName,
            givenRoots: rootFlags
        )
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
            let given = [
                flags.ciphers.map { "--ciphers \(quoted($0))" },
                flags.tls13Ciphers.map { "--tls13-ciphers \(quoted($0))" },
            ]
            let flags = given.compactMap(\.self).joined(separator: " and ")
            throw UsageError("\(flags.isEmpty ? "" : "\(flags): ")\(error): use names that `openssl ciphers -v` prints")
        }
    }

    private static func serverName(_ text: String) throws(UsageError) -> String {
        guard let name = try? ServerName(text) else {
            throw UsageError("--sni \(quoted(text)) is no host name: use one such as www.example.com")
        }
        // A server name is never an address (RFC 6066 §3).
        guard !name.isAddress else {
            throw UsageError("--sni \(quoted(text)) is an address, which is never sent: use a host name")
        }
        return name.text
    }
}

extension SecurityFlags {
    /// Refuses flags that have no effect.
    fileprivate func check(isSecure: Bool, throughSecureProxy: Bool) throws(UsageError) {
        // As in curl, --insecure may stand before any URL: it asks for nothing that http lacks.
        let ofBoth = [("--cacert", cacert != nil), ("--capath", capath != nil)]
        let ofTarget = [
            ("--cert", cert != nil), ("--key", key != nil), ("--pass", password != nil), ("--sni", sni != nil),
            ("--tls-min", tlsMin != nil), ("--tls-max", tlsMax != nil), ("--ciphers", ciphers != nil),
            ("--tls13-ciphers", tls13Ciphers != nil), ("--no-resume", noResume), ("--handshake-only", handshakeOnly),
        ]
        let idle = isSecure ? [] : throughSecureProxy ? ofTarget : ofBoth + ofTarget
        if let flag = idle.first(where: \.1)?.0 {
            throw UsageError(
                "\(flag) is about TLS with the target, which speaks none: use an https URL, or leave it out"
            )
        }
        if insecure, let flag = rootFlags {
            throw UsageError("--insecure and \(flag) exclude each other: trust any certificate, or those authorities")
        }
    }

    private var rootFlags: String? {
        let given = [cacert.map { "--cacert \(quoted($0))" }, capath.map { "--capath \(quoted($0))" }]
        let text = given.compactMap(\.self).joined(separator: " and ")
        return text.isEmpty ? nil : text
    }

    /// The trusted roots that replace the system's, and the flags that set them.
    fileprivate var roots: (TrustRoots, String?)? {
        guard let rootFlags else { return nil }
        let sources = [cacert.map { TrustRoots.Source.file($0) }, capath.map { TrustRoots.Source.directory($0) }]
        return (TrustRoots(sources.compactMap(\.self)), rootFlags)
    }

    fileprivate func versions() throws(UsageError) -> (TLSVersion, TLSVersion) {
        let minimum = try tlsMin.map { text throws(UsageError) in try Self.version(text, for: "--tls-min") } ?? .v1_2
        let maximum = try tlsMax.map { text throws(UsageError) in try Self.version(text, for: "--tls-max") } ?? .v1_3
        guard minimum <= maximum else {
            throw UsageError("--tls-min is above --tls-max: use the same for one version alone")
        }
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
