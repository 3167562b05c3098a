import Testing
import UncurlHTTP1

@testable import UncurlSemantics

@Suite("ChallengeAuthenticator")
struct AuthenticatorTests {
    private let credentials = Credentials(user: "u", password: "p")
    private let basic = "Basic dTpw"
    private static let digest = "Digest realm=r, nonce=n, qop=auth"

    private func challenges(_ line: String) -> [AuthenticationChallenge] {
        AuthenticationChallenge.all(inLine: line.utf8)
    }

    private func accepts(
        _ authenticator: inout ChallengeAuthenticator,
        _ challenges: [AuthenticationChallenge],
        refusing sent: String?,
        round: Int
    ) -> Bool {
        authenticator.accept(challenges, refusing: sent, round: round)
    }

    private func next(_ authenticator: inout ChallengeAuthenticator) throws -> String? {
        try authenticator.authorization(method: "GET", target: "/", content: nil)
    }

    @Test("nothing is sent before there was a challenge, unless it shall be")
    func preemptive() throws {
        var asked = ChallengeAuthenticator(.proxy, credentials)
        #expect(try next(&asked) == nil)
        var eager = ChallengeAuthenticator(.proxy, credentials, isPreemptive: true)
        #expect(try next(&eager) == basic)
        var nobody = ChallengeAuthenticator(.proxy, nil, isPreemptive: true)
        #expect(try next(&nobody) == nil)
        #expect(!accepts(&nobody, challenges("Basic realm=r"), refusing: nil, round: 0))
    }

    @Test("a challenge to Basic is answered once, and goes on being answered")
    func basicOnce() throws {
        var authenticator = ChallengeAuthenticator(.proxy, credentials)
        #expect(accepts(&authenticator, challenges("Basic realm=r"), refusing: nil, round: 0))
        #expect(try next(&authenticator) == basic)
        #expect(try next(&authenticator) == basic)
        #expect(!accepts(&authenticator, challenges("Basic realm=r"), refusing: basic, round: 1))
        // Refused at the first go, having been sent unasked or for an earlier request: the same again is no use.
        #expect(!accepts(&authenticator, challenges("Basic realm=r"), refusing: basic, round: 0))
    }

    @Test(
        "the strongest scheme on offer is taken: never MD5 where there is better, never Basic where there is Digest",
        arguments: [
            ("Basic realm=b, \(Self.digest)", "MD5"),
            ("\(Self.digest), algorithm=MD5, \(Self.digest), algorithm=SHA-256", "SHA-256"),
            ("\(Self.digest), algorithm=SHA-512-256, \(Self.digest), algorithm=SHA-256", "SHA-512-256"),
            ("Digest realm=r, nonce=n, algorithm=SHA-1, Basic realm=b", nil),
        ]
    )
    func strongest(line: String, algorithm: String?) throws {
        var authenticator = ChallengeAuthenticator(.proxy, credentials)
        #expect(accepts(&authenticator, challenges(line), refusing: nil, round: 0))
        let answer = try #require(try next(&authenticator))
        if let algorithm {
            #expect(answer.hasPrefix("Digest ") && (algorithm == "MD5" || answer.contains("algorithm=\(algorithm),")))
        } else {
            #expect(answer == basic)
        }
    }

    @Test("no challenge we know is no use", arguments: ["Negotiate", "Digest realm=r", "Basic", ""])
    func unknown(line: String) {
        var authenticator = ChallengeAuthenticator(.proxy, credentials)
        #expect(!accepts(&authenticator, challenges(line), refusing: nil, round: 0))
    }

    @Test("a second refusal is answered only if the nonce was stale, a third not at all")
    func rounds() throws {
        let plain = challenges("Digest realm=r, nonce=n, qop=auth")
        let stale = challenges("Digest realm=r, nonce=m, qop=auth, stale=true")
        var authenticator = ChallengeAuthenticator(.proxy, credentials)
        #expect(accepts(&authenticator, plain, refusing: nil, round: 0))
        let first = try next(&authenticator)
        #expect(!accepts(&authenticator, plain, refusing: first, round: 1))
        #expect(accepts(&authenticator, stale, refusing: first, round: 1))
        let second = try #require(try next(&authenticator))
        #expect(second.contains(#"nonce="m""#) && second.contains("nc=00000001"))
        #expect(!accepts(&authenticator, stale, refusing: second, round: 2))
        // A later request whose kept nonce has grown old without a word of it.
        #expect(accepts(&authenticator, plain, refusing: second, round: 0))
    }

    @Test("answers count up across requests, and the proxy's field names the next nonce")
    func counting() throws {
        var authenticator = ChallengeAuthenticator(.proxy, credentials)
        _ = accepts(&authenticator, challenges("Digest realm=r, nonce=n, qop=auth"), refusing: nil, round: 0)
        #expect(try next(&authenticator)?.contains("nc=00000001") == true)
        #expect(try next(&authenticator)?.contains("nc=00000002") == true)
        var fields = HTTPFields()
        try fields.append("Authentication-Info", #"nextnonce="origin""#)
        authenticator.note(fields)
        try fields.append("Proxy-Authentication-Info", #"nextnonce="proxy""#)
        authenticator.note(fields)
        let answer = try #require(try next(&authenticator))
        #expect(answer.contains(#"nonce="proxy""#) && answer.contains("nc=00000001"))
    }
}
