import UncurlLoad
import UncurlTLS

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
