import UncurlTestServer

/// The decisions of a certificate check: one case per rule, made once per process.
public enum CertificateMatrix {
    /// All cases. The first call makes their keys and certificates, which takes almost a second. May be called on any
    /// thread.
    public static func cases() throws(TestCertificateError) -> [CertificateCase] { try made.get() }

    private static let made = Result<[CertificateCase], TestCertificateError> { () throws(TestCertificateError) in
        try make()
    }

    private static func make() throws(TestCertificateError) -> [CertificateCase] {
        let world = try World()
        return try accepted(world) + names(world) + dates(world) + authorities(world) + strength(world)
            + revocation(world) + stapling(world)
    }

    /// The authorities that most cases use.
    struct World {
        let root: TestCertificate
        let intermediate: TestCertificate
        /// An authority that no verifier trusts.
        let stranger: TestCertificate
        let leaf: TestCertificate

        init() throws(TestCertificateError) {
            root = try CertificateBuilder.authority("Root").selfSigned()
            intermediate = try CertificateBuilder.authority("Intermediate").issued(by: root)
            stranger = try CertificateBuilder.authority("Stranger").selfSigned()
            leaf = try CertificateBuilder.server(["DNS:a.test"]).issued(by: intermediate)
        }

        /// A leaf that names these, sent with its intermediate.
        func serving(_ names: [String], commonName: String? = nil) throws(TestCertificateError) -> [TestCertificate] {
            var builder = CertificateBuilder.server(names)
            if let commonName { builder.commonName = commonName }
            return [try builder.issued(by: intermediate), intermediate]
        }
    }

    private static func accepted(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        let (root, intermediate, leaf) = (world.root, world.intermediate, world.leaf)
        let both = [leaf, intermediate]
        let second = try CertificateBuilder.authority("Second").issued(by: intermediate)
        let deep = try CertificateBuilder.server(["DNS:a.test"]).issued(by: second)
        let own = try CertificateBuilder.server(["DNS:a.test"]).selfSigned()
        let many = (0..<1_999).map { "DNS:host-\($0).test" } + ["DNS:a.test"]
        var bare = CertificateBuilder(commonName: "bare", alternativeNames: ["DNS:a.test"])
        bare.authority = .unstated
        var noted = CertificateBuilder.server(["DNS:a.test"])
        noted.extensions = [.init(oid: "1.3.6.1.4.1.55555.1", isCritical: false)]
        return [
            CertificateCase("ok", both, roots: [root]),
            CertificateCase("ok over TLS 1.2 alone", both, roots: [root]).with { $0.serving = .oldVersion },
            CertificateCase("ok from a server that answers no ALPN", both, roots: [root]).with {
                $0.serving = .withoutALPN
            },
            CertificateCase(
                "ok for an IPv4 address",
                try world.serving(["IP:192.0.2.1"]),
                roots: [root],
                host: "192.0.2.1"
            ),
            CertificateCase(
                "ok for an IPv6 address",
                try world.serving(["IP:2001:db8::1"]),
                roots: [root],
                host: "[2001:DB8:0::1]"
            ),
            CertificateCase("the intermediates are out of order", [deep, intermediate, second], roots: [root]),
            CertificateCase("a certificate too many was sent", [leaf, world.stranger, intermediate], roots: [root]),
            CertificateCase("the root was sent, too", both + [root], roots: [root]),
            CertificateCase("a certificate was sent twice", [leaf, intermediate, intermediate, leaf], roots: [root]),
            CertificateCase("an intermediate is itself an anchor", [leaf], roots: [intermediate]),
            CertificateCase("a self-signed certificate is itself an anchor", [own], roots: [own]),
            CertificateCase("two thousand names", try world.serving(many), roots: [root]),
            CertificateCase("no usages stated", [try bare.issued(by: intermediate), intermediate], roots: [root]),
            CertificateCase(
                "an unknown extension that is not critical",
                [try noted.issued(by: intermediate), intermediate],
                roots: [root]
            ),
        ] + (try alternativePaths(world))
    }

    /// Chains whose first path is invalid and whose second one is valid. OpenSSL takes the first path that it finds.
    private static func alternativePaths(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        let key = try TestKey()
        let builder = CertificateBuilder.authority("Crossed")
        let good = try builder.issued(by: world.root, key: key)
        let leaf = try CertificateBuilder.server(["DNS:a.test"]).issued(by: good)
        var lapsed = builder
        lapsed.notAfter = TestDate.unix(1_600_000_000)
        lapsed.notBefore = TestDate.unix(1_590_000_000)
        var constrained = builder
        constrained.nameConstraints = "permitted;DNS:b.test"
        var misused = builder
        misused.extendedKeyUsage = "clientAuth"
        var short = CertificateBuilder.authority("Short", pathLength: 0)
        let shortKey = try TestKey()
        let shortGood = try CertificateBuilder.authority("Short").issued(by: world.root, key: shortKey)
        let shortBad = try short.issued(by: world.root, key: shortKey)
        short.commonName = "Below"
        let below = try short.issued(by: shortGood)
        let belowLeaf = try CertificateBuilder.server(["DNS:a.test"]).issued(by: below)
        let others: [(String, TestCertificate)] = [
            ("expired", try lapsed.issued(by: world.root, key: key)),
            ("constrained", try constrained.issued(by: world.root, key: key)),
            ("for clients only", try misused.issued(by: world.root, key: key)),
            ("self-signed and not trusted", try builder.selfSigned(key)),
            ("constrained to nothing", try emptyHanded(builder).issued(by: world.root, key: key)),
            ("by an unknown authority", try builder.issued(by: world.stranger, key: key)),
            (
                "signed wrongly",
                try builder.issued(by: TestCertificate(der: world.root.der, key: world.stranger.key), key: key)
            ),
        ]
        var cases: [CertificateCase] = []
        for (what, other) in others {
            cases.append(
                CertificateCase("alternative path: one issuer is \(what)", [leaf, other, good], roots: [world.root])
            )
        }
        cases.append(
            CertificateCase(
                "alternative path: one issuer allows no more authorities",
                [belowLeaf, below, shortBad, shortGood],
                roots: [world.root]
            )
        )
        return cases
    }

    /// Name constraints that permit nothing and exclude nothing.
    static func emptyHanded(_ builder: CertificateBuilder, _ value: [UInt8] = [0x30, 0x00]) -> CertificateBuilder {
        var builder = builder
        builder.extensions = [.init(oid: "2.5.29.30", isCritical: true, value: value)]
        return builder
    }

    private static func dates(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        let (past, future) = (TestDate.unix(1_600_000_000), TestDate.unix(2_400_000_000))
        var leaf = CertificateBuilder.server(["DNS:a.test"])
        leaf.notAfter = past
        let expired = try leaf.issued(by: world.intermediate)
        leaf.notAfter = CertificateBuilder().notAfter
        leaf.notBefore = future
        let early = try leaf.issued(by: world.intermediate)
        var far = CertificateBuilder.server(["DNS:a.test"])
        far.notAfter = .generalized("99991231235959Z")
        var authority = CertificateBuilder.authority("Old Intermediate")
        authority.notAfter = past
        let old = try authority.issued(by: world.root)
        authority.commonName = "Old Root"
        let oldRoot = try authority.selfSigned()
        let server = CertificateBuilder.server(["DNS:a.test"])
        return [
            CertificateCase("expired", [expired, world.intermediate], roots: [world.root], .expired),
            CertificateCase("not yet valid", [early, world.intermediate], roots: [world.root], .notYetValid),
            CertificateCase(
                "valid for ever",
                [try far.issued(by: world.intermediate), world.intermediate],
                roots: [world.root]
            ),
            CertificateCase("expired intermediate", [try server.issued(by: old), old], roots: [world.root], .expired),
            CertificateCase("expired root", [try server.issued(by: oldRoot)], roots: [oldRoot], .expired),
        ]
    }

    private static func strength(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        let weak = try TestKey(.rsa(bits: 1_024))
        let server = CertificateBuilder.server(["DNS:a.test"])
        let weakAuthority = try CertificateBuilder.authority("Weak").issued(by: world.root, key: weak)
        var old = server
        old.digest = .sha1
        var older = server
        older.digest = .md5
        let forged = TestCertificate(der: world.intermediate.der, key: world.stranger.key)
        let strong = try TestKey(.rsa(bits: 2_048))
        let rsa = try CertificateBuilder.authority("RSA").issued(by: world.root, key: strong)
        let dsa = try CertificateBuilder.authority("DSA").issued(by: world.root, key: try TestKey(.dsa))
        let dsaRoot = try CertificateBuilder.authority("DSA Root").selfSigned(try TestKey(.dsa))
        return [
            CertificateCase(
                "RSA of 1,024 bits",
                [try server.issued(by: world.intermediate, key: weak), world.intermediate],
                roots: [world.root],
                .weakKey
            ),
            CertificateCase(
                "an authority with RSA of 1,024 bits",
                [try server.issued(by: weakAuthority), weakAuthority],
                roots: [world.root],
                .weakKey
            ),
            CertificateCase("an authority with DSA", [try server.issued(by: dsa), dsa], roots: [world.root], .dsaKey),
            CertificateCase("a root with DSA", [try server.issued(by: dsaRoot)], roots: [dsaRoot], .dsaKey),
            CertificateCase(
                "RSA of 2,048 bits",
                [try server.issued(by: world.intermediate, key: strong), world.intermediate],
                roots: [world.root]
            ),
            CertificateCase(
                "P-384",
                [try server.issued(by: world.intermediate, key: try TestKey(.p384)), world.intermediate],
                roots: [world.root]
            ),
            CertificateCase(
                "Ed25519",
                [try server.issued(by: world.intermediate, key: try TestKey(.ed25519)), world.intermediate],
                roots: [world.root]
            ),
            CertificateCase(
                "signed with SHA-1",
                [try old.issued(by: world.intermediate), world.intermediate],
                roots: [world.root],
                .weakSignature
            ),
            CertificateCase(
                "signed with MD5",
                [try older.issued(by: rsa), rsa],
                roots: [world.root],
                .weakSignature
            ),
            CertificateCase(
                "signed by another key",
                [try server.issued(by: forged), world.intermediate],
                roots: [world.root],
                .badSignature
            ),
        ]
    }
}

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

extension CertificateMatrix {
    /// RFC 5280 §6.3: the lists of the leaf's and of the intermediate's issuer.
    static func revocation(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        var builder = CertificateBuilder.server(["DNS:a.test"])
        builder.serial = 7_001
        let leaf = try builder.issued(by: world.intermediate)
        builder = .authority("Numbered")
        builder.serial = 7_002
        let numbered = try builder.issued(by: world.root)
        let below = try CertificateBuilder.server(["DNS:a.test"]).issued(by: numbered)
        let chain = [leaf, world.intermediate]
        let rootList = try TestRevocationList().pem(by: world.root)
        let list = try TestRevocationList().pem(by: world.intermediate)
        var lapsed = TestRevocationList()
        lapsed.nextUpdate = 1_600_000_000
        let forged = try TestRevocationList().pem(by: world.intermediate, signer: world.stranger.key)
        let row = { (name: String, chain: [TestCertificate], lists: String, ground: CertificateCase.Ground?) in
            CertificateCase(name, chain, roots: [world.root], ground).with { $0.revocationLists = lists }
        }
        return [
            row("not revoked", chain, list + rootList, nil),
            row(
                "revoked",
                chain,
                try TestRevocationList(revoked: [7_001]).pem(by: world.intermediate) + rootList,
                .revoked
            ),
            row(
                "revoked intermediate",
                [below, numbered],
                try TestRevocationList(revoked: [7_002]).pem(by: world.root) + TestRevocationList().pem(by: numbered),
                .revoked
            ),
            CertificateCase(
                "lists, and an intermediate for an anchor",
                [leaf],
                roots: [world.intermediate],
                .unknownIssuer
            )
            .with { $0.revocationLists = list },
            row("no list of the issuer", chain, rootList, .revocationListMissing),
            row("no list of the root", chain, list, .revocationListMissing),
            row("an expired list", chain, try lapsed.pem(by: world.intermediate) + rootList, .revocationListExpired),
            row("a list signed by a stranger", chain, forged + rootList, .revocationListUnusable),
        ]
    }

    /// RFC 6960 §3.2: when a response is valid.
    static func stapling(_ world: World) throws(TestCertificateError) -> [CertificateCase] {
        let (leaf, issuer) = (world.leaf, world.intermediate)
        var delegate = CertificateBuilder(commonName: "Responder")
        delegate.keyUsage = "critical,digitalSignature"
        delegate.extendedKeyUsage = "OCSPSigning"
        let responder = try delegate.issued(by: issuer)
        let foreign = try delegate.issued(by: world.stranger)
        delegate.notAfter = .unix(1_600_000_000)
        let lapsed = try delegate.issued(by: issuer)
        delegate = CertificateBuilder(commonName: "No Responder")
        delegate.extendedKeyUsage = "serverAuth"
        let imposter = try delegate.issued(by: issuer)
        var old = TestOCSPResponse()
        old.nextUpdate = 1_600_000_000
        var early = TestOCSPResponse()
        early.thisUpdate = 2_400_000_000
        var endless = TestOCSPResponse()
        endless.nextUpdate = nil
        var builder = CertificateBuilder.server(["DNS:b.test"])
        builder.serial = 9_001
        let other = try builder.issued(by: issuer)
        let good = TestOCSPResponse()
        // A response without certificates ends with its signature.
        var forged = try good.der(about: leaf, issuer: issuer)
        forged[forged.count - 1] ^= 1
        let rows: [(String, [UInt8]?, CertificateCase.Ground?)] = [
            ("a good staple", try good.der(about: leaf, issuer: issuer), nil),
            ("a good staple by a delegate", try good.der(about: leaf, issuer: issuer, signer: responder), nil),
            ("no staple", nil, .stapleMissing),
            ("a staple that says revoked", try TestOCSPResponse(.revoked).der(about: leaf, issuer: issuer), .revoked),
            (
                "a staple that does not know", try TestOCSPResponse(.unknown).der(about: leaf, issuer: issuer),
                .stapleUnusable
            ),
            ("an expired staple", try old.der(about: leaf, issuer: issuer), .stapleUnusable),
            ("a staple of the future", try early.der(about: leaf, issuer: issuer), .stapleUnusable),
            ("a staple without an end, years old", try endless.der(about: leaf, issuer: issuer), .stapleUnusable),
            ("a staple about another certificate", try good.der(about: other, issuer: issuer), .stapleUnusable),
            (
                "a staple with a wrong signature", forged,
                .stapleUnusable
            ),
            (
                "a staple by a stranger's responder", try good.der(about: leaf, issuer: issuer, signer: foreign),
                .stapleUnusable
            ),
            (
                "a staple by an expired responder", try good.der(about: leaf, issuer: issuer, signer: lapsed),
                .stapleUnusable
            ),
            (
                "a staple by a certificate for something else",
                try good.der(about: leaf, issuer: issuer, signer: imposter), .stapleUnusable
            ),
            ("a staple that says try later", try TestOCSPResponse.tryLater(), .stapleUnusable),
            ("a staple of rubbish", [1, 2, 3], .stapleUnusable),
        ]
        return rows.map { name, response, ground in
            CertificateCase(name, [leaf, issuer], roots: [world.root], ground).with {
                $0.isStaplingRequired = true
                $0.stapledResponse = response
            }
        }
    }
}
