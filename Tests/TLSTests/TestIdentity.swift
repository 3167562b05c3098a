import Foundation
import TLS

/// A self-signed certificate for "localhost" and 127.0.0.1, which serves as its own root; made once a run by the openssl tool.
struct TestIdentity {
    let certificate: [UInt8]
    let key: [UInt8]
    let certificatePath: String
    let keyPath: String

    static let shared = Result { try TestIdentity() }

    var forServer: TLSServerConfiguration.Certificate { .init(chain: certificate, key: key) }

    init(name: String = "localhost") throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        certificatePath = folder.appendingPathComponent("certificate.pem").path
        keyPath = folder.appendingPathComponent("key.pem").path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:\(name),IP:127.0.0.1", "-keyout", keyPath, "-out",
            certificatePath,
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        certificate = Array(try Data(contentsOf: URL(fileURLWithPath: certificatePath)))
        key = Array(try Data(contentsOf: URL(fileURLWithPath: keyPath)))
    }
}
