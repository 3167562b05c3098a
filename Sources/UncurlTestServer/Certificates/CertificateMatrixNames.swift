extension CertificateMatrix {
    /// RFC 9110 §4.3.4, RFC 6125 §6: which names a certificate is for.
    static func names(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        let rows: [(String, names: [String], host: String, CertificateCase.Ground?)] = [
            ("a wildcard for one label", ["DNS:*.a.test"], "www.a.test", nil),
            ("a name in another case", ["DNS:A.Test"], "a.TEST", nil),
            ("the URL's host has a trailing dot", ["DNS:a.test"], "a.test.", nil),
            ("an internationalised name", ["DNS:xn--bcher-kva.test"], "xn--bcher-kva.test", nil),
            ("an internationalised name under a wildcard", ["DNS:*.test.example"], "xn--bcher-kva.test.example", nil),
            ("an underscore in a name", ["DNS:my_host.test"], "my_host.test", nil),
            ("the second of several names", ["DNS:b.test", "DNS:a.test", "IP:192.0.2.9"], "a.test", nil),
            ("a short form of an IPv6 address", ["IP:2001:db8:0:0:1:0:0:1"], "2001:db8::1:0:0:1", nil),
            ("wrong host", ["DNS:b.test"], "a.test", .wrongHost),
            ("a name below the certificate's", ["DNS:a.test"], "www.a.test", .wrongHost),
            ("a name above the certificate's", ["DNS:www.a.test"], "a.test", .wrongHost),
            ("a wildcard is not the name itself", ["DNS:*.a.test"], "a.test", .wrongHost),
            ("a wildcard for two labels", ["DNS:*.a.test"], "x.www.a.test", .wrongHost),
            ("a lone wildcard", ["DNS:*"], "a.test", .wrongHost),
            ("a wildcard for a top-level domain", ["DNS:*.test"], "a.test", .wrongHost),
            ("a wildcard within a label", ["DNS:w*.a.test"], "www.a.test", .wrongHost),
            ("a wildcard at the end of a label", ["DNS:*w.a.test"], "www.a.test", .wrongHost),
            ("a wildcard that is not first", ["DNS:www.*.test"], "www.a.test", .wrongHost),
            ("two wildcards", ["DNS:*.*.test"], "www.a.test", .wrongHost),
            ("a wildcard within an A-label", ["DNS:xn--*.a.test"], "xn--bcher-kva.a.test", .wrongHost),
            ("a trailing dot in the certificate", ["DNS:a.test."], "a.test", .wrongHost),
            ("a leading dot in the certificate", ["DNS:.a.test"], "www.a.test", .wrongHost),
            ("an address as a host name", ["DNS:192.0.2.1"], "192.0.2.1", .wrongHost),
            ("an IPv6 address as a host name", ["DNS:2001:db8::1"], "2001:db8::1", .wrongHost),
            ("another address", ["IP:192.0.2.2"], "192.0.2.1", .wrongHost),
            ("an IPv4 address mapped into IPv6", ["IP:192.0.2.1"], "::ffff:192.0.2.1", .wrongHost),
            ("an address for a host", ["IP:192.0.2.1"], "a.test", .wrongHost),
            ("a mail address for a host", ["email:root@a.test"], "a.test", .wrongHost),
            ("a URI for a host", ["URI:https://a.test/"], "a.test", .wrongHost),
        ]
        var cases: [CertificateCase] = []
        for (name, names, host, ground) in rows {
            cases.append(CertificateCase(name, try world.serving(names), roots: [world.root], host: host, ground))
        }
        cases.append(
            CertificateCase(
                "no names but the common one",
                try world.serving([], commonName: "a.test"),
                roots: [world.root],
                .wrongHost
            )
        )
        cases.append(
            CertificateCase(
                "an address as the common name",
                try world.serving([], commonName: "192.0.2.1"),
                roots: [world.root],
                host: "192.0.2.1",
                .wrongHost
            )
        )
        cases.append(
            CertificateCase(
                "the common name fits, the others do not",
                try world.serving(["DNS:b.test"], commonName: "a.test"),
                roots: [world.root],
                .wrongHost
            )
        )
        // dNSName, [2] IMPLICIT IA5String: "a.test\\0.b.test".
        let tricky = Array("a.test".utf8) + [0] + Array(".b.test".utf8)
        var builder = CertificateBuilder(commonName: "tricky")
        builder.extensions = [
            .init(
                oid: "2.5.29.17",
                isCritical: false,
                value: [0x30, UInt8(tricky.count + 2), 0x82, UInt8(tricky.count)] + tricky
            )
        ]
        let split = try builder.issued(by: world.intermediate)
        for host in ["a.test", "b.test"] {
            cases.append(
                CertificateCase(
                    "a zero octet in a name, for \(host)",
                    [split, world.intermediate],
                    roots: [world.root],
                    host: host,
                    .wrongHost
                )
            )
        }
        return cases
    }
}
