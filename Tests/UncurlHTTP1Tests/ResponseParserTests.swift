import Testing
import UncurlHTTP1

@Suite struct ResponseParserTests {
    private let final = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test(
        "interim responses are passed on, whatever their fields say, and the final one follows",
        arguments: [
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n",
            String(repeating: "HTTP/1.1 103 x\r\nA: b\r\n\r\n", count: 5),
            "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n",
            "HTTP/1.1 199 x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        ]
    )
    func interim(text: String) {
        let outcome = responses(text + final)
        #expect(outcome.isComplete && outcome.body == octets("ok") && outcome.surplus == 0)
        let number = text.occurrences(of: "HTTP/1.1")
        #expect(outcome.events.filter { if case .informational = $0 { true } else { false } }.count == number)
    }

    @Test("an interim response between two answers moves neither: the body is GET's, the bare head HEAD's")
    func interimPairing() {
        let hint = "HTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n\r\n"
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
        let outcome = responses(hint + final + hint + head, answering: [plain, .head])
        #expect(outcome.error == nil && outcome.surplus == 0 && outcome.body == octets("ok"))
        #expect(outcome.events.filter { $0 == .end }.count == 2)
    }

    @Test("an interim response alone is no response: the end of the connection behind it is a truncated head")
    func interimAlone() {
        let outcome = responses("HTTP/1.1 100 Continue\r\n\r\n")
        #expect(!outcome.isComplete && outcome.finishError?.kind == .truncatedHead)
    }

    @Test("the thirty-third interim response is refused")
    func interimCount() {
        let one = "HTTP/1.1 100 C\r\n\r\n"
        #expect(feedResponses(octets(String(repeating: one, count: 32) + final), answering: [plain]).isComplete)
        let outcome = feedResponses(octets(String(repeating: one, count: 33) + final), answering: [plain])
        #expect(outcome.error == HTTP1Error(.limitExceeded(.informationalCount), offset: UInt64(33 * one.utf8.count)))
    }

    @Test("interim responses together may not pass their limit of octets")
    func interimBytes() {
        var limits = ParserLimits()
        limits.informationalBytes = 40
        let one = "HTTP/1.1 100 C\r\n\r\n"
        #expect(responses(one + one + final, limits: limits).isComplete)
        let outcome = responses(one + one + one + final, limits: limits)
        #expect(outcome.error?.kind == .limitExceeded(.informationalBytes))
    }

    @Test("101 is a tunnel if an upgrade was offered and is confirmed; otherwise an error")
    func upgrade() {
        let confirmed = "HTTP/1.1 101 x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\nraw"
        let offered = ResponseContext.other(offeredUpgrade: true)
        let outcome = responses(confirmed, answering: [offered])
        #expect(outcome.events == [.tunnel] && outcome.surplus == 3)
        #expect(responses(confirmed).error?.kind == .unexpectedUpgrade)
        #expect(responses(confirmed, answering: [.head]).error?.kind == .unexpectedUpgrade)
        let bare = "HTTP/1.1 101 x\r\nUpgrade: websocket\r\n\r\n"
        #expect(responses(bare, answering: [offered]).error?.kind == .unexpectedUpgrade)
        let nameless = "HTTP/1.1 101 x\r\nConnection: upgrade\r\n\r\n"
        #expect(responses(nameless, answering: [offered]).error?.kind == .unexpectedUpgrade)
        #expect(responses(final, answering: [offered]).isComplete)
    }

    @Test("a response cut anywhere is never complete, and says what was missing")
    func truncated() {
        for length in 0..<final.utf8.count {
            let outcome = feedResponses(Array(octets(final).prefix(length)), answering: [plain], cuts: .single)
            #expect(!outcome.isComplete && outcome.error == nil)
            let headBytes = final.utf8.count - 2
            let kind: HTTP1Error.Kind =
                length < headBytes
                ? .truncatedHead : .truncatedBody(expected: 2, received: UInt64(length - headBytes))
            #expect(outcome.finishError == HTTP1Error(kind, offset: UInt64(length)))
        }
    }

    @Test("octets that were refused stay refused")
    func failed() throws {
        var parser = ResponseParser()
        var head = ResponseHead()
        parser.begin(answering: plain)
        let good = octets(final)
        var errors: [HTTP1Error] = []
        for input in [octets("XTTP"), good] {
            do throws(HTTP1Error) {
                _ = try parser.parse(input.span, into: &head)
            } catch {
                errors.append(error)
            }
        }
        do throws(HTTP1Error) {
            try parser.finish()
        } catch {
            errors.append(error)
        }
        #expect(errors == Array(repeating: HTTP1Error(.invalidStatusLine, offset: 0), count: 3))
        #expect(!parser.isBetweenMessages)
        parser.begin(answering: plain)
        #expect(try parser.parse(good.span, into: &head).event == .head)
    }

    @Test("without a request, octets are left to the caller")
    func idle() throws {
        var parser = ResponseParser()
        var head = ResponseHead()
        let input = octets(final)
        #expect(try parser.parse(input.span, into: &head) == ParseStep(consumed: 0, event: .end))
        #expect(parser.isBetweenMessages)
        try parser.finish()
    }

    @Test("one scratch head serves two parsers whose heads arrive in turns")
    func sharedScratch() throws {
        let one = octets("HTTP/1.1 200 One\r\nA: first\r\nContent-Length: 0\r\n\r\n")
        let two = octets("HTTP/1.1 404 Two\r\nA: second\r\nB: more\r\nContent-Length: 0\r\n\r\n")
        var scratch = ResponseHead()
        var parsers = [ResponseParser(), ResponseParser()]
        for round in 0..<3 {
            parsers[0].begin(answering: plain)
            parsers[1].begin(answering: plain)
            for index in 0..<(max(one.count, two.count)) {
                for (number, input) in [one, two].enumerated() where index < input.count {
                    let step = try parsers[number].parse(input.span.extracting(index..<(index + 1)), into: &scratch)
                    guard index == input.count - 1 else {
                        #expect(step.event == .needsInput)
                        continue
                    }
                    #expect(step.event == .head)
                    #expect(scratch.reason == ["One", "Two"][number], "round \(round)")
                    #expect(scratch.fields["A"] == ["first", "second"][number])
                }
            }
        }
    }

    @Test("a head the caller keeps is not changed by the next message")
    func keptHead() throws {
        var scratch = ResponseHead()
        var parser = ResponseParser()
        var kept: [ResponseHead] = []
        for number in 0..<4 {
            let input = octets("HTTP/1.1 200 R\(number)\r\nN: \(number)\r\nContent-Length: 0\r\n\r\n")
            parser.begin(answering: plain)
            let cut = number % 2 == 0 ? input.count : 20
            _ = try parser.parse(input.span.extracting(first: cut), into: &scratch)
            if cut < input.count { _ = try parser.parse(input.span.extracting(cut..<input.count), into: &scratch) }
            kept.append(scratch)
        }
        #expect(kept.map(\.reason) == ["R0", "R1", "R2", "R3"])
        #expect(kept.map { $0.fields["n"] } == ["0", "1", "2", "3"])
    }

    @Test("after an error and while a head is incomplete the scratch is empty and safe to look at")
    func scratchIsSafe() throws {
        var head = ResponseHead()
        var parser = ResponseParser()
        let good = octets(final)
        for bad in [
            "HTTP/1.1 200 OK\r\nA: b\r\nC", "HTTP/1.1 200 OK\r\nA: b\r\nC\0",
            "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: x\r\n\r\n",
        ] {
            parser.begin(answering: plain)
            _ = try parser.parse(good.span, into: &head)
            parser.begin(answering: plain)
            let input = octets(bad)
            _ = try? parser.parse(input.span, into: &head)
            #expect(head.reason.isEmpty && head.fields.isEmpty && head.fields["a"] == nil)
        }
    }

    @Test("what a parser says of its message is right at each point")
    func properties() throws {
        var parser = ResponseParser()
        var head = ResponseHead()
        let input = octets("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhel")
        parser.begin(answering: plain)
        let step = try parser.parse(input.span, into: &head)
        #expect(
            parser.bodyRemaining == 5 && parser.persistence == .close && parser.receivedBytes == UInt64(step.consumed)
        )
        _ = try parser.parse(input.span.extracting(step.consumed..<input.count), into: &head)
        #expect(parser.bodyRemaining == 2 && !parser.isBetweenMessages)
        let rest = octets("lo")
        #expect(try parser.parse(rest.span, into: &head) == ParseStep(consumed: 2, event: .body(0..<2)))
        #expect(parser.isBetweenMessages && parser.bodyRemaining == nil)
        #expect(try parser.parse(Span<UInt8>(), into: &head).event == .end)
    }
}

extension String {
    func occurrences(of part: String) -> Int { ranges(of: part).count }
}
