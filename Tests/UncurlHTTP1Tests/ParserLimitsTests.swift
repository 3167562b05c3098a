import Testing
import UncurlHTTP1

/// Each limit: what just fits passes, one more fails with the limit's name, also while the input is incomplete.
@Suite struct ParserLimitsTests {
    private func limits(_ change: (inout ParserLimits) -> Void) -> ParserLimits {
        var limits = ParserLimits()
        change(&limits)
        return limits
    }

    private let line = "HTTP/1.1 204 OK\r\n"

    @Test("a head may have headBytes octets and not one more")
    func headBytes() {
        let text = line + "A: b\r\n\r\n"
        let size = UInt32(text.utf8.count)
        #expect(responses(text, limits: limits { $0.headBytes = size }).isComplete)
        let outcome = responses(text, limits: limits { $0.headBytes = size - 1 })
        #expect(outcome.error == HTTP1Error(.limitExceeded(.headBytes), offset: UInt64(size - 1)))
        #expect(outcome.error?.responseStatus == 431)
    }

    @Test("a head may have fieldCount fields and not one more, and so may trailers")
    func fieldCount() {
        let three = "A: 1\r\nB: 2\r\nC: 3\r\n"
        #expect(responses("\(line)\(three)\r\n", limits: limits { $0.fieldCount = 3 }).isComplete)
        #expect(
            responses("\(line)\(three)\r\n", limits: limits { $0.fieldCount = 2 }).error?.kind
                == .limitExceeded(.fieldCount)
        )
        let trailers = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\(three)\r\n"
        #expect(responses(trailers, limits: limits { $0.fieldCount = 3 }).isComplete)
        #expect(responses(trailers, limits: limits { $0.fieldCount = 2 }).error?.kind == .limitExceeded(.fieldCount))
    }

    @Test("a field line may have fieldLineBytes octets and not one more")
    func fieldLineBytes() {
        let field = "Name: 0123456789012345\r\n"
        let size = UInt32(field.utf8.count)
        #expect(responses("\(line)\(field)\r\n", limits: limits { $0.fieldLineBytes = size }).isComplete)
        let outcome = responses("\(line)\(field)\r\n", limits: limits { $0.fieldLineBytes = size - 1 })
        #expect(outcome.error == HTTP1Error(.limitExceeded(.fieldLineBytes), offset: 17 + UInt64(size) - 1))
        let endless = responses(
            line + "N: " + String(repeating: "x", count: 90),
            limits: limits { $0.fieldLineBytes = 50 }
        )
        #expect(endless.error == HTTP1Error(.limitExceeded(.fieldLineBytes), offset: 17 + 50))
    }

    @Test("a field name may have fieldNameBytes octets and not one more")
    func fieldNameBytes() {
        let name = String(repeating: "n", count: 20)
        #expect(responses("\(line)\(name): x\r\n\r\n", limits: limits { $0.fieldNameBytes = 20 }).isComplete)
        let outcome = responses("\(line)\(name): x\r\n\r\n", limits: limits { $0.fieldNameBytes = 19 })
        #expect(outcome.error == HTTP1Error(.limitExceeded(.fieldNameBytes), offset: 17 + 19))
    }

    private let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test("a trailer section may have trailerBytes octets and not one more")
    func trailerBytes() {
        let text = chunked + "0\r\nA: b\r\n\r\n"
        #expect(responses(text, limits: limits { $0.trailerBytes = 8 }).isComplete)
        let outcome = responses(text, limits: limits { $0.trailerBytes = 7 })
        #expect(outcome.error == HTTP1Error(.limitExceeded(.trailerBytes), offset: UInt64(text.utf8.count - 1)))
    }

    @Test("a size line may have chunkLineBytes octets and not one more")
    func chunkLineBytes() {
        let text = chunked + "00002\r\nok\r\n0000000\r\n\r\n"
        #expect(responses(text, limits: limits { $0.chunkLineBytes = 9 }).isComplete)
        #expect(
            responses(text, limits: limits { $0.chunkLineBytes = 8 }).error?.kind == .limitExceeded(.chunkLineBytes)
        )
    }

    @Test("extensions are bounded for each chunk and for all together")
    func chunkExtensions() {
        let text = chunked + "1;abc\r\nx\r\n1;abc\r\ny\r\n0;abc\r\n\r\n"
        #expect(
            responses(
                text,
                limits: limits {
                    $0.chunkExtensionBytes = 4
                    $0.totalChunkExtensionBytes = 12
                }
            ).isComplete
        )
        let each = responses(text, limits: limits { $0.chunkExtensionBytes = 3 })
        #expect(each.error?.kind == .limitExceeded(.chunkExtensionBytes) && each.body.isEmpty)
        let total = responses(text, limits: limits { $0.totalChunkExtensionBytes = 11 })
        #expect(total.error?.kind == .limitExceeded(.totalChunkExtensionBytes) && total.body == octets("xy"))
    }

    @Test("a body until close may have bodyBytes octets, which are delivered, and not one more")
    func bodyBytes() {
        let text = "HTTP/1.1 200 OK\r\n\r\nabcd"
        #expect(responses(text, limits: limits { $0.bodyBytes = 4 }).error == nil)
        let outcome = responses(text, limits: limits { $0.bodyBytes = 3 })
        #expect(outcome.error?.kind == .limitExceeded(.bodyBytes) && outcome.body == octets("abc"))
    }

    @Test("a flood of lines is refused at the limit, and memory stays within it", arguments: [1, 64, 4096])
    func flood(feed: Int) throws {
        var parser = ResponseParser()
        var head = ResponseHead()
        parser.begin(answering: plain)
        _ = try parser.parse(octets("HTTP/1.1 200 OK\r\n").span, into: &head)
        let piece = octets(String(repeating: "a: b\r\n", count: feed / 6 + 1)).prefix(feed)
        var fed = 17
        var failure: HTTP1Error?
        while failure == nil, fed < 1 << 20 {
            do throws(HTTP1Error) {
                _ = try parser.parse(Array(piece).span, into: &head)
                fed += piece.count
            } catch {
                failure = error
            }
        }
        #expect(failure != nil && fed <= 64 * 1024)
    }
}
