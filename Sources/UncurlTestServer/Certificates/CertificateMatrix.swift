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
