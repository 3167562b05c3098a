import HTTPEngine
import Synchronization
import TLS
import TestServer
import Testing

@testable import URLLoading

@Suite("What a session remembers of the servers that it trusted")
struct SessionSecurityTests {
    private let made: TestCertificates.Identity

    init() throws { made = try TestCertificates.localhost }

    private func origin(_ number: Int) throws -> Origin { try Origin(scheme: .https, host: "h\(number).test") }

    /// A server that nobody trusts by its certificate.
    private var stranger: PeerTrust {
        get throws {
            let sent = [try Certificate(der: made.leaf.der)]
            let name = try ServerName("h.test")
            let authority = TrustAnchors([try Certificate(der: made.authority.der)])
            return PeerTrust(
                name: name,
                sent: sent,
                verdict: PeerVerifier.verify(sent, name: name, anchors: TrustAnchors([])),
                presented: try PeerVerifier.verify(sent, name: nil, anchors: authority).get()
            )
        }
    }

    @Test("of thousands of servers trusted in spite of their certificates, none counts as trusted by it afterwards")
    func excused() throws {
        let security = SessionSecurity(SessionSettings(.isolated), hasDelegate: false)
        security.ask(.init(judge: { $3(.accept) }, choice: { $2(.configured) }, limit: { _ in nil }))
        let stranger = try stranger
        for number in 0..<5_000 {
            security.evaluate(stranger, of: try origin(number)) { _ in }
            if number == 500 { #expect(try security.hasExcused(origin(0)) && !security.hasExcused(origin(501))) }
        }
        for number in 0..<5_000 { #expect(try security.hasExcused(origin(number))) }
        #expect(security.isSpecial)
    }

    @Test("an identity that was shown to a server, and was forgotten, equals no other and not none")
    func shown() throws {
        let client = try TestCertificates.client
        let identity = try ClientIdentity(pem: Array((client.chainPEM + client.keyPEM).utf8))
        let security = SessionSecurity(SessionSettings(.isolated), hasDelegate: false)
        security.ask(.init(judge: { $3(.builtIn) }, choice: { $2(.show(identity)) }, limit: { _ in nil }))
        let request = IdentityRequest(name: try ServerName("h.test"), authorities: [])
        for number in 0..<1_025 { security.chooseIdentity(for: request, of: try origin(number)) { _ in } }
        #expect(try security.identity(shownTo: origin(1_024)) == identity.digest)
        let forgotten = try #require(try security.identity(shownTo: origin(0)))
        #expect(try forgotten != identity.digest && forgotten != security.identity(shownTo: origin(0)))
        #expect(security.isSpecial)
    }

    @Test("notes of any number of origins are few, and it is known that there were more")
    func notes() throws {
        var notes = OriginNotes<Int>()
        #expect(notes.isEmpty)
        for number in 0..<5_000 {
            notes[try origin(number)] = number
            #expect(notes.count <= 1_024 && notes.hasForgotten == (number >= 1_024))
        }
        #expect(try notes[origin(4_999)] == 4_999 && notes[origin(0)] == nil)
        for number in 0..<5_000 { notes[try origin(number)] = nil }
        #expect(notes.count == 0 && !notes.isEmpty)
    }
}
