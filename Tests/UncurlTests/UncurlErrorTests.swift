import Testing

@testable import Uncurl

@Suite("Uncurl's errors")
struct UncurlErrorTests {
    @Test("one import brings the session manager's room and URLSession")
    func oneImport() {
        #expect(URLSessionConfiguration.default.timeoutIntervalForRequest == 60)
    }

    /// One of each case, with what its words have to say. A new case does not compile before it stands here.
    private func samples() throws -> [(UncurlError, String)] {
        let url = try #require(URL(string: "https://example.com/x"))
        let response = HTTPURLResponse(url: url, statusCode: 500, httpVersion: nil, headerFields: nil)
        let answer = ReceivedResponse(response: response, data: Data())
        let file = FileFailure(source: url, destination: url, underlying: FileFailure.Obstacle.device)
        let samples: [(UncurlError, String)] = [
            (.invalidURL("a b", reason: "it names no host"), "names no host"),
            (.parameters(ParameterFailure(.notKeyed)), "without names"), (.header(name: "X-Y"), "X-Y"),
            (.multipart(.notReplayable), "only once"), (.compression(.encodedAlready("br")), "br"),
            (.adaptation(AuthenticationFailure.missingCredential), "credential"),
            (.validation(ValidationFailure([.status(500)], answer: answer)), "500"),
            (.serialization(SerializationFailure(.empty, answer: answer)), "no content"),
            (.trust(TrustFailure(host: "example.com", reason: .expired, words: "it has expired")), "expired"),
            (.challenge(URLError(.userAuthenticationRequired)), "wants credentials"),
            (.output(.changedContent(written: 7)), "7 bytes"), (.file(file), "a device is there"),
            (.transport(URLError(.timedOut)), "timed out"), (.cancelled, "cancelled"),
            (.sessionInvalidated, "invalidated"),
            (.retry(AuthenticationFailure.excessiveRefresh, original: .cancelled), "window"),
            (.bodyNotReplayable, "only once"),
        ]
        #expect(Set(samples.map { kind($0.0) }) == Set(0..<17))
        return samples
    }

    private func kind(_ error: UncurlError) -> Int {
        switch error {
        case .invalidURL: 0
        case .parameters: 1
        case .header: 2
        case .multipart: 3
        case .compression: 4
        case .adaptation: 5
        case .validation: 6
        case .serialization: 7
        case .trust: 8
        case .challenge: 9
        case .output: 10
        case .file: 11
        case .transport: 12
        case .cancelled: 13
        case .sessionInvalidated: 14
        case .retry: 15
        case .bodyNotReplayable: 16
        }
    }

    @Test("the localized description of every error says what happened, as an error and as an NSError")
    func localized() throws {
        for (error, words) in try samples() {
            let erased: any Error = error
            for said in [
                error.localizedDescription, erased.localizedDescription, (erased as NSError).localizedDescription,
            ] {
                #expect(said.contains(words), "\(said)")
                #expect(!said.contains("operation could not be completed"), "\(said)")
            }
        }
    }

    @Test(
        "the errors beneath say what happened too",
        arguments: [
            SecurityPolicyError.noPins, PublicKeyPinError(description: "no pin"), StreamFailure.noEvent(attempts: 3),
            OperationFailure.output(nil, written: 1), AuthenticationFailure.refreshFailed(URLError(.timedOut)),
            InterceptionFailure.tooDeep(limit: 16), FileFailure.Obstacle.folder,
        ] as [any Error]
    )
    func beneath(error: any Error) {
        #expect(!error.localizedDescription.contains("operation could not be completed"))
    }

    @Test("what logs are told of an error has no URL in it, however deep it lies")
    func words() throws {
        let url = try #require(URL(string: "https://u:p@example.com/x?token=secret"))
        let response = HTTPURLResponse(url: url, statusCode: 500, httpVersion: nil, headerFields: nil)
        let answer = ReceivedResponse(response: response, data: Data("secret".utf8))
        let transport = URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: url])
        let refusal = ValidationFailure(
            [.status(500)],
            answer: answer,
            serialization: SerializationFailure(.empty, answer: answer)
        )
        let errors: [UncurlError] = [
            .invalidURL(url.absoluteString, reason: "it names no host"), .transport(transport), .validation(refusal),
            .serialization(SerializationFailure(.empty, answer: answer)),
        ]
        for error in errors {
            for told in [error, .adaptation(error), .challenge(transport), .retry(error, original: error)] {
                #expect(!told.words.isEmpty)
                #expect(!told.words.contains("secret") && !told.words.contains("example.com"), "\(told.words)")
            }
        }
    }
}
