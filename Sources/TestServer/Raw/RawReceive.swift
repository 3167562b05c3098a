internal import HTTP1

/// How much a ``RawStep/receive(_:)`` waits for.
public enum RawReceive: Sendable {
    /// Through the next empty line: one request head.
    case headEnd
    /// Through the end of one request, with its content. What has come of it is parsed anew whenever more comes: for
    /// requests of some kilobytes.
    case request
    /// So many octets.
    case bytes(Int)
    /// Until the peer's FIN.
    case endOfStream

    /// Where it ends in what the peer has sent; nil: not yet.
    ///
    /// - Parameters:
    ///   - bytes: all that has come.
    ///   - start: what lies before it was taken by earlier steps.
    ///   - isFinished: the peer sends no more.
    func end(in bytes: [UInt8], from start: Int, isFinished: Bool) -> Int? {
        switch self {
        case .bytes(let count): bytes.count - start >= count ? start + count : nil
        case .headEnd: Self.headEnd(in: bytes, from: start)
        case .request: Self.requestEnd(in: bytes, from: start)
        case .endOfStream: isFinished ? bytes.count : nil
        }
    }

    static func headEnd(in bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= start + 4 else { return nil }
        for index in start...(bytes.count - 4)
        where bytes[index] == 13 && bytes[index + 1] == 10 && bytes[index + 2] == 13 && bytes[index + 3] == 10 {
            return index + 4
        }
        return nil
    }

    /// Nil also for what is no request.
    private static func requestEnd(in bytes: [UInt8], from start: Int) -> Int? {
        var (parser, head, end) = (RequestParser(), RequestHead(), start)
        while true {
            guard let step = try? parser.parse(bytes.span.extracting(droppingFirst: end), into: &head) else {
                return nil
            }
            end += step.consumed
            switch step.event {
            case .end: return end
            case .needsInput: return nil
            default: break
            }
        }
    }
}
