import Testing
import UncurlSemantics

@testable import UncurlEngine

@Suite("Memory of proxies")
struct ProxyAuthenticatorsTests {
    private func proxy(_ user: String, isPreemptive: Bool = false) throws -> Proxy {
        Proxy(
            .http,
            host: try URLHost("p"),
            credentials: Credentials(user: user, password: "p"),
            isPreemptive: isPreemptive
        )
    }

    private func answers(_ authenticator: ChallengeAuthenticator) throws -> Bool {
        var authenticator = authenticator
        return try authenticator.authorization(method: "GET", target: "/", content: nil) != nil
    }

    @Test("what a proxy has asked for is kept for that proxy and user, and for no other")
    func kept() throws {
        let memory = ProxyAuthenticators()
        _ = memory[try proxy("a")].accept(
            [AuthenticationChallenge(scheme: "basic", parameters: ["realm": "r"])],
            refusing: nil,
            round: 0
        )
        #expect(try answers(memory[try proxy("a")]) && !answers(memory[try proxy("b")]))
        #expect(try answers(memory[try proxy("b", isPreemptive: true)]))
    }

    @Test("the memory is bounded, even where each request names other credentials")
    func bounded() throws {
        let memory = ProxyAuthenticators()
        for number in 0..<1_000 {
            memory[try proxy("\(number)")] = ChallengeAuthenticator(.proxy, nil)
            #expect(memory.count <= 64)
        }
        #expect(memory.count > 0)
    }
}
