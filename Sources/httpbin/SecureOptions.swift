internal import ArgumentParser
internal import Glibc
internal import UncurlReactor
internal import UncurlTLS
internal import UncurlTestServer

/// The options for the certificate of an https server.
struct SecureOptions: ParsableArguments {
    @Flag(help: "Speak https, with a certificate made for this run unless one is given.")
    var tls = false

    @Option(help: ArgumentHelp("PEM: the certificate, then its issuers. Implies --tls.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("PEM: the certificate's key.", valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("Where to write the PEM of the root to trust.", valueName: "file"))
    var rootFile: String?

    @Option(help: ArgumentHelp("Names on the certificate that is made.", valueName: "name"))
    var name: [String] = ["localhost", "127.0.0.1", "::1"]

    func context() throws -> TLSServerContext? {
        switch (certificate, key) {
        case (nil, nil):
            guard tls else {
                if rootFile != nil { throw ValidationError("--root-file goes with --tls") }
                return nil
            }
            let names = name.map { (SocketAddress(numericHost: $0, port: 0) == nil ? "DNS:" : "IP:") + $0 }
            let identity = try TestCertificates.identity(names)
            if let rootFile { try SecureOptions.write(identity.authorityPEM, to: rootFile) }
            return try TLSServerContext(TLSServerConfiguration(identity))
        case (let certificate?, let key?):
            if rootFile != nil { throw ValidationError("--root-file goes without --certificate") }
            let (chain, secret) = (try SecureOptions.read(certificate), try SecureOptions.read(key))
            return try TLSServerContext(TLSServerConfiguration(certificate: .init(chain: chain, key: secret)))
        case (nil, _), (_, nil):
            throw ValidationError("--certificate and --key go together")
        }
    }

    /// In octets. A certificate file has a few KiB, so a file of more than a megabyte is another kind of file.
    private static let sizeLimit = 1 << 20

    private static func read(_ path: String) throws -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unsafe ValidationError("\(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while bytes.count <= sizeLimit {
            let count = unsafe Glibc.read(file, &buffer, buffer.count)
            guard count > 0 else {
                if count == 0 { return bytes }
                throw unsafe ValidationError("\(path): \(String(cString: strerror(errno)))")
            }
            bytes += buffer[..<count]
        }
        throw ValidationError("\(path) is larger than a certificate file")
    }

    private static func write(_ text: String, to path: String) throws {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw unsafe ValidationError("\(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        let bytes = Array(text.utf8)
        guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw unsafe ValidationError("\(path): \(String(cString: strerror(errno)))")
        }
    }
}
