import Testing

@testable import UncurlHTTP1

/// Costs counted in octets and allocations kept, not timed.
@Suite struct LinearityTests {
    @Test("a head in single octets keeps at most twice its octets, a whole one keeps none")
    func memory() throws {
        let input = octets(
            "HTTP/1.1 200 OK\r\n" + String(repeating: "Name: value\r\n", count: 200) + "Content-Length: 0\r\n\r\n"
        )
        func reader() -> MessageReader<StatusLineParser> {
            MessageReader(.head, ParserLimits(), [])
        }
        var parts = reader()
        var fields = HTTPFields()
        var line = StartLine()
        for index in 0..<input.count {
            let piece = input.span.extracting(index..<(index + 1))
            let consumed = try parts.readHead(piece, &fields, &line, isInside: parts.isInsideHead)
            #expect(consumed == (index == input.count - 1 ? 1 : nil))
            #expect(parts.kept.block.count <= max(1024, 2 * (index + 1)))
        }
        #expect(fields.count == 201)
        var whole = reader()
        #expect(try whole.readHead(input.span, &fields, &line, isInside: false) == input.count)
        #expect(whole.kept.block.isEmpty)
    }

    @Test("the blanks before a value are looked at once, however many pieces they come in")
    func blanks() throws {
        func line(_ blanks: String, _ rest: String) -> [UInt8] { octets("n:" + blanks + rest) }
        let blanks = String(repeating: " ", count: 30)
        var parser = FieldLineParser(at: 0)
        var table = FieldTable()
        #expect(try !parser.advance(line(blanks, "").span, &table, ParserLimits(), .bareLF))
        // What was seen is not looked at again, so other octets in its place change nothing.
        let others = "x" + blanks.dropFirst()
        #expect(try !parser.advance(line(others + blanks, "").span, &table, ParserLimits(), .bareLF))
        let end = line(blanks + blanks, "v\n\n")
        #expect(try parser.advance(end.span, &table, ParserLimits(), .bareLF))
        #expect(table.count == 1 && table[0].value == 62..<63)
    }

    @Test("storage is used again: neither block nor table moves once they are large enough")
    func reuse() throws {
        let input = octets("HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 0\r\n\r\n")
        var parser = ResponseParser()
        var head = ResponseHead()
        var places: Set<UInt> = []
        for _ in 0..<50 {
            parser.begin(answering: .head)
            _ = try parser.parse(input.span, into: &head)
            _ = head.storage.block.withUnsafeBufferPointer { places.insert(UInt(bitPattern: $0.baseAddress)) }
        }
        #expect(places.count == 1)
        places = []
        for _ in 0..<50 {
            parser.begin(answering: .head)
            _ = try parser.parse(input.span.extracting(first: 20), into: &head)
            _ = try parser.parse(input.span.extracting(20..<input.count), into: &head)
            _ = head.storage.block.withUnsafeBufferPointer { places.insert(UInt(bitPattern: $0.baseAddress)) }
        }
        // The two storages change places twice a head.
        #expect(places.count == 1)
    }

    @Test("a content of 20,000 chunks of an octet each is slices of the input, and leaves nothing in the parser")
    func smallChunks() throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let input = octets(head + String(repeating: "1\r\nx\r\n", count: 20_000) + "0\r\n\r\n")
        for piece in [input.count, 1] {
            var parser = ResponseParser()
            var head = ResponseHead()
            parser.begin(answering: plain)
            var (offset, steps, content) = (0, 0, 0)
            while offset < input.count || !parser.isBetweenMessages {
                let end = min(offset + piece, input.count)
                let step = try parser.parse(input.span.extracting(offset..<end), into: &head)
                offset += step.consumed
                steps += 1
                if case .body(let range) = step.event { content += range.count }
                if case .head = step.event { parser.releaseStorage() }
            }
            #expect(content == 20_000)
            // A step for each chunk, or two for each octet.
            #expect(steps <= (piece == 1 ? 2 * input.count : 20_000 + 10))
        }
    }

    @Test("a parser that parks gives its memory back")
    func release() throws {
        let input = octets("HTTP/1.1 204 OK\r\n\r\n")
        var parser = ResponseParser()
        var head = ResponseHead()
        parser.begin(answering: .head)
        _ = try parser.parse(input.span.extracting(first: 5), into: &head)
        parser.releaseStorage()
        _ = try parser.parse(input.span.extracting(5..<input.count), into: &head)
        #expect(head.status == 204)
        parser.releaseStorage()
        #expect(parser.isBetweenMessages && parser.trailers.isEmpty)
    }

    @Test("a parser stays small, since every connection has one")
    func size() {
        #expect(MemoryLayout<ResponseParser>.size <= 360)
        #expect(MemoryLayout<FieldEntry>.stride == 16)
    }
}
