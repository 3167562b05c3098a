@testable import UncurlTLS

/// Certificates, keys and pins.
extension Reader {
    static let security = [
        Reader("der", of: "UncurlTLS/Certificates/Certificate") { octets in
            do throws(CertificateError) { _ = try Certificate.all(inPEM: octets) } catch { _ = error.description }
            guard let certificate = try? Certificate(der: octets) else { return }
            require((try? Certificate(der: certificate.der)) != nil, "a certificate is written as it was read")
        },
        Reader("pem", of: "UncurlTLS/Certificates/Certificate") { octets in
            _ = try? Certificate.all(inPEM: octets)
            _ = try? RevocationLists(octets)
            _ = try? PrivateKey.pem(octets, password: nil)
        },
        Reader("pkcs12", of: "UncurlTLS/Identity/PKCS12File") { octets in
            for password in [nil, "", "secret"] as [String?] { _ = try? PKCS12File.read(octets, password: password) }
        },
        Reader("private-key", of: "UncurlTLS/Identity/PrivateKey") { octets in
            _ = try? PrivateKey.pem(octets, password: "secret")
        },
        Reader("revocation-list", of: "UncurlTLS/Trust/RevocationLists", rest: "the file") { octets in
            do throws(CertificateError) { _ = try RevocationLists(octets) } catch { _ = error.description }
        },
        Reader(
            "pin",
            of: "UncurlTLS/Verification/Pin",
            rest: "the comparison with a chain",
            text: { text in
                for pin in (try? Pin.list(text)) ?? [] {
                    require((try? Pin(pin.description)) == pin, "a pin is written as it was read: \(text)")
                }
                do throws(PinError) { _ = try Pin(text) } catch { _ = error.description }
            }
        ),
        Reader("server-name", of: "UncurlTLS/Verification/ServerName", text: { _ = try? ServerName($0) }),
    ]
}
