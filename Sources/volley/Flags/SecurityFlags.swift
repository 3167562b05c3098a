import ArgumentParser

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
