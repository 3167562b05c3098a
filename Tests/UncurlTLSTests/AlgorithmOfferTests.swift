import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

/// What a ClientHello offers (RFC 8446 §4.1.2), and what handshakes come to with it.
@Suite("Algorithms", .ownThread)
struct AlgorithmOfferTests {
    private struct Hello {
        var suites: [UInt16] = []
        var extensions: [UInt16: [UInt8]] = [:]

        init(_ context: TLSContext, _ server: TLSServerContext) throws {
            let pair = try MemoryPair(context, server)
            try pair.stepClient()
            let bytes = pair.toServer
            func number(_ place: Int) -> Int { Int(bytes[place]) << 8 | Int(bytes[place + 1]) }
            // Record, message, version and random; then the session's identifier.
            var place = 5 + 4 + 2 + 32
            place += 1 + Int(bytes[place])
            suites = stride(from: 0, to: number(place), by: 2).map { UInt16(number(place + 2 + $0)) }
            place += 2 + number(place)
            place += 1 + Int(bytes[place])
            let end = place + 2 + number(place)
            place += 2
            while place < end {
                let length = number(place + 2)
                extensions[UInt16(number(place))] = Array(bytes[place + 4..<place + 4 + length])
                place += 4 + length
            }
        }

        /// The list of one extension whose list has a length of two octets.
        func list(_ type: UInt16) -> [UInt16] {
            let bytes = Array((extensions[type] ?? []).dropFirst(2))
            return stride(from: 0, to: bytes.count - 1, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        }

        /// RFC 8446 §4.2.3, §4.2.7.
        var signatures: [UInt16] { list(13) }
        var groups: [UInt16] { list(10) }
    }

    /// By their numbers: TLS_RSA_WITH_…; and …_CBC_SHA.
    private static let staticRSA: Set<UInt16> = [0x2F, 0x35, 0x3C, 0x3D, 0x9C, 0x9D, 0xC09C, 0xC09D]
    private static let sha1: Set<UInt16> = [0x2F, 0x33, 0x35, 0x39, 0xC009, 0xC00A, 0xC013, 0xC014]

    private func hello(_ change: (inout TLSConfiguration) -> Void = { _ in }) throws -> Hello {
        let fixture = try TLSFixture(client: change)
        return try Hello(fixture.context, fixture.serverContext)
    }

    @Test("static RSA, CBC with SHA-1 and DSA are offered only where they are switched on")
    func legacy() throws {
        let (modern, legacy) = (try hello(), try hello { $0.allowsLegacyAlgorithms = true })
        let isDSA = { (scheme: UInt16) in scheme & 0xFF == 2 && scheme >> 8 <= 6 }
        #expect(Self.staticRSA.isDisjoint(with: modern.suites) && !Self.staticRSA.isDisjoint(with: legacy.suites))
        #expect(Self.sha1.isDisjoint(with: modern.suites) && !Self.sha1.isDisjoint(with: legacy.suites))
        #expect(!modern.signatures.contains(where: isDSA))
        // All else stays: TLS 1.3, and forward secrecy with AEAD for keys of both kinds.
        #expect(
            Set(modern.suites).isSuperset(of: [0x1301, 0x1302, 0x1303, 0xC02B, 0xC02C, 0xC02F, 0xC030, 0xCCA8, 0xCCA9])
        )
        #expect(
            Set(modern.signatures).isSuperset(of: [0x0403, 0x0503, 0x0603, 0x0807, 0x0804, 0x0805, 0x0806, 0x0401])
        )
        // Besides DSA, the library's own list has nothing that ours lacks.
        #expect(Set(legacy.signatures).subtracting(modern.signatures).allSatisfy(isDSA))
        let own = try hello { $0.ciphers = "AES128-GCM-SHA256" }
        #expect(own.suites.contains(0x9C) && !own.suites.contains(0xC02B))
    }

    @Test(
        "a server that has nothing better is refused, and spoken to where that is switched on",
        arguments: ["AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA"]
    )
    func oldServer(cipher: String) throws {
        let identity = try TestCertificates.identity(["DNS:localhost"], kind: .rsa(bits: 2_048))
        var configuration = TLSServerConfiguration(identity)
        configuration.maximumVersion = .v1_2
        configuration.ciphers = cipher
        let server = try TLSServerContext(configuration)
        for isAllowed in [false, true] {
            var client = TLSConfiguration()
            client.roots = .pem(identity.authorityPEM)
            client.allowsLegacyAlgorithms = isAllowed
            let context = try TLSContext(client)
            context.trust.load()
            let pair = try MemoryPair(context, server)
            if isAllowed {
                try pair.run()
                #expect(pair.client.isOpen)
            } else {
                #expect(throws: TLSError.noSharedCipher) { try pair.run() }
            }
        }
    }

    @Test("groups are offered as they are set, in that order; one that is unknown is refused with the context")
    func groups() throws {
        let hello = try hello { $0.groups = "P-384:X25519" }
        #expect(hello.groups == [24, 29])
        let fixture = try TLSFixture(client: { $0.groups = "P-384" })
        let pair = try fixture.connected()
        #expect(pair.client.isOpen)
        #expect(throws: TLSError.configuration("groups P-1")) { try TLSFixture(client: { $0.groups = "P-1" }) }
    }

    @Test("X25519MLKEM768 comes first where OpenSSL has it, and X25519 where it has not")
    func hybrid() throws {
        let isThere = (try? TLSFixture(client: { $0.groups = "X25519MLKEM768" })) != nil
        let groups = try hello().groups
        #expect(groups.first == (isThere ? 0x11EC : 29))
        #expect(Set(groups).isSuperset(of: [23, 24, 29]))
    }

    @Test("a chain may have as many certificates between its ends as is allowed", arguments: 0...3)
    func depth(maximum: Int) throws {
        let root = try CertificateBuilder.authority("Root").selfSigned()
        var chain = [root]
        for number in 0..<2 {
            chain.insert(try CertificateBuilder.authority("Number \(number)").issued(by: chain[0]), at: 0)
        }
        chain.insert(try CertificateBuilder.server(["DNS:localhost"]).issued(by: chain[0]), at: 0)
        let identity = try TestCertificates.Identity(
            authority: root,
            leaf: chain[0],
            intermediates: Array(chain[1..<3])
        )
        var client = TLSConfiguration()
        client.roots = .pem(root.pem)
        client.policy.maximumDepth = maximum
        let context = try TLSContext(client)
        context.trust.load()
        let pair = try MemoryPair(context, TLSServerContext(TLSServerConfiguration(identity)))
        guard maximum < 2 else { return try pair.run() }
        #expect {
            try pair.run()
        } throws: { error in
            guard case .untrusted(let failure)? = error as? TLSError else { return false }
            return failure.reason == .chainTooLong
        }
    }

    @Test("an authority's certificate for its own new key does not count towards the depth", arguments: 0...1)
    func selfIssued(maximum: Int) throws {
        let root = try CertificateBuilder.authority("Root").selfSigned()
        let old = try CertificateBuilder.authority("Issuer").issued(by: root)
        let new = try CertificateBuilder.authority("Issuer").issued(by: old)
        let leaf = try CertificateBuilder.server(["DNS:a.test"]).issued(by: new)
        var policy = VerificationPolicy()
        policy.maximumDepth = maximum
        let verdict = PeerVerifier.verify(
            try [leaf, new, old].map { try Certificate(der: $0.der) },
            name: try ServerName("a.test"),
            anchors: TrustAnchors([try Certificate(der: root.der)]),
            policy: policy
        )
        switch verdict {
        case .success: #expect(maximum == 1)
        case .failure(let failure): #expect(maximum == 0 && failure.reason == .chainTooLong, "\(failure)")
        }
    }

    @Test("a depth that makes no sense counts as the nearest that does", arguments: [(-1, 0), (1_000_000, 3)])
    func clamped(maximum: Int, count: Int) throws {
        let root = try CertificateBuilder.authority("Root").selfSigned()
        var issuer = root
        var sent: [TestCertificate] = []
        for number in 0..<count {
            issuer = try CertificateBuilder.authority("Number \(number)").issued(by: issuer)
            sent.append(issuer)
        }
        let leaf = try CertificateBuilder.server(["DNS:a.test"]).issued(by: issuer)
        var policy = VerificationPolicy()
        policy.maximumDepth = maximum
        let verdict = PeerVerifier.verify(
            try ([leaf] + sent).map { try Certificate(der: $0.der) },
            name: try ServerName("a.test"),
            anchors: TrustAnchors([try Certificate(der: root.der)]),
            policy: policy
        )
        #expect(throws: Never.self) { try verdict.get() }
    }
}
