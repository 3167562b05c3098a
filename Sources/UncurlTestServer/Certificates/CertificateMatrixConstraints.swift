extension CertificateMatrix {
    /// RFC 5280 §4.2.1.10, in cases where OpenSSL alone checks too little.
    static func constraintCases(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        try wildcards(world) + oddNames(world) + oddConstraints(world)
    }

    private typealias Row = (
        name: String, constraints: String, names: [String], host: String, ground: CertificateCase.Ground?
    )

    private static func cases(_ rows: [Row], _ world: World) throws(TestCertificateError) -> [CertificateCase] {
        var cases: [CertificateCase] = []
        for row in rows {
            var builder = CertificateBuilder.authority("Constrained")
            builder.nameConstraints = "critical," + row.constraints
            let issuer = try builder.issued(by: world.root)
            let leaf = try CertificateBuilder.server(row.names).issued(by: issuer)
            cases.append(CertificateCase(row.name, [leaf, issuer], roots: [world.root], host: row.host, row.ground))
        }
        return cases
    }

    private static func wildcards(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        let wild = ["DNS:*.a.test"]
        return try cases(
            [
                (
                    "a wildcard that covers an excluded name", "excluded;DNS:www.a.test", wild, "x.a.test",
                    .nameConstraints
                ),
                ("the same in other cases", "excluded;DNS:WWW.A.test", ["DNS:*.a.TEST"], "x.a.test", .nameConstraints),
                ("a wildcard two labels above the excluded name", "excluded;DNS:x.www.a.test", wild, "www.a.test", nil),
                ("a wildcard above what is excluded below a name", "excluded;DNS:.www.a.test", wild, "www.a.test", nil),
                ("a wildcard beside the excluded name", "excluded;DNS:www.b.test", wild, "x.a.test", nil),
                ("a wildcard below the excluded name", "excluded;DNS:a.test", wild, "x.a.test", .nameConstraints),
                (
                    "a wildcard that covers more than is permitted", "permitted;DNS:www.a.test", wild, "www.a.test",
                    .nameConstraints
                ),
                ("a wildcard below a permitted dot", "permitted;DNS:.a.test", wild, "www.a.test", nil),
                (
                    "a name that a permitted dot leaves out", "permitted;DNS:.a.test", ["DNS:a.test"], "a.test",
                    .nameConstraints
                ),
            ],
            world
        )
    }

    private static func oddNames(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        var rows: [Row] = []
        for odd in [".a.test", "www..a.test", "w*.a.test", "*.*.a.test", "w w.a.test", "a.test.", "*"] {
            rows.append(
                (
                    "constraints and the name \(odd)", "permitted;DNS:a.test", ["DNS:" + odd, "DNS:b.a.test"],
                    "b.a.test", .nameConstraints
                )
            )
        }
        let excluded = "excluded;DNS:b.test"
        rows += [
            ("exclusions and the name .a.test", excluded, ["DNS:.a.test", "DNS:a.test"], "a.test", .nameConstraints),
            ("exclusions and an underscore", excluded, ["DNS:_x.a.test", "DNS:a.test"], "a.test", nil),
            (
                "constraints on addresses and the name .a.test", "excluded;IP:192.0.2.0/255.255.255.0",
                ["DNS:.a.test", "DNS:a.test"], "a.test", nil
            ),
        ]
        var constrained = CertificateBuilder.authority("Constrained")
        constrained.nameConstraints = "permitted;DNS:a.test"
        let above = try constrained.issued(by: world.root)
        var named = CertificateBuilder.authority("Named")
        named.alternativeNames = ["DNS:.a.test"]
        let below = try named.issued(by: above)
        named.commonName = "Constrained"
        let twin = try named.issued(by: above)
        let server = CertificateBuilder.server(["DNS:a.test"])
        return try cases(rows, world) + [
            CertificateCase(
                "an authority below constraints with the name .a.test",
                [try server.issued(by: below), below, above],
                roots: [world.root],
                .nameConstraints
            ),
            CertificateCase(
                "a self-issued authority below constraints with the name .a.test",
                [try server.issued(by: twin), twin, above],
                roots: [world.root]
            ),
        ]
    }

    private static func oddConstraints(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        let names = ["DNS:a.test"]
        let rows: [Row] = [
            ("a wildcard as a constraint", "excluded;DNS:*.b.test", names, "a.test", .unusableNameConstraints),
            ("a constraint with an empty label", "excluded;DNS:b..test", names, "a.test", .unusableNameConstraints),
            ("a constraint with a dot at its end", "excluded;DNS:b.test.", names, "a.test", .unusableNameConstraints),
            ("a constraint with two dots first", "excluded;DNS:..b.test", names, "a.test", .unusableNameConstraints),
        ]
        var cases = try cases(rows, world)
        let server = CertificateBuilder.server(names)
        for (name, value) in [
            ("constraints without subtrees", [0x30, 0x00]),
            ("constraints with empty lists of subtrees", [0x30, 0x04, 0xA0, 0x00, 0xA1, 0x00]),
        ] as [(String, [UInt8])] {
            let issuer = try emptyHanded(.authority("Constrained"), value).issued(by: world.root)
            let leaf = try server.issued(by: issuer)
            cases.append(CertificateCase(name, [leaf, issuer], roots: [world.root], .unusableNameConstraints))
        }
        for isCritical in [true, false] {
            var builder = server
            builder.nameConstraints = (isCritical ? "critical," : "") + "permitted;DNS:a.test"
            let leaf = try builder.issued(by: world.intermediate)
            cases.append(
                CertificateCase(
                    "\(isCritical ? "critical" : "plain") name constraints in a server's certificate",
                    [leaf, world.intermediate],
                    roots: [world.root],
                    .misplacedNameConstraints
                )
            )
        }
        var own = CertificateBuilder.authority("a.test")
        own.alternativeNames = names
        own.keyUsage = "critical,keyCertSign,digitalSignature"
        own.nameConstraints = "critical,permitted;DNS:a.test"
        let authority = try own.issued(by: world.intermediate)
        own.authority = .unstated
        let half = try own.issued(by: world.intermediate)
        cases += [
            CertificateCase(
                "name constraints in a server's authority",
                [authority, world.intermediate],
                roots: [world.root]
            ),
            CertificateCase(
                "name constraints in a server's certificate that may sign others and is no authority",
                [half, world.intermediate],
                roots: [world.root],
                .misplacedNameConstraints
            ),
        ]
        var dotted = CertificateBuilder.authority("Constrained")
        dotted.nameConstraints = "critical,permitted;DNS:.test"
        let issuer = try dotted.issued(by: world.root)
        cases.append(
            CertificateCase(
                "a constraint that begins with a dot, by the strict rules",
                [try server.issued(by: issuer), issuer],
                roots: [world.root],
                .unusableNameConstraints
            )
            .with { $0.isStrict = true }
        )
        return cases
    }
}
