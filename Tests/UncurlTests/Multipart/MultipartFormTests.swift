import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("Multipart forms")
struct MultipartFormTests {
    private func text(_ form: MultipartForm) throws -> String {
        String(decoding: try form.encoded(), as: UTF8.self)
    }

    @Test("a boundary is Boundary+ and sixteen digits, one a form, and a copy's too", .rows("P1"))
    func boundary() throws {
        let form = MultipartForm()
        #expect(form.boundary.wholeMatch(of: /Boundary\+[0-9A-F]{16}/) != nil)
        let copy = form
        #expect(copy.boundary == form.boundary)
        let others = (0..<100).map { _ in MultipartForm().boundary }
        // Two numbers of 32 bits, each by chance: a pair that is equal is one in a million runs.
        #expect(Set(others.map { $0.prefix(17) }).count > 98 && Set(others.map { $0.suffix(8) }).count > 98)
    }

    @Test("a given boundary must follow RFC 2046, and is quoted in the field where it is no token", .rows("B23"))
    func ownBoundary() throws {
        let plain = try MultipartForm(boundary: "alamofire.boundary.0123")
        #expect(plain.contentType == "multipart/form-data; boundary=alamofire.boundary.0123")
        #expect(try MultipartForm(boundary: "a:b c").contentType == "multipart/form-data; boundary=\"a:b c\"")
        #expect(try MultipartForm(boundary: String(repeating: "x", count: 70)).boundary.count == 70)
        for bad in ["", "ends with ", "a\r\nb", "a\"b", "ü", "a\\b", String(repeating: "x", count: 71)] {
            #expect(throws: MultipartFailure.invalidBoundary(bad)) { try MultipartForm(boundary: bad) }
        }
    }

    @Test("a form has boundary, fields, empty line, content and closing boundary, byte for byte", .rows("P2", "P6"))
    func layout() throws {
        var form = try MultipartForm(boundary: "B")
        try form.append(.text("one"), name: "a")
        try form.append(.data(Data("two".utf8)), name: "b", fileName: "f.bin", contentType: "image/png")
        try form.append(.data(Data()), name: "c", contentType: "text/plain; charset=utf-8")
        try form.append(.text("four"), headers: [("X-Own", "1"), ("Content-ID", "<x>")])
        let expected = """
            --B\r\nContent-Disposition: form-data; name="a"\r\n\r\none\
            \r\n--B\r\nContent-Disposition: form-data; name="b"; filename="f.bin"\r\nContent-Type: image/png\r\n\r\ntwo\
            \r\n--B\r\nContent-Disposition: form-data; name="c"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\
            \r\n--B\r\nX-Own: 1\r\nContent-ID: <x>\r\n\r\nfour\
            \r\n--B--\r\n
            """
        #expect(try text(form) == expected)
        #expect(form.contentLength == UInt64(expected.utf8.count))
        #expect(form.count == 4 && form.isReplayable)
    }

    @Test("the request gets the form's content type and keeps its other fields", .rows("P3"))
    func request() throws {
        var request = URLRequest(url: URL(string: "http://127.0.0.1/")!)
        request.httpMethod = "PUT"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("7", forHTTPHeaderField: "Content-Length")
        request.setValue("kept", forHTTPHeaderField: "X-Own")
        let made = try MultipartForm(boundary: "B").request(from: request)
        #expect(made.value(forHTTPHeaderField: "Content-Type") == "multipart/form-data; boundary=B")
        #expect(made.value(forHTTPHeaderField: "Content-Length") == nil)
        #expect(made.value(forHTTPHeaderField: "X-Own") == "kept" && made.httpMethod == "PUT")
        #expect(made.httpBody == nil && made.httpBodyStream == nil)
    }

    @Test("GET and HEAD carry no form", .rows("Q15"), arguments: ["GET", "HEAD"])
    func methods(method: String) throws {
        var request = URLRequest(url: URL(string: "http://127.0.0.1/")!)
        request.httpMethod = method
        #expect(throws: MultipartFailure.methodWithoutContent(method)) { try MultipartForm().request(from: request) }
    }

    @Test("an empty form is its closing boundary, as browsers send it", .rows("P4"))
    func empty() throws {
        let form = try MultipartForm(boundary: "B")
        #expect(try text(form) == "--B--\r\n")
        #expect(form.isEmpty && form.contentLength == 7)
    }

    @Test("a file's part has its name, its type by suffix, and its size when it was appended", .rows("P5"))
    func file() throws {
        let folder = URL(fileURLWithPath: "/tmp/uncurl-form-\(UInt64.random(in: .min ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, type) in [
            ("a b.PNG", "image/png"), ("none", "application/octet-stream"), ("x.unknown", "application/octet-stream"),
        ] {
            let url = folder.appendingPathComponent(name)
            try Data("content".utf8).write(to: url)
            var form = try MultipartForm(boundary: "B")
            try form.append(.file(url), name: "f")
            #expect(
                try text(form) == """
                    --B\r\nContent-Disposition: form-data; name="f"; filename="\(name)"\r\n\
                    Content-Type: \(type)\r\n\r\ncontent\r\n--B--\r\n
                    """
            )
            var other = try MultipartForm(boundary: "B")
            try other.append(.file(url), name: "f", fileName: "other.txt", contentType: "text/x-own")
            #expect(try text(other).contains("filename=\"other.txt\"\r\nContent-Type: text/x-own\r\n\r\ncontent"))
        }
    }

    @Test(
        "each defect of a file is an error of its own, and the form does not change",
        .rows("P5", "A16")
    )
    func files() throws {
        let fifo = "/tmp/uncurl-fifo-\(UInt64.random(in: .min ... .max))"
        #expect(mkfifo(fifo, 0o600) == 0)
        defer { unlink(fifo) }
        var form = try MultipartForm(boundary: "B")
        func failure(_ url: URL) -> MultipartFailure? {
            do throws(MultipartFailure) {
                try form.append(.file(url), name: "f")
                return nil
            } catch {
                return error
            }
        }
        let web = URL(string: "https://127.0.0.1/file")!
        #expect(failure(web) == .notFileURL(web))
        let missing = URL(fileURLWithPath: "/tmp/uncurl/no such file")
        #expect(failure(missing) == .fileUnreachable(missing, reason: "No such file or directory"))
        #expect(
            failure(URL(fileURLWithPath: "/tmp", isDirectory: true))
                == .fileIsDirectory(URL(fileURLWithPath: "/tmp", isDirectory: true))
        )
        #expect(failure(URL(fileURLWithPath: fifo)) == .fileNotRegular(URL(fileURLWithPath: fifo)))
        let status = URL(fileURLWithPath: "/proc/self/status")
        #expect(failure(status) == .fileSizeUnknown(status))
        #expect(form.isEmpty)
        let closed = TemporaryFile(Array("x".utf8))
        #expect(chmod(closed.path, 0) == 0)
        // Root reads everything.
        if getuid() != 0 {
            guard case .fileUnreadable? = failure(URL(fileURLWithPath: closed.path)) else {
                Issue.record("read all the same")
                return
            }
        }
    }

    @Test("names are escaped as browsers do, UTF-8 goes as it is, and no name breaks out of its line", .rows("D12"))
    func names() throws {
        var form = try MultipartForm(boundary: "B")
        let evil = "a\"; filename=\"b\r\nX-Evil: 1\n\r\n%22ü😀\\'"
        try form.append(.text(""), name: evil, fileName: evil)
        let escaped = "a%22; filename=%22b%0D%0AX-Evil: 1%0A%0D%0A%22ü😀\\'"
        #expect(
            try text(form) == """
                --B\r\nContent-Disposition: form-data; name="\(escaped)"; filename="\(escaped)"\r\n\r\n\r\n--B--\r\n
                """
        )
        #expect(throws: MultipartFailure.nulInName("a\0b")) { try form.append(.text(""), name: "a\0b") }
        #expect(throws: MultipartFailure.nulInName("a\0b")) { try form.append(.text(""), name: "n", fileName: "a\0b") }
    }

    @Test("fields of a part that would end or add a field are refused", .rows("D12"))
    func injection() throws {
        var form = MultipartForm()
        for (name, value) in [
            ("X-A", "1\r\nX-B: 2"), ("X-A", "a\nb"), ("X A", "1"), ("X-A:", "1"), ("", "1"), ("X-A", "\0"),
        ] {
            #expect(throws: MultipartFailure.invalidField(name: name, value: value)) {
                try form.append(.text(""), headers: [(name, value)])
            }
        }
        let type = "text/plain\r\nX-Evil: 1"
        #expect(throws: MultipartFailure.invalidField(name: "Content-Type", value: type)) {
            try form.append(.text(""), name: "n", contentType: type)
        }
        #expect(form.isEmpty)
    }

    @Test("pairs become fields in their order, raw, with no percent-encoding", .rows("Q15"))
    func fields() throws {
        var form = try MultipartForm(boundary: "B")
        try form.append(fields: [
            ("a[b]", Data("x y&z".utf8)), ("raw", Data([0, 255])), ("null", Data()),
        ])
        let encoded = try form.encoded()
        #expect(encoded.range(of: Data("name=\"a[b]\"\r\n\r\nx y&z\r\n".utf8)) != nil)
        #expect(encoded.range(of: Data("name=\"raw\"\r\n\r\n".utf8) + Data([0, 255, 13, 10])) != nil)
        #expect(encoded.range(of: Data("name=\"null\"\r\n\r\n\r\n--B--".utf8)) != nil)
    }

    @Test("the length is known when every part knows its own, and never guessed", .rows("W3"))
    func lengths() throws {
        var form = MultipartForm()
        try form.append(.text("x"), name: "a")
        try form.append(.stream(.of([1, 2, 3]), length: 3), name: "b")
        #expect(form.contentLength == UInt64(try form.encoded().count))
        #expect(!form.isReplayable)
        try form.append(.stream(opening: { .of([1]) }), name: "c")
        #expect(form.contentLength == nil)
    }

    @Test("lengths that no file system holds are refused, not wrapped")
    func tooLong() throws {
        var form = MultipartForm()
        try form.append(.stream(length: UInt64(Int64.max) - 4096, opening: { .of([]) }), name: "a")
        #expect(throws: MultipartFailure.tooLong) {
            try form.append(.stream(length: 4096, opening: { .of([]) }), name: "b")
        }
        #expect(throws: MultipartFailure.tooLong) {
            try form.append(.stream(length: .max, opening: { .of([]) }), name: "b")
        }
        #expect(form.count == 1)
    }

    @Test("a form in memory beyond its limit is an error, at once where the length is known", .rows("A16"))
    func limit() throws {
        var form = MultipartForm()
        try form.append(.data(Data(count: 1000)), name: "a")
        let length = Int(try #require(form.contentLength))
        #expect(try form.encoded(limit: length).count == length)
        #expect(throws: MultipartFailure.overLimit(length - 1)) { try form.encoded(limit: length - 1) }
        try form.append(.stream(opening: { .of(noise(200_000)) }), name: "b")
        #expect(throws: MultipartFailure.overLimit(100_000)) { try form.encoded(limit: 100_000) }
        #expect(try form.encoded(limit: 300_000).count > 200_000)
    }

    @Test("every failure of a form has a description")
    func words() {
        let url = URL(fileURLWithPath: "/tmp/a")
        let failures: [(MultipartFailure, String)] = [
            (.fileIsDirectory(url), "/tmp/a is a directory"),
            (
                .lengthMismatch(part: "p", declared: 3, given: 2),
                "the stream of part “p” declared 3 bytes and gave 2"
            ),
            (.notReplayable, "the form has to be sent again, and a stream in it can be read only once"),
        ]
        for (failure, text) in failures { #expect((failure as any Error).localizedDescription == text) }
    }

    @Test("lengths whose sum overflows are too long, in any position", .rows("P8"))
    func sums() throws {
        var form = MultipartForm()
        let most = UInt64(Int64.max) - 1024
        try form.append(.stream(length: most - 1000, opening: { .of([]) }), name: "a")
        for length in [most, .max, 0] {
            let before = form.contentLength
            #expect(throws: MultipartFailure.tooLong) {
                try form.append(
                    .stream(length: length, opening: { .of([]) }),
                    name: String(repeating: "n", count: 5000)
                )
            }
            #expect(form.contentLength == before)
        }
    }
}
