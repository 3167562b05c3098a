import UncurlExtras
import UncurlText
import UncurlXML

@testable import URLLoading
@testable import Uncurl
@testable import UncurlReactor
@testable import UncurlTestKit

/// The same for the modules above Foundation.
enum FacadeErrors {
    private static let url = URL(fileURLWithPath: "/tmp/x")
    private static let answer = ReceivedResponse(response: nil, data: Data())
    private static let trust = Uncurl.TrustFailure(host: "a.test", reason: .expired, words: "it has expired")
    private static let file = FileFailure(
        source: url,
        destination: URL(fileURLWithPath: "/tmp/y"),
        underlying: FileFailure.Obstacle.folder
    )
    private static let validation = ValidationFailure([.status(503)], answer: answer)
    private static let serialization = SerializationFailure(.empty, answer: answer)

    static var table: [ErrorWords] { requests + answers + forms + security + whole + others }

    private static let requests: [ErrorWords] = [
        ErrorWords(ParameterFailure(.notKeyed), "without names"),
        ErrorWords(ParameterFailure(.notFinite(path: "a.b", .nan)), "a.b is nan"),
        ErrorWords(
            ParameterFailure(.notExpressible(path: "a", kind: "null", format: "a property list")),
            "cannot express"
        ),
        ErrorWords(ParameterFailure(.tooDeep(limit: 512)), "512 levels"),
        ErrorWords(ParameterFailure(.notInEncoding(.ascii)), "lacks"),
        ErrorWords(ParameterFailure(.headerName("a b")), "\"a b\" is not a valid name"),
        ErrorWords(ParameterFailure(.headerValue(name: "X-Y")), "X-Y has control characters"),
        ErrorWords(ParameterFailure(.colonInUserName), "a colon"), ErrorWords(ParameterFailure(.noURL), "no URL"),
        ErrorWords(ConnectTo.Problem.host("a b"), "\"a b\""), ErrorWords(ConnectTo.Problem.port(0), "0 is no port"),
        ErrorWords(ParameterFailure(.thrown(CocoaError(.coderInvalidValue))), "could not be encoded"),
        ErrorWords(CompressionFailure.encodedAlready("br"), "“br” already"),
        ErrorWords(CompressionFailure.outOfMemory, "not enough memory"),
        ErrorWords(InterceptionFailure.tooDeep(limit: 16), "16 interceptors"),
        ErrorWords(AuthenticationFailure.missingCredential, "no credential"),
        ErrorWords(AuthenticationFailure.excessiveRefresh, "window"),
        ErrorWords(AuthenticationFailure.refreshFailed(URLError(.timedOut)), "timed out"),
    ]

    private static let answers: [ErrorWords] = [
        ErrorWords(validation, "503"),
        ErrorWords(
            ValidationFailure([.contentType("text/html", acceptable: ["image/png"])], answer: answer),
            "text/html"
        ),
        ErrorWords(ValidationFailure([.rejected(URLError(.timedOut))], answer: answer), "timed out"),
        ErrorWords(serialization, "content"), ErrorWords(SerializationFailure(.decoding, answer: answer), ""),
        ErrorWords(SerializationFailure(.file, answer: answer), ""),
        ErrorWords(SerializationFailure(.image, answer: answer), "image"),
        ErrorWords(
            SerializationFailure(.json(JSONFailure(JSONReader.Problem(.unexpectedEnd, at: 2))), answer: answer),
            "octet 2"
        ),
        ErrorWords(SerializationFailure(.noFile, answer: answer), "file"),
        ErrorWords(SerializationFailure(.other, answer: answer), ""),
        ErrorWords(SerializationFailure(.propertyList, answer: answer), "property list"),
        ErrorWords(SerializationFailure(.text(.utf8), answer: answer), "UTF-8"),
        ErrorWords(SerializationFailure(.unmatched, answer: answer), ""),
        ErrorWords(SerializationFailure(.xml, answer: answer), "XML"),
        ErrorWords(StreamFailure.lineTooLong(limit: 7), "longer than 7 bytes"),
        ErrorWords(StreamFailure.eventTooLong(limit: 8), "longer than 8 bytes"),
        ErrorWords(StreamFailure.noEvent(attempts: 3), "each of 3 attempts"),
        ErrorWords(StreamFailure.undecodableLine(number: 9, line: Data(), underlying: URLError(.timedOut)), "9"),
        ErrorWords(OperationFailure.output(nil, written: 9), "9 bytes"),
        ErrorWords(OperationFailure.changedContent(written: 9), "has changed"), ErrorWords(file, "/tmp/y"),
        ErrorWords(FileFailure.Obstacle.file, "a file is there"),
        ErrorWords(FileFailure.Obstacle.folder, "a folder is there"),
        ErrorWords(FileFailure.Obstacle.symbolicLink, "a symbolic link is there"),
        ErrorWords(FileFailure.Obstacle.device, "a device is there"),
        ErrorWords(FileFailure.Obstacle.pipe, "a pipe is there"),
        ErrorWords(FileFailure.Obstacle.socket, "a socket is there"),
    ]

    private static let forms: [ErrorWords] = [
        ErrorWords(MultipartFailure.fileIsDirectory(url), "/tmp/x is a directory"),
        ErrorWords(MultipartFailure.lengthMismatch(part: "p", declared: 3, given: 2), "declared 3 bytes and gave 2"),
        ErrorWords(MultipartFailure.methodWithoutContent("GET"), "GET request cannot carry a form"),
        ErrorWords(MultipartFailure.fileChanged(reason: "it is shorter"), "it is shorter"),
        ErrorWords(MultipartFailure.fileNotRegular(url), "/tmp/x"),
        ErrorWords(MultipartFailure.fileSizeUnknown(url), "/tmp/x"),
        ErrorWords(MultipartFailure.fileUnreachable(url, reason: "it is gone"), "it is gone"),
        ErrorWords(MultipartFailure.fileUnreadable(url, reason: "it is locked"), "it is locked"),
        ErrorWords(MultipartFailure.invalidBoundary("a b"), "a b"),
        ErrorWords(MultipartFailure.invalidField(name: "X-Y", value: "\n"), "X-Y"),
        ErrorWords(MultipartFailure.notFileURL(URL(string: "http://a.test/x") ?? url), "http://a.test/x"),
        ErrorWords(MultipartFailure.notReplayable, "again"), ErrorWords(MultipartFailure.nulInName("p"), "p"),
        ErrorWords(MultipartFailure.outputExists(url), "/tmp/x"),
        ErrorWords(MultipartFailure.outputFailed(url, reason: "no space"), "no space"),
        ErrorWords(MultipartFailure.outputNotFileURL(URL(string: "http://a.test/x") ?? url), "http://a.test/x"),
        ErrorWords(MultipartFailure.overLimit(77), "77"),
        ErrorWords(MultipartFailure.streamFailed(part: "p", reason: "it is gone"), "it is gone"),
        ErrorWords(MultipartFailure.streamUnopenable(part: "p", reason: "it is gone"), "it is gone"),
        ErrorWords(MultipartFailure.tooLong, "long"),
    ]

    private static let security: [ErrorWords] = [
        ErrorWords(SecurityPolicyError.noPins, "nothing to compare with"),
        ErrorWords(SecurityPolicyError.invalidPattern("*"), "“*”"),
        ErrorWords(SecurityPolicyError.repeatedPattern("a.test"), "two rules for a.test"),
        ErrorWords(SecurityPolicyError.noEvaluators, "every server"),
        ErrorWords(SecurityPolicyError.pinsWithoutTLS(base: URL(string: "http://a.test")), "it is “http://a.test”"),
        ErrorWords(TrustedCertificateError.unreadable(url, reason: "it is gone"), "/tmp/x: it is gone"),
        ErrorWords(TrustedCertificateError.none(nil), "(in memory)"),
        ErrorWords(PublicKeyPinError(description: "“md5/x” is no pin"), "md5/x"),
        ErrorWords(trust, "a.test is not trusted: it has expired"),
        ErrorWords(URLClientIdentity.Unusable(description: "the key does not fit"), "the key does not fit"),
    ]

    private static let whole: [ErrorWords] = [
        ErrorWords(UncurlError.invalidURL("a b", reason: "it has a blank"), "“a b”"),
        ErrorWords(UncurlError.parameters(ParameterFailure(.notKeyed)), "without names"),
        ErrorWords(UncurlError.header(name: "a b"), "\"a b\""),
        ErrorWords(UncurlError.multipart(.tooLong), "long"),
        ErrorWords(UncurlError.compression(.outOfMemory), "memory"),
        ErrorWords(UncurlError.adaptation(URLError(.timedOut)), "timed out"),
        ErrorWords(UncurlError.validation(validation), "503"),
        ErrorWords(UncurlError.serialization(serialization), "content"),
        ErrorWords(UncurlError.trust(trust), "a.test"),
        ErrorWords(UncurlError.challenge(URLError(.timedOut)), "timed out"),
        ErrorWords(UncurlError.output(.changedContent(written: 9)), "has changed"),
        ErrorWords(UncurlError.file(file), "/tmp/y"),
        ErrorWords(UncurlError.loading(URLError(.fileDoesNotExist)), ""),
        ErrorWords(UncurlError.transport(URLError(.timedOut)), "timed out"),
        ErrorWords(UncurlError.cancelled, "cancelled"), ErrorWords(UncurlError.sessionInvalidated, "invalidated"),
        ErrorWords(UncurlError.retry(URLError(.timedOut), original: .cancelled), "cancelled"),
        ErrorWords(UncurlError.bodyNotReplayable, "only once"),
    ]

    private static let others: [ErrorWords] =
        [
            ErrorWords(ReachabilityError(Errno.accessDenied), "EACCES"),
            ErrorWords(ImageFailure.corrupt(.png, "bad chunk"), "bad chunk"),
            ErrorWords(ImageFailure.outOfMemory, "memory"),
            ErrorWords(ImageFailure.tooManyPixels(width: 9, height: 8, limit: 7), "7"),
            ErrorWords(ImageFailure.truncated(.png), "png"), ErrorWords(ImageFailure.unknownFormat, "format"),
            ErrorWords(XMLFailure.emptyInstruction, "instruction"), ErrorWords(XMLFailure.encoding, "encoding"),
            ErrorWords(XMLFailure.entities, "entities"), ErrorWords(XMLFailure.incomplete, ""),
            ErrorWords(XMLFailure.notWellFormed(code: 76, line: 3, column: 5), "3"),
            ErrorWords(XMLFailure.tooDeep(limit: 77), "77"),
            ErrorWords(CassetteError.mismatch(unmatched: ["GET /x"], unused: []), "GET /x"),
            ErrorWords(CassetteError.unreadable(url, reason: "it is gone"), "it is gone"),
            ErrorWords(CassetteError.unwritable(url, reason: "no space"), "no space"),
        ] + json.map { ErrorWords(JSONFailure(JSONReader.Problem($0, at: 7)), "octet 7") }

    private static let json: [JSONReader.Problem.Reason] = [
        .controlInString(1), .invalidEscape, .invalidNumber, .invalidUTF8, .loneSurrogate, .numberOutOfRange,
        .tooDeep(limit: 9), .tooManyMarks(limit: 9), .trailingOctets, .unexpected(octet: 7), .unexpectedEnd,
    ]
}
