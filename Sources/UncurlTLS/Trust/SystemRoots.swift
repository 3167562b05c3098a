/// Where distributions keep their roots, in the order of search, which ends at the first place that has a root.
enum SystemRoots {
    static let files = [
        // Debian, Ubuntu, Arch, Alpine, Gentoo, NixOS
        "/etc/ssl/certs/ca-certificates.crt",
        // Fedora, RHEL and kin
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt",
        // SUSE
        "/etc/ssl/ca-bundle.pem",
        // Alpine, the BSDs
        "/etc/ssl/cert.pem",
    ]
    static let directories = ["/etc/ssl/certs", "/etc/pki/tls/certs"]
}
