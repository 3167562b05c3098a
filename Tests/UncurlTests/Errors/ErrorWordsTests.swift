import Foundation
import Testing
import Uncurl

/// One of each case of the errors beneath ``UncurlError``, with a part of what it must say.
@Suite("Words of errors")
struct ErrorWordsTests {
    private static let url = URL(fileURLWithPath: "/tmp/x")

    private static let table: [(any Error, String)] = [
        (ParameterFailure(.notKeyed), "without names"), (ParameterFailure(.notFinite(path: "a.b", .nan)), "a.b is nan"),
        (ParameterFailure(.notExpressible(path: "a", kind: "null", format: "a property list")), "cannot express"),
        (ParameterFailure(.tooDeep(limit: 512)), "512 levels"), (ParameterFailure(.notInEncoding(.ascii)), "lacks"),
        (ParameterFailure(.headerName("a b")), "\"a b\" is not a valid name"),
        (ParameterFailure(.headerValue(name: "X-Y")), "X-Y has control characters"),
        (ParameterFailure(.colonInUserName), "a colon"), (ParameterFailure(.noURL), "no URL"),
        (ParameterFailure(.thrown(CocoaError(.coderInvalidValue))), "could not be encoded"),
        (CompressionFailure.encodedAlready("br"), "“br” already"),
        (CompressionFailure.outOfMemory, "not enough memory"),
        (StreamFailure.lineTooLong(limit: 7), "longer than 7 bytes"),
        (StreamFailure.eventTooLong(limit: 8), "longer than 8 bytes"),
        (StreamFailure.noEvent(attempts: 3), "each of 3 attempts"),
        (SecurityPolicyError.noPins, "nothing to compare with"), (SecurityPolicyError.invalidPattern("*"), "“*”"),
        (SecurityPolicyError.repeatedPattern("a.test"), "two rules for a.test"),
        (SecurityPolicyError.noEvaluators, "every server"),
        (SecurityPolicyError.pinsWithoutTLS(base: URL(string: "http://a.test")), "“http://a.test” is none"),
        (TrustedCertificateError.unreadable(url, reason: "it is gone"), "/tmp/x: it is gone"),
        (TrustedCertificateError.none(nil), "(in memory)"),
        (
            TrustFailure(host: "a.test", reason: .expired, words: "it has expired"),
            "a.test is not trusted: it has expired"
        ),
        (OperationFailure.output(nil, written: 9), "9 bytes"),
        (OperationFailure.changedContent(written: 9), "has changed"),
        (FileFailure.Obstacle.file, "a file is there"), (FileFailure.Obstacle.folder, "a folder is there"),
        (FileFailure.Obstacle.symbolicLink, "a symbolic link is there"),
        (FileFailure.Obstacle.device, "a device is there"),
        (FileFailure.Obstacle.pipe, "a pipe is there"), (FileFailure.Obstacle.socket, "a socket is there"),
        (AuthenticationFailure.missingCredential, "no credential"), (AuthenticationFailure.excessiveRefresh, "window"),
        (AuthenticationFailure.refreshFailed(URLError(.timedOut)), "timed out"),
        (InterceptionFailure.tooDeep(limit: 16), "16 interceptors"),
        (MultipartFailure.fileIsDirectory(url), "/tmp/x is a directory"),
        (MultipartFailure.lengthMismatch(part: "p", declared: 3, given: 2), "declared 3 bytes and gave 2"),
        (MultipartFailure.methodWithoutContent("GET"), "GET request cannot carry a form"),
    ]

    @Test("each error says in one sentence what happened, as itself and as an NSError", arguments: table.indices)
    func words(index: Int) {
        let (error, fragment) = Self.table[index]
        let said = error.localizedDescription
        #expect(said.contains(fragment), "\(said)")
        #expect((error as NSError).localizedDescription == said)
        #expect(!said.hasSuffix(".") && !said.contains("\n") && !said.contains("Uncurl"), "\(said)")
    }

    @Test(
        "text that is no JSON says what is wrong and at which octet",
        arguments: [
            ("[1", "ends within a value, at octet 2"), ("[1,]", "unexpected"),
            ("\"\\x\"", "an escape that does not exist"),
            ("01", "a malformed number"), ("1e999", "beyond the range"), ("\"\u{1}\"", "control character"),
            ("\"\\uD800\"", "one half of a surrogate pair"), ("-", "ends within a value"),
            ("1 2", "more text after the value"),
        ]
    )
    func json(text: String, words: String) {
        let failure = #expect(throws: JSONFailure.self) { try JSONValue(reading: Data(text.utf8)) }
        #expect(failure?.localizedDescription.contains(words) == true, "\(failure?.localizedDescription ?? "")")
    }
}
