import ArgumentParser

/// The flags about TLS, as text; ``SecurityOptions`` reads them.
struct SecurityFlags: ParsableArguments {
    @Flag(name: [.customShort("k"), .long], help: "Believe any certificate, of the server and of an https proxy.")
    var insecure = false

    @Option(
        help: ArgumentHelp(
            "Certificates of the authorities to believe instead of the system's, in PEM.",
            valueName: "FILE"
        )
    )
    var cacert: String?

    @Option(help: ArgumentHelp("A directory of them; with --cacert, both count.", valueName: "DIR"))
    var capath: String?

    @Option(help: ArgumentHelp("A certificate to show, in PEM, or with its key in PKCS #12.", valueName: "FILE"))
    var cert: String?

    @Option(help: ArgumentHelp("Its private key in PEM, where it is not in the same file.", valueName: "FILE"))
    var key: String?

    @Option(
        name: .customLong("pass"),
        parsing: .unconditional,
        help: ArgumentHelp("The password of the key.", valueName: "TEXT")
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

    @Flag(help: "A full handshake for every connection: no session is resumed.")
    var noResume = false

    @Flag(help: "Only connect and agree on TLS, and close again: no request is sent.")
    var handshakeOnly = false
}
