import Foundation
import TestSupport
import Testing
import Uncurl

@Suite("Request compression", .ownThread, .timeLimit(.minutes(5)))
struct RequestCompressionTests {
    private func request(_ body: Data?, _ encoding: String? = nil) -> URLRequest {
        var request = URLRequest(url: URL(string: "http://127.0.0.1/")!)
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue(encoding, forHTTPHeaderField: "Content-Encoding")
        request.setValue("7", forHTTPHeaderField: "Content-Length")
        return request
    }

    @Test(
        "zlib's frame for deflate, gzip's for gzip, read back by an independent reader",
        .rows("B13"),
        arguments: [RequestCompression.Coding.deflate, .gzip],
        [0, 1, 65_535, 65_536, 3_000_000]
    )
    func codings(coding: RequestCompression.Coding, count: Int) throws {
        let plain = noise(count / 2) + [UInt8](repeating: 7, count: count - count / 2)
        let made = try RequestCompression(coding, applies: { _ in true }).compress(request(Data(plain)))
        #expect(made.value(forHTTPHeaderField: "Content-Encoding") == coding.rawValue)
        #expect(made.value(forHTTPHeaderField: "Content-Length") == nil)
        let input = TemporaryFile([UInt8](try #require(made.httpBody)))
        let output = TemporaryFile()
        let bits = coding == .gzip ? 31 : 15
        let script =
            "import sys, zlib; d = zlib.decompressobj(\(bits)); data = d.decompress(open(sys.argv[1], 'rb').read()); print(len(data), sum(data) % 65521, d.eof, len(d.unused_data))"
        let child = try ChildProcess("/usr/bin/python3", ["-c", script, input.path], output: output.path)
        #expect(try child.waitForEnd() == 0)
        #expect(output.text == "\(count) \(plain.reduce(0) { $0 + Int($1) } % 65521) True 0\n")
    }

    @Test("an existing content coding fails, is replaced, or stays, as the option says", .rows("B13"))
    func existing() throws {
        let given = request(Data("content".utf8), "br")
        #expect(throws: CompressionFailure.encodedAlready("br")) { try RequestCompression().compress(given) }
        let replaced = try RequestCompression(.gzip, existing: .replace).compress(given)
        #expect(replaced.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
        #expect(replaced.httpBody?.starts(with: [0x1F, 0x8B]) == true)
        let skipped = try RequestCompression(existing: .skip).compress(given)
        #expect(
            skipped.httpBody == Data("content".utf8) && skipped.value(forHTTPHeaderField: "Content-Encoding") == "br"
        )
    }

    @Test("content that the rule excludes, empty content and files are sent uncompressed", .rows("B13"))
    func untouched() throws {
        let large = RequestCompression { $0.count > 100 }
        for given in [request(nil), request(Data()), request(Data(count: 100))] {
            let made = try large.compress(given)
            #expect(made.httpBody == given.httpBody && made.value(forHTTPHeaderField: "Content-Encoding") == nil)
        }
        #expect(
            try large.compress(request(Data(count: 101))).value(forHTTPHeaderField: "Content-Encoding") == "deflate"
        )
        var streamed = request(nil)
        streamed.httpBodyStream = .of([1, 2, 3])
        #expect(try RequestCompression().compress(streamed).httpBodyStream === streamed.httpBodyStream)
        let form = try MultipartForm().request(from: request(nil))
        #expect(try RequestCompression().compress(form).value(forHTTPHeaderField: "Content-Encoding") == nil)
    }
}
