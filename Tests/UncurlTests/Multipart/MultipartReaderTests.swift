import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("Reading multipart forms")
struct MultipartReaderTests {
    private static let sizes = [1, 2, 3, 5, 7, 13, 61, 127, 1_021, 65_536, 10_000_000]

    /// Of every kind, with contents that are empty, short and longer than a read.
    private func form(_ file: TemporaryFile, _ empty: TemporaryFile) throws -> MultipartForm {
        var form = try MultipartForm(boundary: "B")
        try form.append(.text("text"), name: "text")
        try form.append(.file(URL(fileURLWithPath: file.path)), name: "file", fileName: "f")
        try form.append(.file(URL(fileURLWithPath: empty.path)), name: "empty", fileName: "e")
        try form.append(.stream(opening: { .of(noise(3_000)) }), name: "stream")
        try form.append(.data(Data()), name: "nothing")
        try form.append(.stream(length: 0, opening: { .of([]) }), name: "no stream")
        try form.append(.data(Data(noise(70_000))), name: "large")
        return form
    }

    private func read(_ reader: MultipartReader, _ size: Int) throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let bytes = try reader.read(atMost: size)
            guard !bytes.isEmpty else { return all }
            #expect(bytes.count <= size)
            all += bytes
        }
    }

    @Test("buffers of any size give the same bytes", .rows("P9"), arguments: sizes)
    func buffers(size: Int) throws {
        let (file, empty) = (TemporaryFile(noise(2_500)), TemporaryFile())
        let form = try form(file, empty)
        let whole = [UInt8](try form.encoded())
        let reader = MultipartReader(form)
        #expect(try read(reader, size) == whole)
        #expect(reader.offset == UInt64(whole.count))
        #expect(try reader.read(atMost: 1).isEmpty)
    }

    @Test("reading begins at any offset in any part", .rows("P9"))
    func offsets() throws {
        let (file, empty) = (TemporaryFile(noise(200)), TemporaryFile())
        var form = try MultipartForm(boundary: "B")
        try form.append(.text("text"), name: "text")
        try form.append(.file(URL(fileURLWithPath: file.path)), name: "file", fileName: "f")
        try form.append(.file(URL(fileURLWithPath: empty.path)), name: "empty", fileName: "e")
        try form.append(.stream(opening: { .of(noise(100)) }), name: "stream")
        let whole = [UInt8](try form.encoded())
        for offset in 0...whole.count + 1 {
            let reader = MultipartReader(form)
            try reader.skip(UInt64(offset))
            #expect(reader.offset == UInt64(min(offset, whole.count)))
            #expect(try read(reader, 64) == Array(whole.dropFirst(offset)))
        }
    }

    @Test("a replayable form reads the same any number of times, and at once", .rows("P11"))
    func again() throws {
        let (file, empty) = (TemporaryFile(noise(2_500)), TemporaryFile())
        let form = try form(file, empty)
        let readers = (0..<3).map { _ in MultipartReader(form) }
        var all = readers.map { _ in [UInt8]() }
        for _ in 0..<100_000 {
            var isOver = true
            for (index, reader) in readers.enumerated() {
                let bytes = try reader.read(atMost: 500 + index)
                all[index] += bytes
                if !bytes.isEmpty { isOver = false }
            }
            if isOver { break }
        }
        let whole = [UInt8](try form.encoded())
        #expect(Set(all).count == 1 && all[0] == whole)
    }

    @Test("a stream that is read once gives a distinct error the second time", .rows("P11", "D11"))
    func once() throws {
        var form = MultipartForm()
        try form.append(.stream(.of([1, 2, 3])), name: "s")
        _ = try form.encoded()
        #expect(throws: MultipartFailure.notReplayable) { try form.encoded() }
    }

    @Test(
        "a stream that gives less or more than it declared is an error, never wrong framing",
        .rows("P7", "D13"),
        arguments: [2, 4, 5_000]
    )
    func mismatch(given: Int) throws {
        var form = MultipartForm()
        try form.append(.stream(length: 3, opening: { .of(noise(given)) }), name: "s")
        let reader = MultipartReader(form)
        let failure = #expect(throws: MultipartFailure.self) { try read(reader, 64) }
        guard case .lengthMismatch("s", declared: 3, given: let counted)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(counted == UInt64(min(given, 64)))
    }

    @Test("a reader gives the bytes before an error, then throws it with every read", .rows("P10"))
    func failing() throws {
        var form = try MultipartForm(boundary: "B")
        try form.append(.text("before"), name: "a")
        try form.append(.stream(opening: { throw CocoaError(.fileNoSuchFile) }), name: "s")
        let reader = MultipartReader(form)
        var given: [UInt8] = []
        let thrown = #expect(throws: MultipartFailure.self) {
            while true { given += try reader.read(atMost: 10) }
        }
        let failure = try #require(thrown)
        #expect(String(decoding: given, as: UTF8.self).hasSuffix("name=\"s\"\r\n\r\n"))
        guard case .streamUnopenable(part: "s", _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(throws: failure) { try reader.read(atMost: 10) }
        #expect(throws: failure) { try reader.skip(1) }
    }

    @Test("a file that has changed since is an error: gone, another, shorter, longer", .rows("P5"))
    func changed() throws {
        let rewrite: (TemporaryFile, Int) -> Void = { file, size in
            file.truncate(to: 0)
            file.append(noise(size))
        }
        for change in [
            { $0.remove() }, { $0.replace(with: noise(1_000)) }, { $0.truncate(to: 10) }, { $0.append([1]) },
            { rewrite($0, 2_000) },
        ] as [(TemporaryFile) -> Void] {
            let file = TemporaryFile(noise(1_000))
            var form = MultipartForm()
            try form.append(.file(URL(fileURLWithPath: file.path)), name: "f")
            change(file)
            let failure = #expect(throws: MultipartFailure.self) { try form.encoded() }
            guard case .fileChanged? = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
        }
    }

    @Test("a closed reader gives nothing, and closing twice does no harm", .rows("P13"))
    func closed() throws {
        let form = try MultipartForm(boundary: "B")
        let reader = MultipartReader(form)
        reader.close()
        reader.close()
        #expect(try reader.read(atMost: 10).isEmpty)
    }

    @Test("a reader skips to any offset and reads any count from there", .rows("P9"))
    func all() throws {
        let (file, empty) = (TemporaryFile(noise(2_500)), TemporaryFile())
        let form = try form(file, empty)
        let reader = MultipartReader(form)
        let first = try reader.read(atMost: 1)
        #expect(try first + read(reader, .max) == [UInt8](form.encoded()))
    }
}
