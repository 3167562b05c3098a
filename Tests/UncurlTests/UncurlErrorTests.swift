import Testing

@testable import Uncurl

@Suite("Uncurl's errors")
struct UncurlErrorTests {
    @Test("one import brings the session manager's room and URLSession")
    func oneImport() {
        #expect(URLSessionConfiguration.default.timeoutIntervalForRequest == 60)
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
