import Testing
import UncurlHTTP1

@Suite struct FieldLineParserTests {
    private func head(_ lines: String, leniency: Leniency = [], cutEvery stride: Int = 1) -> Outcome {
        responses("HTTP/1.1 200 OK\r\n\(lines)\r\n", answering: [.head], leniency: leniency, cutEvery: stride)
    }

    @Test("every octet stands in a name only if it is a token octet", arguments: 0...255)
    func nameOctets(octet: Int) {
        for (before, after) in [("", "b"), ("a", "b"), ("a", ""), ("a-name-longer-than-a-block-", "b")] {
            let outcome = head("\(before)\(scalar(octet))\(after): x\r\n", cutEvery: 13)
            // A colon early only moves the border between name and value.
            let isLegal = isToken(UInt8(octet)) || octet == 0x3A && !before.isEmpty
            #expect(outcome.isComplete == isLegal, "\(before)\(octet)\(after)")
        }
    }

    @Test("every octet stands in a value only if it is no control", arguments: 0...255)
    func valueOctets(octet: Int) {
        let isLegal = octet == 9 || octet >= 32 && octet != 127
        for value in [
            "\(scalar(octet))b", "a\(scalar(octet))b", "a\(scalar(octet))", "sixteen octets and more\(scalar(octet))z",
        ] {
            let outcome = head("n: \(value)\r\n", cutEvery: 13)
            #expect(outcome.isComplete == isLegal, "octet \(octet) in \(value)")
        }
    }

    @Test("octets that are no UTF-8 are kept as they came")
    func obsText() throws {
        let fields = try fields("a: \u{80}\u{FF}\u{C3}", "b: x")
        #expect(Array(fields.block[fields.valueRange(at: 0)]) == [0x80, 0xFF, 0xC3])
    }

    @Test(
        "SP and HTAB around a value are dropped, nothing else",
        arguments: [
            ("n:x", "x"), ("n: x", "x"), ("n:  x", "x"), ("n:\tx", "x"), ("n: \t x \t ", "x"), ("n:", ""), ("n: ", ""),
            ("n:   ", ""), ("n: a b", "a b"), ("n:\u{A0}x\u{A0}", "\u{A0}x\u{A0}"), ("n: \u{85}x", "\u{85}x"),
            ("n::", ":"),
            ("n:                     far                    ", "far"),
        ]
    )
    func whitespace(line: String, value: String) throws {
        let fields = try fields(line)
        #expect(Array(fields.block[fields.valueRange(at: 0)]) == octets(value))
        #expect(head(line + "\r\n").isComplete)
    }

    @Test(
        "a malformed field line is refused at the octet that is wrong",
        arguments: [
            ("n : x\r\n", HTTP1Error.Kind.whitespaceBeforeColon, 18),
            ("n\t: x\r\n", .whitespaceBeforeColon, 18),
            (": x\r\n", .emptyFieldName, 17),
            ("nocolon\r\n", .missingColon, 24),
            (" n: x\r\n", .whitespaceBeforeFirstField, 17),
            ("\tn: x\r\n", .whitespaceBeforeFirstField, 17),
            (" \r\n", .whitespaceBeforeFirstField, 17),
            ("n: x\r\n y\r\n", .obsoleteLineFolding, 23),
            ("n: x\r\n \r\n", .obsoleteLineFolding, 23),
            ("n: x\n", .bareLineFeed, 21),
            ("n: x\rm: y\r\n", .bareCarriageReturn, 22),
            ("n: x\r\r\n", .bareCarriageReturn, 22),
            ("n: x\u{0B}\r\n", .invalidFieldValue(byte: 11), 21),
            ("n: x\0y\r\n", .invalidFieldValue(byte: 0), 21),
            ("n(: x\r\n", .invalidFieldName(byte: 0x28), 18),
            ("n: x\r\n\rX", .bareCarriageReturn, 24),
            ("\n", .bareLineFeed, 17),
        ]
    )
    func illegal(lines: String, kind: HTTP1Error.Kind, offset: UInt64) {
        #expect(head(lines).error == HTTP1Error(kind, offset: offset))
    }

    @Test("a bare LF ends a line of the head only where that is allowed")
    func bareLF() {
        let text = "HTTP/1.1 200 OK\nContent-Length: 2\nX: y\n\nok"
        #expect(responses(text).error?.kind == .bareLineFeed)
        let outcome = responses(text, leniency: .bareLF)
        #expect(outcome.isComplete && outcome.body == Array("ok".utf8))
    }

    @Test(
        "a bare LF is never taken in chunk framing or trailers, whatever the leniency",
        arguments: [
            "2\nok\r\n0\r\n\r\n", "2\r\nok\n0\r\n\r\n", "2\r\nok\r\n0\n\r\n", "2\r\nok\r\n0\r\n\n",
            "2\r\nok\r\n0\r\nA: b\n\r\n",
            "2;a=b\nok\r\n0\r\n\r\n",
        ]
    )
    func bareLFInChunks(body: String) {
        let outcome = responses(
            "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n\(body)",
            leniency: [.bareLF, .obsoleteLineFolding, .spaceBeforeColon, .junkBeforeStatusLine]
        )
        #expect(outcome.error != nil)
    }

    @Test(
        "a fold with the blanks around it reads as one space where folds are allowed; blanks elsewhere stay as they are",
        arguments: [
            ("a: b\r\n c", "b c"), ("a: b\r\n\tc\r\n d", "b c d"), ("a:\r\n b", "b"), ("a: b\r\n  \r\n c", "b c"),
            ("a: b\r\n   ", "b"), ("a: b \t\r\n \t c ", "b c"), ("a:\r\n \r\n ", ""),
            ("a: b  c\r\n d\t e", "b  c d\t e"),
            ("a:\r\n b\r\n c", "b c"),
        ]
    )
    func folds(lines: String, value: String) throws {
        let text = "HTTP/1.1 200 OK\r\n\(lines)\r\nz: last\r\nContent-Length: 0\r\n\r\n"
        let head = try responseHead(text, leniency: .obsoleteLineFolding)
        #expect(head.fields["a"] == value)
        #expect(head.fields["z"] == "last")
        #expect(responses(text, leniency: .obsoleteLineFolding).isComplete)
    }

    @Test("a fold in framing fields, as first line or in trailers is refused even where folds are allowed")
    func foldsNever() {
        #expect(head("Content-Length: 1\r\n 0\r\n", leniency: .obsoleteLineFolding).error?.kind == .obsoleteLineFolding)
        #expect(
            head("Transfer-Encoding:\r\n chunked\r\n", leniency: .obsoleteLineFolding).error?.kind
                == .obsoleteLineFolding
        )
        #expect(head(" x: y\r\n", leniency: .obsoleteLineFolding).error?.kind == .whitespaceBeforeFirstField)
        let trailers = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na: b\r\n c\r\n\r\n"
        #expect(responses(trailers, leniency: .obsoleteLineFolding).error?.kind == .obsoleteLineFolding)
    }

    @Test("blanks before the colon are dropped where that is allowed, and only there")
    func spaceBeforeColon() throws {
        let head = try responseHead("HTTP/1.1 200 OK\r\nName \t: v\r\n\r\n", leniency: .spaceBeforeColon)
        #expect(head.fields["name"] == "v")
        let cutAnywhere = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nName \t:and a value\r\n\r\n"
        #expect(responses(cutAnywhere, leniency: .spaceBeforeColon).isComplete)
        #expect(self.head("a  b: c\r\n", leniency: .spaceBeforeColon).error?.kind == .whitespaceBeforeColon)
    }
}
