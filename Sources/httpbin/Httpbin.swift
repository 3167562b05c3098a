internal import ArgumentParser
internal import UncurlHTTP1
internal import UncurlLibC
internal import UncurlReactor
internal import UncurlTLS
internal import UncurlTestServer

/// The test server as a program: listens until SIGINT or SIGTERM, then lets requests under way finish.
///
/// An error prints one line to standard error, and the exit status is 1.
@main
struct Httpbin: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "httpbin",
        abstract: "An HTTP/1.1 test server with httpbin's routes.",
        version: "httpbin \(PackageVersion.text)"
    )

    @Option(help: ArgumentHelp("The address to listen on: IPv4, IPv6 or localhost.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(help: ArgumentHelp("The port; 0 lets the system choose.", valueName: "port"))
    var port: UInt16 = 8080

    @Option(help: ArgumentHelp("Listen on a unix socket instead; @name is abstract.", valueName: "path"))
    var unix: String?

    @Option(help: ArgumentHelp("Threads, each with an event loop.", valueName: "count"))
    var loops = 1

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

    @Flag(name: [.customShort("q"), .long], help: "Do not print the address.")
    var quiet = false

    static func main() {
        do {
            let options = try Httpbin.parse()
            let address = try options.address()
            guard (1...256).contains(options.loops) else {
                throw ValidationError("--loops takes a number from 1 to 256")
            }
            options.serve(address, try options.context())
        } catch {
            if Httpbin.exitCode(for: error) == .success {
                print(Httpbin.fullMessage(for: error))
                Glibc.exit(0)
            }
            fail(Httpbin.message(for: error))
        }
    }

    private func address() throws -> SocketAddress {
        if let unix {
            let name = unix.hasPrefix("@") ? UnixName(abstract: String(unix.dropFirst())) : UnixName(path: unix)
            guard let name else {
                throw ValidationError("--unix takes a path or @name of 1 to \(UnixName.maximumBytes) octets")
            }
            return .unix(name)
        }
        let numeric = host == "localhost" ? "127.0.0.1" : host
        guard let address = SocketAddress(numericHost: numeric, port: port) else {
            throw ValidationError("--host takes an IP address or localhost, not \"\(host)\"")
        }
        return address
    }

    private func serve(_ address: SocketAddress, _ tls: TLSServerContext?) {
        // The signals are blocked before any thread starts: they wait for `sigwait` and interrupt no thread.
        var signals = sigset_t()
        _ = unsafe sigemptyset(&signals)
        _ = unsafe sigaddset(&signals, SIGINT)
        _ = unsafe sigaddset(&signals, SIGTERM)
        _ = unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        Httpbin.raiseDescriptorLimit()
        let server: TestServer
        do {
            server = try TestServer.start(loops: loops, address: address, tls: tls)
        } catch {
            Httpbin.fail("cannot listen on \(address): \(error)")
        }
        if !quiet {
            let address = server.address.port == nil ? "\(server.address)" : server.url("/")
            try? BlockingOutput.writeAll(address + "\n", to: BlockingOutput.standard)
        }
        var signal: CInt = 0
        while unsafe sigwait(&signals, &signal) != 0 {}
        server.stop(within: .seconds(5))
    }

    /// Raises the soft limit on descriptors, which is 1,024 on most systems, to the hard one: each connection is a
    /// descriptor.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        DescriptorLimit.reserve(min(DescriptorLimit.current, 16_384))
    }

    private static func fail(_ message: String) -> Never {
        let line = message.split(separator: "\n").first ?? "unknown mistake"
        try? BlockingOutput.writeAll("httpbin: \(line)\n", to: BlockingOutput.errors)
        Glibc.exit(1)
    }
}

/// The certificate of an https server.
extension Httpbin {
    private func context() throws -> TLSServerContext? {
        switch (certificate, key) {
        case (nil, nil):
            guard tls else {
                if rootFile != nil { throw ValidationError("--root-file goes with --tls") }
                return nil
            }
            let names = name.map { (SocketAddress(numericHost: $0, port: 0) == nil ? "DNS:" : "IP:") + $0 }
            let identity = try TestCertificates.identity(names)
            if let rootFile { try Httpbin.write(identity.authorityPEM, to: rootFile) }
            return try TLSServerContext(TLSServerConfiguration(identity))
        case (let certificate?, let key?):
            if rootFile != nil { throw ValidationError("--root-file goes without --certificate") }
            let (chain, secret) = (try Httpbin.read(certificate), try Httpbin.read(key))
            return try TLSServerContext(TLSServerConfiguration(certificate: .init(chain: chain, key: secret)))
        case (nil, _), (_, nil):
            throw ValidationError("--certificate and --key go together")
        }
    }

    /// In octets. A certificate file has a few KiB, so a file of more than a megabyte is another kind of file.
    private static let sizeLimit = 1 << 20

    private static func read(_ path: String) throws -> [UInt8] {
        do throws(FileFault) {
            return try readFile(path, limit: sizeLimit)
        } catch {
            let isTooLarge = error.code == EFBIG
            throw ValidationError(isTooLarge ? "\(path) is larger than a certificate file" : "\(path): \(error.text)")
        }
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
