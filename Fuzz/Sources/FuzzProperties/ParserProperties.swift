import UncurlHTTP1

/// No trap and no hang on any octets; a refused prefix stays refused; what a longer input yields begins with what a
/// shorter one did. (`feedResponses` itself checks that nothing is consumed that was not fed.)
public func responseProperty(_ input: [UInt8]) {
    var choices = ChoiceStream(input)
    let contexts = (0..<(choices.number(below: 4) + 1)).map { _ in choices.context() }
    let limits = choices.limits()
    let leniency = choices.leniency()
    let cuts = choices.cuts()
    let raw = choices.rest
    let parse = { (octets: [UInt8]) in
        feedResponses(octets, answering: contexts, cuts: cuts, limits: limits, leniency: leniency)
    }
    checkPrefix(parse(raw), of: raw, parse)
}

/// The same for requests.
public func requestProperty(_ input: [UInt8]) {
    var choices = ChoiceStream(input)
    let limits = choices.limits()
    let leniency = choices.leniency()
    let cuts = choices.cuts()
    let raw = choices.rest
    let parse = { (octets: [UInt8]) in feedRequests(octets, cuts: cuts, limits: limits, leniency: leniency) }
    let outcome = parse(raw)
    checkPrefix(outcome, of: raw, parse)
    if let error = outcome.error {
        check((400...599).contains(error.responseStatus), "a refused request has a status to answer with")
    }
}

private func checkPrefix(_ outcome: Outcome, of raw: [UInt8], _ parse: ([UInt8]) -> Outcome) {
    let longer = parse(raw + Array("\r\nx: y\r\n\r\n".utf8))
    if let error = outcome.error {
        check(longer.error == error && longer.events == outcome.events, "a refused prefix stays refused")
    }
    let shorter = parse(Array(raw.prefix(raw.count / 2)))
    let common = shorter.events.dropLast().count
    check(
        outcome.events.count >= common && Array(outcome.events.prefix(common)) == Array(shorter.events.prefix(common)),
        "the events of a prefix are the first events of the whole"
    )
}

/// Whole input, octet by octet, and in the given pieces: the same events, the same error at the same place.
public func splitProperty(_ input: [UInt8]) {
    var choices = ChoiceStream(input)
    let isRequest = choices.number(below: 2) == 1
    let contexts = (0..<(choices.number(below: 4) + 1)).map { _ in choices.context() }
    let limits = choices.limits()
    let leniency = choices.leniency()
    let cuts = choices.cuts()
    let raw = choices.rest
    let parse = { (cuts: Cuts) in
        isRequest
            ? feedRequests(raw, cuts: cuts, limits: limits, leniency: leniency)
            : feedResponses(raw, answering: contexts, cuts: cuts, limits: limits, leniency: leniency)
    }
    let whole = parse(.whole)
    for other in [parse(.single), parse(cuts)] {
        check(whole == other, "cut differently, the input reads differently:\n\(whole)\n\(other)")
    }
}

/// A chunked body: any octets behind a fixed head, cut in any way, are read as the slow decoder here reads them.
public func chunkedProperty(_ input: [UInt8]) {
    var choices = ChoiceStream(input)
    let cuts = choices.cuts()
    let raw = choices.rest
    let head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    let outcome = feedResponses(head + raw, answering: [.other(offeredUpgrade: false)], cuts: cuts)
    switch ReferenceChunks.decode(raw) {
    case .complete(let body, let length):
        check(outcome.isComplete && outcome.body == body, "a legal chunked body is read: \(outcome)")
        check(outcome.surplus == raw.count - length, "exactly the body is consumed: \(outcome)")
    case .incomplete(let body):
        check(outcome.error == nil && !outcome.isComplete, "an incomplete body is no error and no end: \(outcome)")
        check(outcome.body == body && outcome.finishError != nil, "it fails when the connection ends: \(outcome)")
    case .invalid:
        check(outcome.error != nil, "an illegal chunked body is refused: \(outcome)")
    }
}
