extension CertificateMatrix {
    /// RFC 5280 §6: which authority may sign which certificate.
    static func authorities(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        try trust(world) + usages(world) + issuers(world) + constraints(world)
    }

    private static func trust(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        let server = CertificateBuilder.server(["DNS:a.test"])
        let strange = try CertificateBuilder.authority("Strange Intermediate").issued(by: world.stranger)
        let below = try server.issued(by: strange)
        var chain = [world.intermediate]
        for index in 0..<20 {
            chain.insert(try CertificateBuilder.authority("Deep \(index)").issued(by: chain[0]), at: 0)
        }
        chain.insert(try server.issued(by: chain[0]), at: 0)
        // Another key with the same name: the name alone must not be enough.
        let namesake = try CertificateBuilder.authority("Root").selfSigned()
        return [
            CertificateCase("self-signed", [try server.selfSigned()], roots: [world.root], .selfSigned),
            CertificateCase(
                "untrusted root, sent",
                [below, strange, world.stranger],
                roots: [world.root],
                .untrustedRoot
            ),
            CertificateCase("untrusted root, not sent", [below, strange], roots: [world.root], .unknownIssuer),
            CertificateCase("incomplete chain", [world.leaf], roots: [world.root], .incompleteChain),
            CertificateCase(
                "another root of the same name",
                [world.leaf, world.intermediate],
                roots: [namesake],
                .unknownIssuer
            ),
            CertificateCase(
                "no roots at all",
                [world.leaf, world.intermediate, world.root],
                roots: [],
                .untrustedRoot
            ),
            CertificateCase("twenty-two authorities", chain, roots: [world.root], .chainTooLong),
        ]
    }

    private static func usages(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        let rows: [(String, String?, String?, CertificateCase.Ground?)] = [
            ("for clients only", nil, "clientAuth", .wrongPurpose),
            ("for any use, servers not named", nil, "anyExtendedKeyUsage", .wrongPurpose),
            ("for signing code", nil, "codeSigning", .wrongPurpose),
            ("for servers and clients", nil, "serverAuth,clientAuth", nil),
            ("a key for certificates only", "critical,keyCertSign", "serverAuth", .wrongPurpose),
        ]
        var cases: [CertificateCase] = []
        for (name, usage, extended, ground) in rows {
            var builder = CertificateBuilder.server(["DNS:a.test"])
            if let usage { builder.keyUsage = usage }
            builder.extendedKeyUsage = extended
            let leaf = try builder.issued(by: world.intermediate)
            cases.append(
                CertificateCase(name, [leaf, world.intermediate], roots: [world.root], ground)
                    .with { if usage != nil { $0.serving = .newVersion } }
            )
        }
        var authority = CertificateBuilder.authority("Client Intermediate")
        authority.extendedKeyUsage = "clientAuth"
        let narrow = try authority.issued(by: world.root)
        let leaf = try CertificateBuilder.server(["DNS:a.test"]).issued(by: narrow)
        cases.append(
            CertificateCase("an authority for clients only", [leaf, narrow], roots: [world.root], .wrongPurpose)
        )
        var odd = CertificateBuilder.server(["DNS:a.test"])
        odd.extensions = [.init(oid: "1.3.6.1.4.1.55555.2", isCritical: true)]
        let strange = try odd.issued(by: world.intermediate)
        cases.append(
            CertificateCase(
                "an unknown critical extension",
                [strange, world.intermediate],
                roots: [world.root],
                .unknownCriticalExtension
            )
        )
        return cases
    }

    private static func issuers(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        let server = CertificateBuilder.server(["DNS:a.test"])
        var plain = CertificateBuilder.authority("No Authority")
        plain.authority = .no
        plain.keyUsage = "critical,digitalSignature"
        var silent = CertificateBuilder.authority("Silent")
        silent.authority = .unstated
        silent.keyUsage = nil
        var signless = CertificateBuilder.authority("Signless")
        signless.keyUsage = "critical,digitalSignature"
        var cases: [CertificateCase] = []
        let rows: [(String, CertificateBuilder, CertificateCase.Ground)] = [
            ("an issuer that is no authority", plain, .notAnAuthority),
            ("an issuer that does not say it is an authority", silent, .notAnAuthority),
            // OpenSSL does not accept it as an issuer.
            ("an authority that may not sign certificates", signless, .notAnAuthority),
        ]
        for (name, builder, ground) in rows {
            let issuer = try builder.issued(by: world.root)
            cases.append(CertificateCase(name, [try server.issued(by: issuer), issuer], roots: [world.root], ground))
        }
        let other = try CertificateBuilder.server(["DNS:b.test"]).issued(by: world.intermediate)
        cases.append(
            CertificateCase(
                "a server's certificate as issuer",
                [try server.issued(by: other), other, world.intermediate],
                roots: [world.root],
                .notAnAuthority
            )
        )
        let last = try CertificateBuilder.authority("Last", pathLength: 0).issued(by: world.root)
        let beyond = try CertificateBuilder.authority("Beyond").issued(by: last)
        cases.append(CertificateCase("path length kept", [try server.issued(by: last), last], roots: [world.root]))
        cases.append(
            CertificateCase(
                "path length exceeded",
                [try server.issued(by: beyond), beyond, last],
                roots: [world.root],
                .pathTooLong
            )
        )
        var keyless = CertificateBuilder.authority("Keyless")
        keyless.hasSubjectKeyIdentifier = false
        keyless.hasAuthorityKeyIdentifier = false
        let issuer = try keyless.issued(by: world.root)
        let leaf = try server.issued(by: issuer)
        cases.append(CertificateCase("no key identifiers", [leaf, issuer], roots: [world.root]))
        cases.append(
            CertificateCase(
                "no key identifiers, by the strict rules",
                [leaf, issuer],
                roots: [world.root],
                .unprofiled
            )
            .with { $0.isStrict = true }
        )
        return cases
    }

    /// RFC 5280 §4.2.1.10.
    private static func constraints(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        let rows: [(String, constraint: String, names: [String], host: String, CertificateCase.Ground?)] = [
            ("a permitted name", "permitted;DNS:a.test", ["DNS:www.a.test"], "www.a.test", nil),
            ("a name that is not permitted", "permitted;DNS:b.test", ["DNS:a.test"], "a.test", .nameConstraints),
            ("an excluded name", "excluded;DNS:a.test", ["DNS:www.a.test"], "www.a.test", .nameConstraints),
            ("a name beside the excluded one", "excluded;DNS:b.test", ["DNS:a.test"], "a.test", nil),
            (
                "one name of two is excluded", "excluded;DNS:b.test", ["DNS:a.test", "DNS:b.test"], "a.test",
                .nameConstraints
            ),
            ("a wildcard within what is permitted", "permitted;DNS:a.test", ["DNS:*.a.test"], "www.a.test", nil),
            (
                "an address that is not permitted", "permitted;IP:192.0.2.0/255.255.255.0", ["IP:198.51.100.1"],
                "198.51.100.1", .nameConstraints
            ),
            ("a permitted address", "permitted;IP:192.0.2.0/255.255.255.0", ["IP:192.0.2.7"], "192.0.2.7", nil),
            (
                "an excluded address", "excluded;IP:192.0.2.0/255.255.255.0", ["IP:192.0.2.7"], "192.0.2.7",
                .nameConstraints
            ),
        ]
        var cases = try constraintCases(world)
        for (name, constraint, names, host, ground) in rows {
            var builder = CertificateBuilder.authority("Constrained")
            builder.nameConstraints = "critical," + constraint
            let issuer = try builder.issued(by: world.root)
            let leaf = try CertificateBuilder.server(names).issued(by: issuer)
            cases.append(CertificateCase(name, [leaf, issuer], roots: [world.root], host: host, ground))
        }
        var builder = CertificateBuilder.authority("Constrained")
        builder.nameConstraints = "critical,permitted;DNS:a.test"
        let issuer = try builder.issued(by: world.root)
        var leaf = CertificateBuilder.server(["IP:192.0.2.1"])
        leaf.commonName = "not.permitted.test"
        cases.append(
            CertificateCase(
                "constraints on hosts, an address, and a common name that is neither",
                [try leaf.issued(by: issuer), issuer],
                roots: [world.root],
                host: "192.0.2.1"
            )
        )
        return cases
    }
}
