import Synchronization
import Testing

@testable import URLLoading

@Suite("Answering challenges")
struct ChallengeSenderTests {
    private final class Answers: Sendable {
        private let all = Mutex<[String]>([])
        var list: [String] { all.withLock { $0 } }

        func add(_ answer: ChallengeSender.Reply) {
            let word =
                switch answer.disposition {
                case .useCredential: answer.credential.map { "use \($0.user ?? "")" } ?? "continue"
                case .cancelAuthenticationChallenge: "cancel"
                case .performDefaultHandling: "default"
                case .rejectProtectionSpace: "reject"
                }
            all.withLock { $0.append(word) }
        }
    }

    private func challenge(_ sender: ChallengeSender) -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(
            protectionSpace: URLProtectionSpace(
                host: "h",
                port: 80,
                protocol: "http",
                realm: nil,
                authenticationMethod: nil
            ),
            proposedCredential: nil,
            previousFailureCount: 2,
            failureResponse: nil,
            error: nil,
            sender: sender
        )
    }

    private let credential = URLCredential(user: "u", password: "p", persistence: .none)

    @Test("the first answer counts, whichever method gives it; later ones do nothing", arguments: 0..<5)
    func once(first: Int) {
        let answers = Answers()
        let sender = ChallengeSender { answers.add($0) }
        let challenge = challenge(sender)
        let methods: [() -> Void] = [
            { challenge.sender?.use(credential, for: challenge) },
            { challenge.sender?.continueWithoutCredential(for: challenge) },
            { challenge.sender?.cancel(challenge) },
            { challenge.sender?.performDefaultHandling(for: challenge) },
            { challenge.sender?.rejectProtectionSpaceAndContinue(with: challenge) },
        ]
        methods[first]()
        for method in methods { method() }
        #expect(answers.list == [["use u", "continue", "cancel", "default", "reject"][first]])
    }

    @Test("an archive keeps the challenge without its sender, and of its error what every error has")
    func archive() throws {
        let space = challenge(ChallengeSender { _ in }).protectionSpace
        let url = try url("http://h/")
        let response = HTTPURLResponse(url: url, statusCode: 401, httpVersion: nil, headerFields: ["X-A": "b"])
        let error = URLError(.userAuthenticationRequired, url, CancellationError())
        let original = URLAuthenticationChallenge(
            protectionSpace: space,
            proposedCredential: credential,
            previousFailureCount: 3,
            failureResponse: response,
            error: error,
            sender: ChallengeSender { _ in }
        )
        for challenge in [original, challenge(ChallengeSender { _ in })] {
            let data = try NSKeyedArchiver.archivedData(withRootObject: challenge, requiringSecureCoding: true)
            let copy = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: URLAuthenticationChallenge.self, from: data)
            )
            #expect(copy.protectionSpace == space && copy.proposedCredential == challenge.proposedCredential)
            #expect(copy.previousFailureCount == challenge.previousFailureCount && copy.sender == nil)
            #expect(copy.failureResponse == challenge.failureResponse)
            let (error, expected) = (copy.error as NSError?, challenge.error as NSError?)
            #expect(error?.domain == expected?.domain && error?.code == expected?.code)
            #expect(error?.localizedDescription == expected?.localizedDescription)
        }
    }

    @Test("a challenge that is passed on asks the same question with another sender")
    func passedOn() {
        let answers = Answers()
        let original = challenge(ChallengeSender { _ in })
        let copy = URLAuthenticationChallenge(
            authenticationChallenge: original,
            sender: ChallengeSender { answers.add($0) }
        )
        #expect(copy.previousFailureCount == 2 && copy.protectionSpace == original.protectionSpace)
        copy.sender?.cancel(copy)
        #expect(answers.list == ["cancel"])
    }
}
