internal import UncurlLibC

/// Reads the certificates of ``TrustRoots``. It blocks.
struct TrustLoader {
    /// The places where distributions keep their roots, in the order of search, which ends at the first place that has
    /// a root. They are a parameter, so that tests need no environment of their own.
    struct Surroundings: Sendable {
        var files = [
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
        var directories = ["/etc/ssl/certs", "/etc/pki/tls/certs"]
        /// The values of SSL_CERT_FILE and SSL_CERT_DIR, with OpenSSL's meaning. The latter is a list with colons.
        var certificateFile: String?
        var certificateDirectories: String?

        static var process: Surroundings {
            let value = { (name: String) -> String? in
                guard let text = unsafe getenv(name) else { return nil }
                let string = unsafe String(cString: text)
                return string.isEmpty ? nil : string
            }
            return Surroundings(
                certificateFile: value("SSL_CERT_FILE"),
                certificateDirectories: value("SSL_CERT_DIR")
            )
        }
    }

    /// The most entries that are read. A directory of certificates has some three hundred; one with more than this is
    /// something else.
    static let directoryLimit = 4_096

    private(set) var certificates: [Certificate] = []
    /// The files and directories that were read, in their state before the read.
    private(set) var states: [String: [Int]?] = [:]
    private var attempts: [String] = []
    /// Whether a place could not be read for the moment. What the others hold would be a part of the roots.
    private var isIncomplete = false
    private let surroundings: Surroundings

    private init(_ surroundings: Surroundings) { self.surroundings = surroundings }

    /// Reads all the sources. It throws if a source that the caller named is missing or cannot be read, and if any file
    /// cannot be read for the moment.
    static func load(_ roots: TrustRoots, _ surroundings: Surroundings) throws(TrustStoreError) -> TrustLoader {
        var loader = TrustLoader(surroundings)
        for source in roots.sources {
            let isLoaded =
                switch source {
                case .system: loader.loadSystem()
                case .file(let path): loader.loadFile(path, forgiving: false)
                case .directory(let path): loader.loadDirectory(path)
                case .pem(let bytes): loader.take(bytes, from: "(in memory)", forgiving: false)
                }
            if !isLoaded || loader.isIncomplete { throw TrustStoreError(attempts: loader.attempts) }
        }
        return loader
    }

    /// Reads the system's roots, with the meaning of the environment that OpenSSL has on Debian: SSL_CERT_FILE leaves
    /// the system's directory, and SSL_CERT_DIR leaves nothing of the system's, as OpenSSL's own folder has no file.
    /// The system's own file has what is in its directory, which is not read then.
    private mutating func loadSystem() -> Bool {
        let file = surroundings.certificateFile
        let others = surroundings.certificateDirectories == nil ? surroundings.files : []
        let files = file.map { [$0] } ?? others
        var isLoaded = files.contains { loadFile($0, forgiving: true) }
        if let directories = surroundings.certificateDirectories {
            for directory in directories.split(separator: ":") where loadDirectory(String(directory)) {
                isLoaded = true
            }
        } else if file != nil || !isLoaded, surroundings.directories.contains(where: { loadDirectory($0) }) {
            isLoaded = true
        }
        return isLoaded
    }

    private mutating func loadFile(_ path: String, forgiving: Bool) -> Bool {
        states[path] = .some(fileState(path))
        do throws(FileFault) {
            return take(try readFile(path), from: path, forgiving: forgiving)
        } catch {
            note(error, at: path)
            return false
        }
    }

    /// Takes the certificates of a file's bytes.
    ///
    /// - Parameter forgiving: Whether a damaged certificate is skipped: one must not cost a system all of its roots. In
    ///   a file that the caller named it is an error.
    private mutating func take(_ bytes: [UInt8], from path: String, forgiving: Bool) -> Bool {
        let found = Certificate.read(bytes)
        if !forgiving, let fault = found.faults.first {
            attempts.append("\(path): a certificate in it cannot be read: \(fault)")
            return false
        }
        if found.certificates.isEmpty {
            attempts.append("\(path): there is no certificate in it")
            return false
        }
        certificates += found.certificates
        return true
    }

    private mutating func loadDirectory(_ path: String) -> Bool {
        states[path] = .some(fileState(path))
        let names: [String]
        do throws(FileFault) { names = try fileNames(in: path) } catch {
            note(error, at: path)
            return false
        }
        let hashed = names.filter(Self.isHashed)
        let wanted = hashed.isEmpty ? names.filter(Self.isCertificate) : hashed
        let before = certificates.count
        for name in wanted.prefix(Self.directoryLimit) {
            // Other files may be links to nothing, or keys: only certificates count.
            let file = path + "/" + name
            states[file] = .some(fileState(file))
            do throws(FileFault) {
                certificates += Certificate.read(try readFile(file)).certificates
            } catch {
                if error.mayPass { note(error, at: file) }
            }
        }
        if certificates.count > before { return true }
        attempts.append("\(path): there is no certificate in it")
        return false
    }

    private mutating func note(_ fault: FileFault, at path: String) {
        attempts.append("\(path): \(fault.text)")
        if fault.mayPass { isIncomplete = true }
    }

    /// Returns whether a name is one that `openssl rehash` gives: eight hexadecimal digits, a dot and a number.
    static func isHashed(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].count == 8
            && parts[0].allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
            && !parts[1].isEmpty && parts[1].allSatisfy { 0x30...0x39 ~= $0 }
    }

    private static func isCertificate(_ name: String) -> Bool {
        [".pem", ".crt", ".cer"].contains { name.hasSuffix($0) }
    }
}
