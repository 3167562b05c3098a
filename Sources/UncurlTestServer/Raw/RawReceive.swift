internal import UncurlHTTP1

/// What a ``RawStep/receive(_:)`` waits for.
public enum RawReceive: Sendable {
    /// The next empty line, which ends the head of a request.
    case headEnd
    /// The end of one request with its content. The received bytes are parsed again whenever more come, which suits
    /// requests of some kilobytes.
    case request
    /// This many octets.
    case bytes(Int)
    /// The peer's FIN.
    case endOfStream

    /// The position of the end in the peer's bytes; nil if it has not come yet.
    ///
    /// - Parameters:
    ///   - bytes: all received bytes.
    ///   - start: the end of the bytes that earlier steps have used.
    ///   - isFinished: whether the peer has ended its side.
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

    /// Nil also for bytes that are not a request.
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
