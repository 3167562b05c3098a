import CUncurlOpenSSL
import CertificateTestSupport
import TestSupport
import Testing
import UncurlTestServer

@testable import UncurlTLS

/// A session to resume belongs to the server as the user judged it, and to the identity that the server was shown.
@Suite("Resumption where the user decides", .ownThread)
struct ResumptionTests {
    private let localhost: TestCertificates.Identity

    init() throws { localhost = try TestCertificates.localhost }

    /// What became of one connection.
    private struct Outcome {
        var isResumed = false
        var trustQuestions: [PeerTrust] = []
        var identityQuestions = 0
        /// The digest of the certificate that the server saw.
        var shown: [UInt8]?
        var error: TLSError?
    }

    private func context(_ change: (inout TLSConfiguration) -> Void = { _ in }) throws -> TLSContext {
        var configuration = TLSConfiguration()
        configuration.roots = .pem(localhost.authorityPEM)
        configuration.asksAboutTrust = true
        configuration.asksAboutIdentity = true
        change(&configuration)
        let context = try TLSContext(configuration)
        context.trust.load()
        return context
    }

    /// Does not know the server's authority.
    private func strangers() throws -> TLSContext {
        let other = try TestCertificates.client.authorityPEM
        return try context { $0.roots = .pem(other) }
    }

    private func server(
        _ version: TLSVersion,
        _ identity: TestCertificates.Identity? = nil,
        _ change: (inout TLSServerConfiguration) -> Void = { _ in }
    ) throws -> TLSServerContext {
        var configuration = TLSServerConfiguration(identity ?? localhost)
        configuration.maximumVersion = version
        change(&configuration)
        return try TLSServerContext(configuration)
    }

    /// One connection from its first byte to its end, tickets included.
    private func connect(
        _ context: TLSContext,
        _ server: TLSServerContext,
        judge: @escaping (PeerTrust) -> TrustVerdict = { _ in .builtIn },
        show identity: ClientIdentity? = nil
    ) throws -> Outcome {
        let pair = try MemoryPair(context, server)
        var outcome = Outcome()
        pair.judge = { question in
            outcome.trustQuestions.append(question)
            return judge(question)
        }
        pair.choose = { _ in
            outcome.identityQuestions += 1
            return identity.map { .show($0) } ?? .configured
        }
        do {
            try pair.run()
            pair.closeClient()
            try pair.run()
        } catch let error as TLSError {
            outcome.error = error
        }
        outcome.isResumed = pair.client.info?.isResumed ?? false
        outcome.shown = pair.server.info?.chain?.leafSHA256
        return outcome
    }

    // MARK: Trust

    @Test(
        "a session is resumed while its server is accepted, by one question a connection with the chain it was made with",
        arguments: TLSVersion.allCases
    )
    func accepted(version: TLSVersion) throws {
        let (strangers, server) = (try strangers(), try server(version))
        let first = try connect(strangers, server, judge: { _ in .accept })
        #expect(first.error == nil && !first.isResumed && first.trustQuestions.count == 1)
        for _ in 0..<3 {
            let next = try connect(strangers, server, judge: { _ in .accept })
            #expect(next.error == nil && next.isResumed && next.trustQuestions.count == 1)
            #expect(next.trustQuestions.first?.certificates == first.trustQuestions.first?.certificates)
            #expect(next.trustQuestions.first?.verdict == first.trustQuestions.first?.verdict)
        }
    }

    @Test(
        "a server that is accepted in spite of a pin stays accepted when it is resumed",
        arguments: TLSVersion.allCases
    )
    func acceptedInSpiteOfPin(version: TLSVersion) throws {
        let pin = try Pin(sha256: [UInt8](repeating: 0, count: 32))
        let (context, server) = (try context { $0.policy.pins = [pin] }, try server(version))
        for round in 0..<4 {
            let outcome = try connect(context, server, judge: { _ in .accept })
            #expect(outcome.error == nil && outcome.isResumed == (round > 0), "\(version), round \(round)")
        }
        guard case .untrusted? = try connect(context, server).error else {
            Issue.record("the rules take a server whose pin is wrong")
            return
        }
    }

    @Test(
        "a server accepted before is refused once the user has become stricter, and is asked about once",
        arguments: TLSVersion.allCases
    )
    func stricter(version: TLSVersion) throws {
        let server = try server(version)
        for verdict in [TrustVerdict.reject(reason: "not today"), .builtIn] {
            let strangers = try strangers()
            #expect(try connect(strangers, server, judge: { _ in .accept }).error == nil)
            let later = try connect(strangers, server, judge: { _ in verdict })
            #expect(!later.isResumed && later.trustQuestions.count == 1)
            switch (verdict, later.error) {
            case (.reject, .refused(reason: "not today")?), (.builtIn, .untrusted?): break
            default: Issue.record("\(verdict): \(String(describing: later.error))")
            }
        }
    }

    @Test(
        "a server whose certificate has been replaced is asked about anew where the old one is refused",
        arguments: TLSVersion.allCases
    )
    func replaced(version: TLSVersion) throws {
        let other = try TestCertificates.identity(["DNS:localhost"])
        let context = try context { $0.roots = .pem(localhost.authorityPEM + other.authorityPEM) }
        let (old, new) = (try server(version), try server(version, other))
        let first = try connect(context, old)
        let leaf = first.trustQuestions.first?.certificates.first
        let pinned = try connect(context, new) { question in
            question.certificates.first == leaf ? .reject(reason: "the old key") : .builtIn
        }
        #expect(pinned.error == nil && !pinned.isResumed && pinned.trustQuestions.count == 2)
        #expect(pinned.trustQuestions.last?.certificates.first == other.leaf.der)
    }

    @Test("what a stapled response is worth is asked again of a server that was accepted in spite of it")
    func staple() throws {
        let revoked = try #require(try CertificateMatrix.cases().first { $0.name == "a staple that says revoked" })
        for version in TLSVersion.allCases {
            var configuration = try revoked.client
            configuration.asksAboutTrust = true
            let context = try TLSContext(configuration)
            context.trust.load()
            let server = try TLSServerContext(revoked.server(version))
            let lax = try MemoryPair(context, server, name: revoked.host)
            lax.judge = { _ in .accept }
            try lax.run()
            #expect(context.sessions.count > 0)
            let strict = try MemoryPair(context, server, name: revoked.host)
            strict.judge = { _ in .builtIn }
            #expect {
                try strict.run()
            } throws: { error in
                guard case .untrusted(let failure)? = error as? TLSError else { return false }
                return failure.reason == .revoked
            }
        }
    }

    // MARK: Identities

    private enum User: CaseIterable { case alice, bob, anonymous }

    private func identities() throws -> (authority: TestCertificate, [User: ClientIdentity]) {
        let authority = try CertificateBuilder.authority("Users").selfSigned()
        var identities: [User: ClientIdentity] = [:]
        for (user, name) in [(User.alice, "alice"), (.bob, "bob")] {
            let leaf = try CertificateBuilder.client(name).issued(by: authority)
            identities[user] = try ClientIdentity(pem: Array((leaf.pem + leaf.key.pem()).utf8))
        }
        return (authority, identities)
    }

    @Test(
        "a ticket made for one identity is never used for another or for none, in either direction",
        arguments: TLSVersion.allCases
    )
    func users(version: TLSVersion) throws {
        let (authority, identities) = try identities()
        let server = try server(version) { $0.clientCertificate = .optional(Array(authority.pem.utf8)) }
        for first in User.allCases {
            for second in User.allCases {
                let context = try context()
                let one = try connect(context, server, show: identities[first])
                let other = try connect(context, server, show: identities[second])
                #expect(one.error == nil && other.error == nil)
                #expect(one.shown == identities[first]?.leafSHA256, "\(first)")
                #expect(other.shown == identities[second]?.leafSHA256, "\(first), then \(second)")
                #expect(other.isResumed == (first == second), "\(first), then \(second)")
                #expect(other.identityQuestions == 1 && other.trustQuestions.count == 1)
            }
        }
    }

    @Test("each of several users resumes only sessions of its own", arguments: TLSVersion.allCases)
    func turns(version: TLSVersion) throws {
        let (authority, identities) = try identities()
        let server = try server(version) { $0.clientCertificate = .optional(Array(authority.pem.utf8)) }
        let context = try context()
        for round in 0..<3 {
            for user in User.allCases {
                let outcome = try connect(context, server, show: identities[user])
                #expect(outcome.shown == identities[user]?.leafSHA256)
                #expect(outcome.isResumed == (round > 0), "\(user), round \(round)")
            }
        }
    }

    @Test("an identity that is refused to a server ends the connection, though a session with it is there")
    func refused() throws {
        let (authority, identities) = try identities()
        for version in TLSVersion.allCases {
            let server = try server(version) { $0.clientCertificate = .required(Array(authority.pem.utf8)) }
            let context = try context()
            #expect(try connect(context, server, show: identities[.alice]).shown != nil)
            let pair = try MemoryPair(context, server)
            pair.judge = { _ in .builtIn }
            pair.choose = { _ in .refuse(reason: "not today") }
            #expect(throws: TLSError.identity(.refused("not today"))) { try pair.run() }
        }
    }

    @Test("a server that asked for nothing is resumed without a question about identities")
    func unasked() throws {
        let (context, server) = (try context(), try server(.v1_3))
        _ = try connect(context, server)
        let next = try connect(context, server)
        #expect(next.isResumed && next.identityQuestions == 0)
    }

    // MARK: Forgetting

    /// OpenSSL's server gives no such ticket, so the session is made by hand.
    @Test("a ticket of TLS 1.3 with the lifetime 0 is not kept; in TLS 1.2 that says nothing (RFC 8446 §4.6.1)")
    func noLifetime() throws {
        for (version, count) in [(TLS1_3_VERSION, 0), (TLS1_2_VERSION, 1)] {
            let session = try #require(SSL_SESSION_new())
            SSL_SESSION_set_protocol_version(session, version)
            SSL_SESSION_set1_id(session, [1], 1)
            #expect(SSL_SESSION_get_ticket_lifetime_hint(session) == 0)
            let provenance = Provenance(chain: PeerVerifier.linked([]), question: nil, wish: nil, shown: nil)
            let cache = SessionCache(hostLimit: 1, ticketsPerHost: 1)
            cache.put(CachedSession(taking: session, made: provenance), "", under: nil, of: cache.generation)
            #expect(cache.count == count)
        }
    }

    @Test("tickets of connections that began before everything was forgotten are not kept")
    func forgotten() throws {
        let fixture = try TLSFixture()
        let pair = try fixture.connected()
        fixture.context.sessions.removeAll()
        #expect(pair.sendTicket())
        try pair.run()
        #expect(fixture.context.sessions.count == 0)
        let next = try fixture.connected()
        #expect(next.client.info?.isResumed == false)
        #expect(fixture.context.sessions.count > 0)
    }
}

extension ClientIdentity {
    fileprivate var leafSHA256: [UInt8]? { chain.first.map { CertificateFacts($0).sha256 } }
}
