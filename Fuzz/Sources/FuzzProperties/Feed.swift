import UncurlHTTP1

/// What a parser made of a row of octets, in a form that does not depend on how they were cut.
///
/// Adjacent body slices are merged; each head is written out, so that two parses can be compared by `==`.
public struct Outcome: Equatable, CustomStringConvertible {
    public enum Event: Equatable {
        /// Status line and fields, as `transcript` writes them.
        case informational([UInt8])
        case head([UInt8])
        case body([UInt8])
        case trailers([UInt8])
        case end
        case tunnel
    }

    public var events: [Event] = []
    public var error: HTTP1Error?
    /// Octets left when the last message ended.
    public var surplus = 0
    /// Set after `finish()`: the input ended, and this is what it says.
    public var finishError: HTTP1Error?

    public var body: [UInt8] {
        events.reduce(into: []) { body, event in
            if case .body(let octets) = event { body += octets }
        }
    }

    public var isComplete: Bool { events.last == .end || events.last == .tunnel }

    public var description: String {
        "\(events.map { "\($0)" }) error: \(error.map { "\($0.kind) @\($0.offset)" } ?? "none") surplus: \(surplus)"
            + " finish: \(finishError.map { "\($0.kind)" } ?? "ok")"
    }

    mutating func add(body octets: [UInt8]) {
        guard case .body(var body)? = events.last else { return events.append(.body(octets)) }
        // Without the event's reference to the octets, the slice is added in place: a body may have 100,000 slices.
        events.removeLast()
        body += octets
        events.append(.body(body))
    }
}

/// Where the input is cut: the lengths of the pieces, used round and round. Never empty, never zero.
public struct Cuts: Sendable {
    public let lengths: [Int]

    public init(_ lengths: [Int]) {
        let usable = lengths.filter { $0 > 0 }
        self.lengths = usable.isEmpty ? [Int.max] : usable
    }

    public static let whole = Cuts([])
    public static let single = Cuts([1])

    func pieces(of count: Int) -> [Range<Int>] {
        var start = 0
        var index = 0
        var pieces: [Range<Int>] = []
        while start < count {
            let length = min(lengths[index % lengths.count], count - start)
            pieces.append(start..<(start + length))
            start += length
            index += 1
        }
        return pieces
    }
}

extension HTTPFields {
    /// Every name and value, octet for octet, with the known name each was taken for.
    public var transcript: [UInt8] {
        var text: [UInt8] = []
        for index in 0..<count {
            text += block[nameRange(at: index)] + [0x3A]
            text += block[valueRange(at: index)] + [0x0A, known(at: index).rawValue]
        }
        return text
    }
}

extension ResponseHead {
    func transcript(_ persistence: Persistence) -> [UInt8] {
        [version.minor, UInt8(status / 100), UInt8(status % 100), UInt8(describing: persistence)]
            + fields.block[reasonRange] + [0x0A] + fields.transcript
    }
}

extension RequestHead {
    func transcript(_ persistence: Persistence) -> [UInt8] {
        [version.minor, UInt8(describing: persistence)] + fields.block[methodRange] + [0x20]
            + fields.block[targetRange] + [0x0A] + fields.transcript
    }
}

extension UInt8 {
    fileprivate init(describing persistence: Persistence) {
        self =
            switch persistence {
            case .keepAlive: 0
            case .close: 1
            case .upgraded: 2
            }
    }
}

/// Feeds responses to the given requests, one after another, in pieces. What is left over is offered again with the next
/// piece, as a connection would do.
public func feedResponses(
    _ input: [UInt8],
    answering contexts: [ResponseContext],
    cuts: Cuts = .whole,
    limits: ParserLimits = ParserLimits(),
    leniency: Leniency = []
) -> Outcome {
    var outcome = Outcome()
    var parser = ResponseParser(limits: limits, leniency: leniency)
    var head = ResponseHead()
    var left = contexts[...]
    guard let first = left.popFirst() else { return outcome }
    parser.begin(answering: first)
    var isOver = false
    for piece in cuts.pieces(of: input.count) {
        var start = piece.lowerBound
        if isOver {
            outcome.surplus += piece.count
            continue
        }
        feeding: while true {
            let span = input.span.extracting(start..<piece.upperBound)
            let step: ParseStep
            do throws(HTTP1Error) {
                step = try parser.parse(span, into: &head)
            } catch {
                outcome.error = error
                return outcome
            }
            check(step, span.count)
            switch step.event {
            case .needsInput:
                check(step.consumed == span.count, "all of the input is taken before more is asked for")
                break feeding
            case .informational:
                outcome.events.append(.informational(head.transcript(parser.persistence)))
            case .head:
                outcome.events.append(.head(head.transcript(parser.persistence)))
            case .body(let range):
                outcome.add(body: range.map { span[$0] })
            case .end:
                if parser.trailers.count > 0 { outcome.events.append(.trailers(parser.trailers.transcript)) }
                outcome.events.append(.end)
                guard let next = left.popFirst() else {
                    outcome.surplus += span.count - step.consumed
                    isOver = true
                    break feeding
                }
                parser.begin(answering: next)
            case .tunnel:
                outcome.events.append(.tunnel)
                outcome.surplus += span.count - step.consumed
                isOver = true
                break feeding
            }
            start += step.consumed
        }
    }
    do throws(HTTP1Error) {
        try parser.finish()
    } catch {
        outcome.finishError = error
    }
    return outcome
}

/// Feeds requests, one after another, in pieces.
public func feedRequests(
    _ input: [UInt8],
    cuts: Cuts = .whole,
    limits: ParserLimits = ParserLimits(),
    leniency: Leniency = []
) -> Outcome {
    var outcome = Outcome()
    var parser = RequestParser(limits: limits, leniency: leniency)
    var head = RequestHead()
    for piece in cuts.pieces(of: input.count) {
        var start = piece.lowerBound
        feeding: while true {
            let span = input.span.extracting(start..<piece.upperBound)
            let step: ParseStep
            do throws(HTTP1Error) {
                step = try parser.parse(span, into: &head)
            } catch {
                outcome.error = error
                return outcome
            }
            check(step, span.count)
            switch step.event {
            case .needsInput:
                check(step.consumed == span.count, "all of the input is taken before more is asked for")
                break feeding
            case .head:
                outcome.events.append(.head(head.transcript(parser.persistence)))
            case .body(let range):
                outcome.add(body: range.map { span[$0] })
            case .end:
                if parser.trailers.count > 0 { outcome.events.append(.trailers(parser.trailers.transcript)) }
                outcome.events.append(.end)
                parser.begin()
            case .informational, .tunnel:
                check(false, "a request parser knows no \(step.event)")
            }
            start += step.consumed
        }
    }
    do throws(HTTP1Error) {
        try parser.finish()
    } catch {
        outcome.finishError = error
    }
    return outcome
}

private func check(_ step: ParseStep, _ count: Int) {
    check(step.consumed >= 0 && step.consumed <= count, "no more is consumed than was fed")
    if case .body(let range) = step.event {
        check(range.upperBound <= step.consumed && !range.isEmpty, "a slice is not empty and lies in what was consumed")
    }
}

/// Ends the process where a property does not hold: the fuzzer takes that for a finding, a test run for a failure.
public func check(_ holds: Bool, _ sentence: @autoclosure () -> String) {
    if !holds { fatalError("property violated: \(sentence())") }
}
