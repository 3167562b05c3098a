import Testing

@testable import UncurlSemantics

@Suite("Digest challenges")
struct DigestChallengeTests {
    private func read(_ line: String) -> DigestChallenge? {
        AuthenticationChallenge.all(inLine: line.utf8).first.flatMap(DigestChallenge.init)
    }

    @Test(
        "a challenge that cannot be answered is not read as a Digest challenge",
        arguments: [
            "Basic realm=r", "Digest nonce=n", "Digest realm=r", "Digest realm=r, nonce=n, algorithm=SHA-1",
            "Digest realm=r, nonce=n, algorithm=MD5-sess", "Digest realm=r, nonce=n, qop=\"\"",
            "Digest realm=r, nonce=n, qop=auth-conf", "Digest realm=r, nonce=n, algorithm=-sess, qop=auth",
        ]
    )
    func unanswerable(line: String) { #expect(read(line) == nil) }

    @Test("names and values compare without case; auth is preferred to auth-int, none is the older protocol")
    func parts() throws {
        let full = try #require(
            read(
                #"DIGEST Realm="r", NONCE="n", Algorithm=sha-256-SESS, QOP="auth-int ,AUTH", Stale=TRUE, UserHash=True"#
            )
        )
        #expect(full.algorithm == .sha256 && full.isSession && full.protection == .request)
        #expect(full.isStale && full.hashesUser && full.algorithmName == "sha-256-SESS")
        #expect(read("Digest realm=r, nonce=n, qop=auth-int")?.protection == .content)
        let plain = try #require(read("Digest realm=r, nonce=n"))
        #expect(plain.algorithm == .md5 && plain.protection == .legacy && !plain.isStale && !plain.hashesUser)
        #expect(plain.opaque == nil)
    }

    @Test("words that are not ASCII are other words, and a combining mark belongs to no separator")
    func otherLetters() throws {
        // The long s is an S in upper case.
        #expect(read("Digest realm=r, nonce=n, qop=auth, algorithm=\"MD5-\u{17F}ess\"") == nil)
        #expect(read("Digest realm=r, nonce=n, algorithm=\"MD5\u{301}\"") == nil)
        #expect(read("Digest realm=r, nonce=n, qop=\"auth\u{301}\"") == nil)
        #expect(read("Digest realm=r, nonce=n, qop=\"auth,\u{301}\"")?.protection == .request)
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        #expect(read("Digest realm=r, nonce=n, qop=\"\(run)\"") == nil)
        let odd = try #require(
            read("Digest realm=r, nonce=n, stale=\"\(run)\", userhash=\"\(run)\", charset=\"\(run)\"")
        )
        #expect(!odd.isStale && !odd.hashesUser && !odd.isUTF8)
    }
}
