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
        lapsed.nextUpdate = .unix(1_600_000_000)
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
