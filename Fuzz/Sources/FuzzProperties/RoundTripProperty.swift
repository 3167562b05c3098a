import UncurlHTTP1

/// Arbitrary octets into every setter: either it throws, or what is written is one message with the same parts, and
/// nothing with a control in it. What the parser read from any input is written and read again to the same.
public func roundTripProperty(_ input: [UInt8]) {
    var choices = ChoiceStream(input)
    switch choices.number(below: 4) {
    case 0: writeRequest(&choices)
    case 1: writeResponse(&choices)
    case 2: rewriteResponse(choices.rest)
    default: rewriteRequest(choices.rest)
    }
}

/// Parts of the raw octets, cut where the stream says.
private func parts(_ choices: inout ChoiceStream, _ count: Int) -> [[UInt8]] {
    let lengths = (0..<count).map { _ in Int(choices.octet()) % 48 }
    var rest = choices.rest[...]
    return lengths.map { length in
        defer { rest = rest.dropFirst(length) }
        return Array(rest.prefix(length))
    }
}

private func text(_ octets: [UInt8]) -> String { String(decoding: octets, as: UTF8.self) }

private func writeRequest(_ choices: inout ChoiceStream) {
    let isChunked = choices.number(below: 2) == 1
    let all = parts(&choices, 8)
    guard
        var head = try? RequestHead(
            method: all[0].isEmpty ? "GET" : text(all[0]),
            target: all[1].isEmpty ? "/" : text(all[1])
        )
    else { return }
    var fields = HTTPFields()
    let name = all[3]
    let value = all[4]
    do {
        try fields.append("Host", text(all[2]))
        if isChunked { try fields.append("Transfer-Encoding", "chunked") }
        if !name.isEmpty { try fields.append(name: name.span, value: value.span) }
        if !all[5].isEmpty { try fields.replace(text(all[5]), text(all[6])) }
    } catch {
        check(error.side == .local, "what we refuse to send is our own fault")
        return
    }
    head.fields = fields
    var written: [UInt8] = []
    do {
        try MessageSerializer.append(head, to: &written)
    } catch {
        check(written.isEmpty && error.side == .local, "nothing is written of what is refused")
        return
    }
    checkLines(written, fields.count)
    if isChunked { try? writeBody(all[7], HTTPFields(), &written) }
    // What the caller frames by Content-Length has a body nobody wrote.
    if fields.contains(.contentLength) { return }
    var parser = RequestParser()
    var read = RequestHead()
    let step = try? parser.parse(written.span, into: &read)
    check(step?.event == .head && read == head, "what was written is read as the same request")
    let outcome = feedRequests(written, cuts: Cuts([3, 1, 7]))
    check(outcome.error == nil && outcome.isComplete && outcome.finishError == nil, "it is one message: \(outcome)")
    check(outcome.body == (isChunked ? all[7] : []), "with the same body")
}

private func writeResponse(_ choices: inout ChoiceStream) {
    let isChunked = choices.number(below: 2) == 1
    let status = 200 + choices.number(below: 256)
    let all = parts(&choices, 6)
    guard var head = try? ResponseHead(status: status, reason: text(all[0])) else { return }
    var fields = HTTPFields()
    var trailers = HTTPFields()
    let name = all[3]
    let value = all[4]
    do {
        if isChunked { try fields.append("Transfer-Encoding", "chunked") }
        if !all[1].isEmpty { try fields.append(text(all[1]), text(all[2])) }
        if !name.isEmpty { try trailers.append(name: name.span, value: value.span) }
    } catch {
        return
    }
    head.fields = fields
    var written: [UInt8] = []
    do {
        try MessageSerializer.append(head, to: &written)
        checkLines(written, fields.count)
        if isChunked { try writeBody(all[5], trailers, &written) }
    } catch {
        return
    }
    var parser = ResponseParser()
    parser.begin(answering: .other(offeredUpgrade: false))
    var read = ResponseHead()
    let step = try? parser.parse(written.span, into: &read)
    check(step?.event == .head && read == head, "what was written is read as the same response")
    guard isChunked, ![204, 304].contains(status) else { return }
    let outcome = feedResponses(written, answering: [.other(offeredUpgrade: false)], cuts: Cuts([2, 5]))
    check(outcome.isComplete && outcome.surplus == 0 && outcome.body == all[5], "with the same body: \(outcome)")
    if trailers.count > 0 {
        check(outcome.events.contains(.trailers(trailers.transcript)), "and the same trailers")
    }
}

private func writeBody(_ body: [UInt8], _ trailers: HTTPFields, _ written: inout [UInt8]) throws {
    let half = body.count / 2
    MessageSerializer.appendChunk(body.span.extracting(0..<half), to: &written)
    MessageSerializer.appendChunk(body.span.extracting(half..<body.count), to: &written)
    try MessageSerializer.appendLastChunk(trailers: trailers, to: &written)
}

/// A head is as many lines as it should have, and nothing else in it is a control.
private func checkLines(_ written: [UInt8], _ fields: Int) {
    let controls = written.filter { $0 < 0x20 && $0 != 9 || $0 == 0x7F }
    check(controls == Array(repeating: [13, 10], count: fields + 2).flatMap { $0 }, "a writer emits no stray control")
}

private func rewriteResponse(_ raw: [UInt8]) {
    var parser = ResponseParser()
    parser.begin(answering: .other(offeredUpgrade: false))
    var head = ResponseHead()
    guard let step = try? parser.parse(raw.span, into: &head), step.event == .head else { return }
    var written: [UInt8] = []
    // Some of what we read we refuse to write: 204 with a length, several equal lengths.
    guard (try? MessageSerializer.append(head, to: &written)) != nil else { return }
    var again = ResponseHead()
    parser.begin(answering: .other(offeredUpgrade: false))
    let second = try? parser.parse(written.span, into: &again)
    check(second?.event == .head && again == head, "what was read and written is read as the same response")
    var rewritten: [UInt8] = []
    try? MessageSerializer.append(again, to: &rewritten)
    check(rewritten == written, "writing it again changes nothing")
}

private func rewriteRequest(_ raw: [UInt8]) {
    var parser = RequestParser()
    var head = RequestHead()
    guard let step = try? parser.parse(raw.span, into: &head), step.event == .head else { return }
    var written: [UInt8] = []
    guard (try? MessageSerializer.append(head, to: &written)) != nil else { return }
    var again = RequestHead()
    parser.begin()
    let second = try? parser.parse(written.span, into: &again)
    check(second?.event == .head && again == head, "what was read and written is read as the same request")
    var rewritten: [UInt8] = []
    try? MessageSerializer.append(again, to: &rewritten)
    check(rewritten == written, "writing it again changes nothing")
}
