import TestSupport
import UncurlTLS
import UncurlTestServer

/// Some authorities at random, who sign each other's certificates with all the faults there are, and one server. With
/// it, a second opinion on every question: a search through all paths by the rules of RFC 5280, without OpenSSL.
struct RandomWorld {
    /// What stands in one certificate.
    struct Plan {
        var subject: Int
        var key: Int
        var issuer: Int
        var signer: Int
        /// In days of the test's own calendar.
        var days: ClosedRange<Int64>
        var isAuthority = true
        var maySign = true
        var pathLength: Int?
        var usage: String?
        var permitted: String?
        var excluded: String?
        var isWeaklySigned = false
        var names: [String] = []
    }

    struct Made {
        let plan: Plan
        let certificate: Certificate
    }

    struct Question {
        let sent: [Int]
        let anchors: [Int]
        let host: String
        let day: Int64
    }

    /// Authorities 0 and 1 are roots; 5 is the server.
    static let rootCount = 2
    static let server = 5
    /// The last is a weak one.
    static let keyCount = 8
    static let hosts = ["a.test", "www.a.test", "x.www.a.test", "b.test", "www.b.test"]

    /// The roots first, then the intermediates.
    let authorities: [Made]
    let leaf: Made

    /// Keys take most of the time, so worlds share them.
    static func keys() throws -> [TestKey] {
        try (0..<keyCount - 1).map { _ in try TestKey() } + [TestKey(.rsa(bits: 1_024))]
    }

    init(_ random: inout SplitMix, keys: [TestKey]) throws {
        var made: [Made] = []
        for root in 0..<Self.rootCount {
            var plan = Plan(subject: root, key: root, issuer: root, signer: root, days: 0...100)
            if random.chance(8) { plan.pathLength = random.below(3) }
            if random.chance(8) { plan.permitted = "a.test" }
            if random.chance(10) { plan.days = 0...60 }
            made.append(try Self.make(plan, keys))
        }
        for _ in 0..<random.below(6) + 1 {
            let subject = Self.rootCount + random.below(3)
            var issuer = random.below(Self.server)
            if issuer == subject { issuer = random.below(Self.rootCount) }
            var plan = Plan(subject: subject, key: subject, issuer: issuer, signer: issuer, days: 0...100)
            Self.spoil(&plan, &random)
            made.append(try Self.make(plan, keys))
        }
        let issuer = random.below(Self.server)
        var plan = Plan(subject: Self.server, key: Self.server, issuer: issuer, signer: issuer, days: 0...100)
        plan.names =
            [["a.test"], ["*.a.test"], ["a.test", "www.a.test", "b.test"], ["*.test", "b.test"]].randomElement(
                using: &random
            ) ?? []
        plan.isAuthority = random.chance(20)
        plan.usage = ["serverAuth", nil, "serverAuth,clientAuth", "clientAuth"][random.chance(8) ? 3 : random.below(3)]
        if random.chance(12) { plan.days = 20...60 }
        if random.chance(25) { plan.key = Self.keyCount - 1 }
        if random.chance(25) { plan.isWeaklySigned = true }
        if random.chance(25) { plan.signer = (issuer + 1) % Self.server }
        authorities = made
        leaf = try Self.make(plan, keys)
    }

    private static func spoil(_ plan: inout Plan, _ random: inout SplitMix) {
        switch random.below(20) {
        case 0: plan.days = 0...50
        case 1: plan.days = 40...100
        case 2: plan.isAuthority = false
        case 3: plan.maySign = false
        case 4: plan.pathLength = random.below(2)
        case 5: plan.usage = "clientAuth"
        case 6: plan.usage = "serverAuth"
        case 7: plan.permitted = "b.test"
        case 8: plan.excluded = "a.test"
        case 9: plan.permitted = "a.test"
        case 10: plan.key = keyCount - 1
        case 11: plan.signer = (plan.signer + 1) % server
        case 12: plan.isWeaklySigned = true
        case 13: plan.key = server + 1
        default: break
        }
    }

    private static func make(_ plan: Plan, _ keys: [TestKey]) throws -> Made {
        var builder = CertificateBuilder(
            commonName: "Entity \(plan.subject)",
            alternativeNames: plan.names.map { "DNS:\($0)" }
        )
        builder.notBefore = .unix(1_600_000_000 + plan.days.lowerBound * 86_400)
        builder.notAfter = .unix(1_600_000_000 + plan.days.upperBound * 86_400)
        builder.authority = plan.isAuthority ? .yes(pathLength: plan.pathLength) : .no
        let mayServe = plan.names.isEmpty ? "" : ",digitalSignature"
        builder.keyUsage = "critical," + (plan.maySign && plan.isAuthority ? "keyCertSign" : "cRLSign") + mayServe
        builder.extendedKeyUsage = plan.usage
        let constraints = plan.permitted.map { "permitted;DNS:\($0)" } ?? plan.excluded.map { "excluded;DNS:\($0)" }
        builder.nameConstraints = constraints.map { "critical," + $0 }
        builder.hasSubjectKeyIdentifier = false
        builder.hasAuthorityKeyIdentifier = false
        if plan.isWeaklySigned { builder.digest = .sha1 }
        if plan.issuer == plan.subject {
            return Made(plan: plan, certificate: try Certificate(der: try builder.selfSigned(keys[plan.key]).der))
        }
        let issuer = try CertificateBuilder(commonName: "Entity \(plan.issuer)").selfSigned(keys[plan.signer])
        let der = try builder.issued(by: issuer, key: keys[plan.key]).der
        return Made(plan: plan, certificate: try Certificate(der: der))
    }

    func question(_ random: inout SplitMix) -> Question {
        let sent = authorities.indices.shuffled(using: &random).filter { $0 >= Self.rootCount || random.chance(4) }
        let anchors = (0..<Self.rootCount).filter { _ in !random.chance(3) }
        return Question(
            sent: random.chance(5) ? Array(sent.dropLast()) : sent,
            anchors: anchors,
            host: Self.hosts[random.below(Self.hosts.count)],
            day: [10, 30, 45, 55, 70][random.below(5)]
        )
    }

    func verdict(_ question: Question) throws -> Result<VerifiedChain, TLSTrustFailure> {
        PeerVerifier.verify(
            [leaf.certificate] + question.sent.map { authorities[$0].certificate },
            name: try ServerName(question.host),
            anchors: TrustAnchors(question.anchors.map { authorities[$0].certificate }),
            at: CertificateDate(secondsSince1970: 1_600_000_000 + question.day * 86_400 + 1)
        )
    }

    // MARK: The second opinion

    /// Whether any path is good.
    func isAcceptable(_ question: Question) -> Bool {
        guard leaf.plan.names.contains(where: { Self.fits($0, question.host) }) else { return false }
        return search([leaf.plan], question)
    }

    private func search(_ path: [Plan], _ question: Question) -> Bool {
        guard let last = path.last, path.count < 8 else { return false }
        for anchor in question.anchors where authorities[anchor].plan.subject == last.issuer {
            if isGood(path + [authorities[anchor].plan], question) { return true }
        }
        // A root that is sent leads nowhere but to itself.
        for index in question.sent where index >= Self.rootCount && authorities[index].plan.subject == last.issuer {
            if search(path + [authorities[index].plan], question) { return true }
        }
        return false
    }

    private func isGood(_ path: [Plan], _ question: Question) -> Bool {
        for (depth, plan) in path.enumerated() {
            let isAnchor = depth == path.count - 1
            guard plan.days.contains(question.day), plan.days.upperBound > question.day, plan.key != Self.keyCount - 1,
                isAnchor || (!plan.isWeaklySigned && path[depth + 1].key == plan.signer),
                plan.usage?.contains("serverAuth") ?? true
            else { return false }
            if depth == 0 { continue }
            guard plan.isAuthority, plan.maySign, plan.pathLength ?? .max >= depth - 1 else { return false }
            for name in leaf.plan.names {
                if let permitted = plan.permitted, !Self.isWithin(name, permitted) { return false }
                if let excluded = plan.excluded, Self.isWithin(name, excluded) { return false }
            }
        }
        return true
    }

    private static func isWithin(_ name: String, _ domain: String) -> Bool {
        name == domain || name.hasSuffix("." + domain)
    }

    private static func fits(_ name: String, _ host: String) -> Bool {
        guard name.hasPrefix("*.") else { return name == host }
        let parent = name.dropFirst(2)
        return parent.contains(".") && host.drop { $0 != "." }.dropFirst() == parent
    }
}

extension SplitMix {
    /// True once in so many times.
    fileprivate mutating func chance(_ of: Int) -> Bool { below(of) == 0 }
}
