import Testing
import UncurlTLS

@testable import UncurlSemantics

@Suite("Digest authentication")
struct DigestAuthenticationTests {
    private static let mufasa = Credentials(user: "Mufasa", password: "Circle of Life")
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    private func digest(
        _ line: String,
        _ credentials: Credentials = mufasa,
        clientNonce: String = clientNonce
    ) throws -> DigestAuthentication {
        let challenge = try #require(AuthenticationChallenge.all(inLine: line.utf8).first)
        var digest = DigestAuthentication(try #require(DigestChallenge(challenge)), credentials)
        digest.use(clientNonce: clientNonce)
        return digest
    }

    /// A parameter of an answer, quotes undone.
    private func part(_ name: String, of field: String) -> String? {
        AuthenticationChallenge.all(inLine: field.utf8).first?.parameters[name]
    }

    private func challenge3_9_1(_ algorithm: String) -> String {
        """
        Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """
    }

    @Test(
        "the example of RFC 7616 §3.9.1 comes out byte for byte",
        arguments: [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ]
    )
    func example1(algorithm: String, response: String) throws {
        var digest = try digest(challenge3_9_1(algorithm))
        let expected = """
            Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", algorithm=\(algorithm), \
            nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", nc=00000001, \
            cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", qop=auth, response="\(response)", \
            opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
            """
        #expect(try digest.authorization(method: "GET", target: "/dir/index.html", content: nil) == expected)
    }

    @Test("the example of RFC 7616 §3.9.2 comes out as erratum 4897 corrects it, its user hashed")
    func example2() throws {
        var digest = try digest(
            """
            Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, \
            nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", \
            opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=true
            """,
            Credentials(user: "Jäsøn Doe", password: "Secret, or not?"),
            clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"
        )
        let expected = """
            Digest username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b", \
            realm="api@example.org", uri="/doe.json", algorithm=SHA-512-256, \
            nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", nc=00000001, \
            cnonce="NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", qop=auth, \
            response="3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5", \
            opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", userhash=true
            """
        #expect(try digest.authorization(method: "GET", target: "/doe.json", content: nil) == expected)
    }

    @Test("the example of RFC 2617 §3.5 comes out, and that of RFC 2069 without a qop")
    func olderExamples() throws {
        let nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093"
        var digest = try digest(
            #"Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="\#(nonce)", opaque="5ccc""#,
            Credentials(user: "Mufasa", password: "Circle Of Life"),
            clientNonce: "0a4f113b"
        )
        let answer = try digest.authorization(method: "GET", target: "/dir/index.html", content: nil)
        #expect(part("response", of: answer) == "6629fae49393a05397450978507c4ef1")
        // No algorithm was named, and none is sent back.
        #expect(part("algorithm", of: answer) == nil)
        // RFC 2069's own value is wrong (erratum 749).
        var legacy = try self.digest(
            #"Digest realm="testrealm@host.com", nonce="\#(nonce)", opaque="5ccc069c403ebaf9f0171e9517f40e41""#,
            Credentials(user: "Mufasa", password: "CircleOfLife")
        )
        #expect(
            try legacy.authorization(method: "GET", target: "/dir/index.html", content: nil)
                == #"Digest username="Mufasa", realm="testrealm@host.com", uri="/dir/index.html", nonce="\#(nonce)", "#
                + #"response="1949323746fe6a43ef61f9606e7febea", opaque="5ccc069c403ebaf9f0171e9517f40e41""#
        )
    }

    @Test("each answer counts one up, and a new nonce starts the count with another nonce of ours")
    func counting() throws {
        var digest = try digest(challenge3_9_1("SHA-256"))
        let first = try digest.authorization(method: "GET", target: "/", content: nil)
        let second = try digest.authorization(method: "GET", target: "/", content: nil)
        #expect(part("nc", of: first) == "00000001" && part("nc", of: second) == "00000002")
        #expect(part("response", of: first) != part("response", of: second))
        digest.note(information: #"rspauth="aa", nextnonce="fresh", qop=auth"#)
        let third = try digest.authorization(method: "GET", target: "/", content: nil)
        #expect(part("nonce", of: third) == "fresh" && part("nc", of: third) == "00000001")
        #expect(part("cnonce", of: third) != Self.clientNonce)
        // The same nonce again is none the fresher, and nonsense is passed over.
        digest.note(information: #"nextnonce="fresh""#)
        digest.note(information: #"nextnonce="open"#)
        let fourth = try digest.authorization(method: "GET", target: "/", content: nil)
        #expect(part("nonce", of: fourth) == "fresh" && part("nc", of: fourth) == "00000002")
    }

    @Test(
        "a session's secret is made with the first nonces and outlives them",
        arguments: ["MD5-sess", "SHA-256-sess", "SHA-512-256-sess"]
    )
    func session(algorithm: String) throws {
        var digest = try digest(challenge3_9_1(algorithm))
        let first = try digest.authorization(method: "GET", target: "/a", content: nil)
        #expect(part("algorithm", of: first) == algorithm)
        #expect(part("response", of: first) == expectedSession(algorithm, 1, Self.clientNonce, nonce1, "GET:/a"))
        digest.note(information: #"nextnonce="fresh""#)
        digest.use(clientNonce: "ours")
        let second = try digest.authorization(method: "GET", target: "/b", content: nil)
        #expect(part("response", of: second) == expectedSession(algorithm, 1, "ours", "fresh", "GET:/b"))
    }

    private let nonce1 = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"

    /// RFC 7616 §3.4.1 and §3.4.2, written down once more.
    private func expectedSession(
        _ algorithm: String,
        _ count: Int,
        _ clientNonce: String,
        _ nonce: String,
        _ request: String
    ) -> String {
        let function = DigestChallenge.Algorithm(rawValue: String(algorithm.dropLast(5)))!.function
        func hash(_ text: String) -> String {
            function.hash(Array(text.utf8).span)!.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        let user = hash("Mufasa:http-auth@example.org:Circle of Life")
        let secret = hash("\(user):\(nonce1):\(Self.clientNonce)")
        return hash("\(secret):\(nonce):0000000\(count):\(clientNonce):auth:\(hash(request))")
    }

    @Test("where only auth-int is offered, the content counts, and content not in memory is an error")
    func content() throws {
        let line = #"Digest realm="r", qop="auth-int", nonce="n", algorithm=SHA-256"#
        var one = try digest(line)
        var other = try digest(line)
        let first = try one.authorization(method: "POST", target: "/", content: Array("a".utf8))
        let second = try other.authorization(method: "POST", target: "/", content: Array("b".utf8))
        #expect(part("qop", of: first) == "auth-int")
        #expect(part("response", of: first) != part("response", of: second))
        #expect(throws: AuthenticationError.contentNeeded) {
            try one.authorization(method: "POST", target: "/", content: nil)
        }
    }

    @Test("quotes and backslashes are escaped on the wire and hashed as they are")
    func quoting() throws {
        let credentials = Credentials(user: #"a"b\c"#, password: "p")
        var digest = try digest(#"Digest realm="say \"hi\\\"", nonce="n\"1", qop=auth, opaque="o\"p""#, credentials)
        let answer = try digest.authorization(method: "GET", target: "/", content: nil)
        #expect(answer.contains(#"username="a\"b\\c", realm="say \"hi\\\"", uri="/", nonce="n\"1""#))
        #expect(part("username", of: answer) == credentials.user && part("opaque", of: answer) == #"o"p"#)
    }

    @Test("a name beyond ASCII goes in the extended notation where the server reads UTF-8, raw where it does not say")
    func names() throws {
        let credentials = Credentials(user: "Jäsøn Doe", password: "p")
        var modern = try digest("Digest realm=r, nonce=n, qop=auth, charset=utf-8", credentials)
        #expect(
            try modern.authorization(method: "GET", target: "/", content: nil).hasPrefix(
                "Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, realm="
            )
        )
        var old = try digest("Digest realm=r, nonce=n, qop=auth", credentials)
        #expect(
            try old.authorization(method: "GET", target: "/", content: nil).hasPrefix(#"Digest username="Jäsøn Doe","#)
        )
    }

    private static func latin1(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value) } }

    @Test("a challenge that is no UTF-8 is answered in its own octets")
    func octets() throws {
        let line = Self.latin1("Digest realm=\"f\u{FC}r alle\", nonce=\"n\u{E9}\", opaque=\"\u{E0}\\\"\", qop=\"auth\"")
        let challenges = AuthenticationChallenge.all(in: fields("WWW-Authenticate", octets: line), "WWW-Authenticate")
        let challenge = try #require(challenges.first.flatMap(DigestChallenge.init))
        #expect(challenge.realm == "f\u{FFFD}r alle")
        var digest = DigestAuthentication(challenge, Self.mufasa)
        digest.use(clientNonce: "c")
        // MD5 over the octets FC and E9, from another program.
        let expected = Self.latin1(
            """
            Digest username="Mufasa", realm="f\u{FC}r alle", uri="/", nonce="n\u{E9}", nc=00000001, cnonce="c", \
            qop=auth, response="598c92c194e5f222c880252eaccb7489", opaque="\u{E0}\\""
            """
        )
        #expect(try digest.octets(method: "GET", target: "/", content: nil) == expected)
        digest.note(information: Self.latin1("nextnonce=\"m\u{E8}\""))
        let next = try digest.octets(method: "GET", target: "/", content: nil)
        #expect(next.contains(Self.latin1("nonce=\"m\u{E8}\", nc=00000001")))
    }

    @Test("challenges whose octets differ are different, also where they are no UTF-8")
    func distinct() {
        let both = ["\u{E8}", "\u{E9}"].map {
            AuthenticationChallenge.all(inLine: Self.latin1("Digest realm=\"\($0)\", nonce=n"))
        }
        #expect(both[0] != both[1] && both[0].first?.realm == both[1].first?.realm)
    }

    @Test("controls in name or password are refused: a line end would be a field of its own")
    func controls() throws {
        for bad in [Credentials(user: "a\r\nX: y", password: ""), Credentials(user: "a", password: "\0")] {
            var digest = try digest("Digest realm=r, nonce=n, qop=auth", bad)
            #expect(throws: AuthenticationError.controlCharacter) {
                try digest.authorization(method: "GET", target: "/", content: nil)
            }
        }
    }

    @Test("two digests of one challenge use nonces of their own")
    func random() throws {
        let challenge = try #require(
            DigestChallenge(AuthenticationChallenge.all(inLine: "Digest realm=r, nonce=n, qop=auth".utf8)[0])
        )
        let nonces = try (0..<8).map { _ in
            var digest = DigestAuthentication(challenge, Self.mufasa)
            return part("cnonce", of: try digest.authorization(method: "GET", target: "/", content: nil))
        }
        #expect(Set(nonces).count == 8 && nonces.allSatisfy { $0?.count == 32 })
    }
}
