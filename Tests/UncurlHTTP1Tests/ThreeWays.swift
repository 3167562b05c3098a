import Testing
import UncurlHTTP1

/// Octets of a text in which each scalar up to U+00FF stands for one octet.
func octets(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
}

let plain = ResponseContext.other(offeredUpgrade: false)

/// Parses responses whole, octet by octet and cut in two at each offset; all must agree. Trailing octets are never taken:
/// what is left over is counted in `surplus`.
func responses(
    _ input: [UInt8],
    answering contexts: [ResponseContext] = [plain],
    limits: ParserLimits = ParserLimits(),
    leniency: Leniency = [],
    cutEvery stride: Int = 1,
    sourceLocation: SourceLocation = #_sourceLocation
) -> Outcome {
    everyWay(input, stride, sourceLocation) { cuts in
        feedResponses(input, answering: contexts, cuts: cuts, limits: limits, leniency: leniency)
    }
}

func responses(
    _ text: String,
    answering contexts: [ResponseContext] = [plain],
    limits: ParserLimits = ParserLimits(),
    leniency: Leniency = [],
    cutEvery stride: Int = 1,
    sourceLocation: SourceLocation = #_sourceLocation
) -> Outcome {
    responses(
        octets(text),
        answering: contexts,
        limits: limits,
        leniency: leniency,
        cutEvery: stride,
        sourceLocation: sourceLocation
    )
}

func requests(
    _ text: String,
    limits: ParserLimits = ParserLimits(),
    leniency: Leniency = [],
    cutEvery stride: Int = 1,
    sourceLocation: SourceLocation = #_sourceLocation
) -> Outcome {
    let input = octets(text)
    return everyWay(input, stride, sourceLocation) { cuts in
        feedRequests(input, cuts: cuts, limits: limits, leniency: leniency)
    }
}

private func everyWay(
    _ input: [UInt8],
    _ stride: Int,
    _ sourceLocation: SourceLocation,
    _ parse: (Cuts) -> Outcome
) -> Outcome {
    let whole = parse(.whole)
    #expect(parse(.single) == whole, "octet by octet", sourceLocation: sourceLocation)
    // Longer inputs are cut at some offsets: the property is the same, the time is quadratic.
    let stride = max(stride, input.count / 100)
    for offset in Swift.stride(from: 1, to: max(input.count, 1), by: stride) {
        let cut = parse(Cuts([offset, input.count]))
        #expect(cut == whole, "cut at \(offset)", sourceLocation: sourceLocation)
        if cut != whole { break }
    }
    return whole
}

/// The head a parser reads from a text that is one.
func responseHead(_ text: String, leniency: Leniency = []) throws -> ResponseHead {
    let input = octets(text)
    var parser = ResponseParser(leniency: leniency)
    parser.begin(answering: plain)
    var head = ResponseHead()
    let step = try parser.parse(input.span, into: &head)
    #expect(step.event == .head)
    return head
}

func fields(_ lines: String...) throws -> HTTPFields {
    try responseHead("HTTP/1.1 200 OK\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n").fields
}
