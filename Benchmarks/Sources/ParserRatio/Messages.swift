import UncurlHTTP1

/// Parses every message of an input once a round, in pieces of at most `feed` octets, as a connection would.
struct Messages {
    private var responses = ResponseParser()
    private var requests = RequestParser()
    private var responseHead = ResponseHead()
    private var requestHead = RequestHead()
    /// What was read, so that nothing of it can be optimised away.
    private(set) var sink = 0

    mutating func run(_ input: [UInt8], feed: Int, isRequest: Bool, rounds: Int) {
        let span = input.span
        for _ in 0..<rounds {
            var position = 0
            while position < span.count {
                position = isRequest ? request(span, position, feed) : response(span, position, feed)
            }
        }
    }

    @inline(__always)
    private mutating func response(_ input: Span<UInt8>, _ start: Int, _ feed: Int) -> Int {
        responses.begin(answering: .other(offeredUpgrade: false))
        var position = start
        do throws(HTTP1Error) {
            while position < input.count {
                var piece = position
                let end = feed < input.count &- position ? position &+ feed : input.count
                feeding: while true {
                    let step = try responses.parse(input.extracting(piece..<end), into: &responseHead)
                    piece &+= step.consumed
                    switch step.event {
                    case .needsInput: break feeding
                    case .head: sink &+= responseHead.fields.count
                    case .body(let slice): sink &+= slice.count
                    case .end: return piece
                    case .informational, .tunnel: break
                    }
                }
                position = end
            }
        } catch {
            fatalError("\(error)")
        }
        return position
    }

    @inline(__always)
    private mutating func request(_ input: Span<UInt8>, _ start: Int, _ feed: Int) -> Int {
        requests.begin()
        var position = start
        do throws(HTTP1Error) {
            while position < input.count {
                var piece = position
                let end = feed < input.count &- position ? position &+ feed : input.count
                feeding: while true {
                    let step = try requests.parse(input.extracting(piece..<end), into: &requestHead)
                    piece &+= step.consumed
                    switch step.event {
                    case .needsInput: break feeding
                    case .head: sink &+= requestHead.fields.count
                    case .body(let slice): sink &+= slice.count
                    case .end: return piece
                    case .informational, .tunnel: break
                    }
                }
                position = end
            }
        } catch {
            fatalError("\(error)")
        }
        return position
    }
}
