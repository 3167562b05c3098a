import Foundation
import Synchronization
import TestSupport
import Testing
import UncurlReactor

@testable import Uncurl

@Suite("Multipart forms to files", .timeLimit(.minutes(5)))
struct MultipartEncodingTests {
    private let url = URL(fileURLWithPath: "/tmp/uncurl-output-\(UInt64.random(in: .min ... .max))")

    private var exists: Bool { FileManager.default.fileExists(atPath: url.path) }

    private func form() throws -> MultipartForm {
        var form = try MultipartForm(boundary: "B")
        try form.append(.text("text"), name: "a")
        try form.append(.stream(opening: { .of(noise(300_000)) }), name: "s")
        return form
    }

    @Test("a file with the form can be sent by any session", .rows("Q16"))
    func whole() async throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let form = try form()
        try await form.write(to: url)
        #expect(try Data(contentsOf: url) == form.encoded())
    }

    @Test("an existing file is not changed, and a URL that is not a file's is refused", .rows("Q16", "A16"))
    func exists() async throws {
        try Data("mine".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        await #expect(throws: MultipartFailure.outputExists(url)) { try await form().write(to: url) }
        #expect(try Data(contentsOf: url) == Data("mine".utf8))
        let web = URL(string: "https://127.0.0.1/")!
        await #expect(throws: MultipartFailure.outputNotFileURL(web)) { try await form().write(to: web) }
        let nowhere = URL(fileURLWithPath: "/tmp/uncurl no such folder/file")
        let failure = await #expect(throws: MultipartFailure.self) { try await form().write(to: nowhere) }
        guard case .outputFailed(nowhere, _)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("a disk that becomes full is an error, and the partial file is removed", .rows("Q16"))
    func fullDisk() async throws {
        let form = try form()
        let failure = await #expect(throws: MultipartFailure.self) {
            try await form.write(to: url) { path throws(Errno) in
                let file = try WritableFile(creating: path)
                return (
                    write: { bytes throws(Errno) in
                        guard file.offset < 100_000 else { throw .noSpace }
                        try file.write(bytes.span)
                    }, finish: {}
                )
            }
        }
        #expect(failure == .outputFailed(url, reason: "\(Errno.noSpace)"))
        #expect(!exists)
    }

    @Test("an error that the disk tells only at the end is an error, and the file is removed", .rows("Q16"))
    func lateError() async throws {
        let form = try form()
        let failure = await #expect(throws: MultipartFailure.self) {
            try await form.write(to: url) { path throws(Errno) in
                let file = try WritableFile(creating: path)
                return (
                    write: { bytes throws(Errno) in try file.write(bytes.span) },
                    finish: { () throws(Errno) in throw .noSpace }
                )
            }
        }
        #expect(failure == .outputFailed(url, reason: "\(Errno.noSpace)"))
        #expect(!exists)
    }

    @Test("a failing part removes the output file", .rows("Q16"))
    func failingPart() async throws {
        var form = try form()
        try form.append(.stream(length: 10, opening: { .of([1]) }), name: "lies")
        await #expect(throws: MultipartFailure.lengthMismatch(part: "lies", declared: 10, given: 1)) {
            try await form.write(to: url)
        }
        #expect(!exists)
    }

    @Test("a cancelled task stops writing and leaves no file", .rows("Q16"))
    func cancelled() async throws {
        let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        var form = try form()
        try form.append(
            .stream(opening: {
                began.signal()
                goOn.wait()
                return .of(noise(10))
            }),
            name: "slow"
        )
        let sent = form
        let writing = Task { [url] in try await sent.write(to: url) }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                began.wait()
                continuation.resume()
            }
        }
        writing.cancel()
        goOn.signal()
        await #expect(throws: CancellationError.self) { try await writing.value }
        #expect(!exists)
    }
}
