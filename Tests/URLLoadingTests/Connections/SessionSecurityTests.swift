import Synchronization
import Testing
import UncurlEngine
import UncurlHTTP1
import UncurlSemantics
import UncurlTLS
import UncurlTestServer

@testable import URLLoading
@testable import UncurlClient

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
        let security = ClientSecurity(.isolated, hasDelegate: false)
        security.ask((judge: { $4(.accept) }, choice: { $3(.configured, false) }, limit: { _, _ in nil }))
        let stranger = try stranger
        for number in 0..<5_000 {
            security.evaluate(stranger, of: try origin(number)) { _ in }
            if number == 500 { #expect(try security.hasExcused(origin(0)) && !security.hasExcused(origin(501))) }
        }
        #expect(try (0..<5_000).allSatisfy { try security.hasExcused(origin($0)) })
    }

    @Test("the thousandth question is asked with as little stack as the first")
    func stack() throws {
        let places = Mutex<[UInt]>([])
        let security = ClientSecurity(.isolated, hasDelegate: false)
        let judge: ClientSecurity.Judge = {
            var here: UInt8 = 0
            let place = withUnsafePointer(to: &here) { UInt(bitPattern: $0) }
            places.withLock { $0.append(place) }
            $4(.accept)
        }
        security.ask((judge: judge, choice: { $3(.configured, false) }, limit: { _, _ in nil }))
        let (stranger, origin) = (try stranger, try origin(0))
        for _ in 0..<1_000 { security.evaluate(stranger, of: origin) { _ in } }
        let found = places.withLock { Set($0) }
        #expect(found.count == 1)
    }

    @Test("the identity of a server that has asked is the storage's if that alone answers, and else equals no other")
    func expected() throws {
        let client = try TestCertificates.client
        let identity = try ClientIdentity(pem: Array((client.chainPEM + client.keyPEM).utf8))
        let security = ClientSecurity(.isolated, hasDelegate: false)
        let isStored = Mutex(true)
        security.ask(
            (
                judge: { $4(.builtIn) },
                choice: { _, _, _, answer in answer(.show(identity), isStored.withLock { $0 }) },
                limit: { _, _ in nil }
            )
        )
        let request = IdentityRequest(name: try ServerName("h.test"), authorities: [])
        func expected(_ number: Int) throws -> [UInt8]? {
            security.expectedIdentity(for: try origin(number)) { identity.digest }
        }
        #expect(try expected(0) == nil && !security.isSpecial)
        for number in 0..<1_024 { security.chooseIdentity(for: request, of: try origin(number)) { _ in } }
        #expect(try expected(0) == identity.digest && expected(1_024) == nil && security.isSpecial)
        isStored.withLock { $0 = false }
        security.chooseIdentity(for: request, of: try origin(0)) { _ in }
        // After one more, the notes of all others are forgotten.
        for _ in 0..<2 {
            #expect(try expected(0) != nil && expected(0) != identity.digest && expected(0) != expected(0))
            security.chooseIdentity(for: request, of: try origin(1_024)) { _ in }
        }
    }

    @Test("the securities of two owners, and of one in two sessions, share neither tickets nor stored answers")
    func owners() throws {
        final class Owner: Sendable {}
        let owner = Owner()
        let sessions = (0..<2).map { _ in ClientSecurity(.isolated, hasDelegate: false) }
        let all = [sessions[0]] + sessions.map { ClientSecurity(of: owner, in: $0) }
        let others = all + [ClientSecurity(of: Owner(), in: sessions[0])]
        #expect(Set(others.map(\.resumptionScope)).count == 4)
        let marks = others.map { security in
            var fields = HTTPFields()
            security.mark(&fields, with: nil)
            return fields[VaryRule.clientCertificate]
        }
        #expect(marks[0] == nil && Set(marks).count == 4)
        #expect(all[1].owner === owner && others[3].owner == nil && others[3].isOwned)
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
