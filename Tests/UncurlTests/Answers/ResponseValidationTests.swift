import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("Validation of answers")
struct ResponseValidationTests {
    @Test("200 to 299 are acceptable, and no other status is", .rows("S1"), arguments: 100..<600)
    func statuses(status: Int) {
        let failure = ResponseValidation().failure(of: answer("x", status: status, type: "text/html"))
        #expect((failure == nil) == (200..<300).contains(status))
        #expect(failure == nil || failure?.status == status)
    }

    @Test("a refused answer still has its bytes, and an answer that is not HTTP passes", .rows("S1"))
    func data() {
        let rejected = DataResponseSerializer().outcome(of: answer("body", status: 404))
        #expect(rejected.value == Data("body".utf8))
        #expect(rejected.validationFailure != nil)
        let plain = URLResponse(
            url: URL(string: "file:///x")!,
            mimeType: "text/html",
            expectedContentLength: 1,
            textEncodingName: nil
        )
        let validation = ResponseValidation(contentTypes: ["application/json"])
        #expect(validation.failure(of: ReceivedResponse(response: plain, data: Data("x".utf8))) == nil)
    }

    @Test("nil and any disable a check", .rows("S4"))
    func disabled() {
        let validation = ResponseValidation(statusCodes: nil, contentTypes: .any)
        #expect(validation.failure(of: answer("x", status: 599, type: "a/b")) == nil)
        #expect(ResponseValidation.none.failure(of: answer("x", status: 599)) == nil)
        #expect(ResponseValidation(statusCodes: [404]).failure(of: answer("x", status: 404)) == nil)
    }

    @Test(
        "types are matched with wildcards and structured suffixes, without parameters and case",
        .rows("S4", "A12", "W17"),
        arguments: [
            ("application/json", "application/json", true),
            ("application/json", "Application/JSON; charset=utf-8", true),
            ("application/json", "application/problem+json", true),
            ("application/json", "application/vnd.api+json;x=y", true),
            ("application/json", "application/jsonx", false),
            ("application/json", "text/json", false),
            ("application/json", "text/html", false),
            ("application/xml", "image/svg+xml", true),
            ("text/xml", "image/svg+xml", false),
            ("image/*", "image/png", true),
            ("image/*", "text/png", false),
            ("*/*", "a/b", true),
            ("*/json", "text/json", true),
            ("*/*", nil, true),
            ("application/json", nil, false),
            ("image/*", nil, false),
            ("nonsense", "nonsense", false),
        ] as [(String, String?, Bool)]
    )
    func types(acceptable: String, type: String?, isAcceptable: Bool) {
        let validation = ResponseValidation(contentTypes: .listed([acceptable]))
        #expect((validation.failure(of: answer("x", type: type)) == nil) == isAcceptable)
    }

    @Test("an answer without content has no wrong content type", .rows("S2", "A12"), arguments: [nil, "text/html"])
    func emptyBody(type: String?) throws {
        let validation = ResponseValidation(contentTypes: ["application/json"])
        #expect(validation.failure(of: answer("", type: type)) == nil)
        let folder = try TemporaryFolder()
        #expect(validation.failure(of: try downloaded(answer("", type: type), in: folder)) == nil)
        #expect(validation.failure(of: try downloaded(answer("x", type: type), in: folder)) != nil)
    }

    @Test(
        "asRequested accepts the types of the request's Accept field",
        .rows("A12"),
        arguments: [
            (nil, "a/b", true), ("*/*", "a/b", true), ("text/html;q=0.9, image/*", "image/png", true),
            ("text/html, image/*", "a/b", false), ("text/html;q=0, */*;q=0.1", "a/b", true),
            ("text/html;q=0", "text/html", false),
        ] as [(String?, String, Bool)]
    )
    func asRequested(accept: String?, type: String, isAcceptable: Bool) {
        let failure = ResponseValidation(contentTypes: .asRequested).failure(
            of: answer("x", type: type, accept: accept)
        )
        #expect((failure == nil) == isAcceptable)
    }

    private struct Rejection: Error {
        let number: Int
    }

    @Test("checks run in order, and the first that throws is the reason", .rows("A12"))
    func checks() {
        let validation = ResponseValidation(checks: [
            { _ in }, { _ in throw Rejection(number: 1) }, { _ in throw Rejection(number: 2) },
        ])
        let reasons = validation.failure(of: answer("x"))?.reasons ?? []
        guard case .rejected(let error as Rejection)? = reasons.first else {
            Issue.record("\(reasons)")
            return
        }
        #expect(reasons.count == 1 && error.number == 1)
    }

    @Test("a wrong status and a wrong type are both reasons, the status first", .rows("S2", "D17"))
    func both() throws {
        let failure = try #require(
            ResponseValidation(contentTypes: ["application/json"])
                .failure(of: answer("<html>", status: 500, type: "text/html"))
        )
        guard case .status(500) = failure.reasons[0], case .contentType("text/html", _) = failure.reasons[1] else {
            Issue.record("\(failure)")
            return
        }
        let bridged = failure as NSError
        #expect(bridged.code == URLError.badServerResponse.rawValue)
        let underlying = bridged.userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(underlying?.code == URLError.cannotDecodeContentData.rawValue)
    }

    @Test("the text of a failure has neither the URL's user nor its query", .rows("S3"))
    func secrets() throws {
        let url = try #require(URL(string: "http://me:secret@h/p?token=secret"))
        let response = try #require(HTTPURLResponse(url: url, statusCode: 410, httpVersion: nil, headerFields: nil))
        let answer = ReceivedResponse(request: nil, response: response, data: Data(), fileURL: nil)
        let failure = try #require(ResponseValidation().failure(of: answer))
        #expect(failure.description == "unacceptable status 410 (Gone) from http://h/p?…", "\(failure)")
        let other = SerializationFailure(.empty, answer: answer)
        #expect(other.description == "the answer has no content (status 410 from http://h/p?…)", "\(other)")
    }

    @Test("a failure carries the response and the body, by its properties and as an NSError", .rows("S3"))
    func carries() throws {
        let failure = try #require(ResponseValidation().failure(of: answer("gone", status: 410)))
        #expect(failure.status == 410)
        #expect(failure.data == Data("gone".utf8))
        #expect(failure.description == "unacceptable status 410 (Gone) from http://h/p")
        let bridged = failure as NSError
        #expect(bridged.domain == "com.alamofire.error.serialization.response" && bridged.code == -1011)
        let response = bridged.userInfo["com.alamofire.serialization.response.error.response"] as? HTTPURLResponse
        #expect(response?.statusCode == 410)
        #expect(bridged.userInfo["com.alamofire.serialization.response.error.data"] as? Data == Data("gone".utf8))
        #expect(bridged.userInfo[NSURLErrorFailingURLErrorKey] as? URL == URL(string: "http://h/p"))
        #expect(bridged.localizedDescription.contains("410"))
    }

    @Test("neither failure hides the other: a rejected answer's body is read all the same", .rows("D17"))
    func neitherHides() throws {
        let decoded = JSONResponseSerializer().outcome(
            of: answer(#"{"error":7}"#, status: 422, type: "application/json")
        )
        #expect(decoded.value?["error"]?.int == 7)
        #expect(decoded.validationFailure?.status == 422)
        #expect(decoded.validationFailure?.serialization == nil)
        let broken = JSONResponseSerializer().outcome(of: answer("<html>", status: 502, type: "text/html"))
        let failure = try #require(broken.validationFailure)
        #expect(failure.status == 502 && failure.reasons.count == 2)
        guard case .json(let cause)? = failure.serialization?.reason else {
            Issue.record("\(failure)")
            return
        }
        #expect(cause.reason == .unexpected(octet: UInt8(ascii: "<")))
        #expect(failure.serialization?.data == Data("<html>".utf8))
        // The content of an error page says nothing more: the status ends the sentence.
        #expect(failure.description == "unacceptable status 502 (Bad Gateway) from http://h/p", "\(failure)")
        let page = JSONResponseSerializer().outcome(of: answer("<html>", type: "text/html"))
        let words = try #require(page.validationFailure?.description)
        #expect(words.contains("text/html") && words.contains("besides, unexpected <"), "\(words)")
        let acceptable = JSONResponseSerializer().outcome(of: answer("<", type: "application/json"))
        #expect(acceptable.serializationFailure?.status == 200)
        #expect((acceptable.serializationFailure.map { $0 as NSError })?.code == -1016)
    }
}
