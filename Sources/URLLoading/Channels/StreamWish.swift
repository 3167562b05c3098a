internal import Foundation

/// A call that the program has made on a stream task.
enum StreamWish: Sendable {
    case read(StreamReading)
    case write(StreamWriting)
    // These take effect after everything that was asked for before them.
    case closeRead
    case closeWrite
    case capture
    case startSecurity
    case stopSecurity

    /// The answer to calls after the task's end.
    struct Ending {
        let error: URLError
        /// Whether the peer had closed and all was read: that is also the answer to later reads.
        var isAtEnd = false
    }

    func answer(_ ending: Ending, by call: (@escaping @Sendable () -> Void, _ isAwaited: Bool) -> Void) {
        let error = ending.error
        switch self {
        case .read(let reading) where ending.isAtEnd:
            call({ reading.reply(.success((nil, true))) }, reading.reply.isAwaited)
        case .read(let reading): call({ reading.reply(.failure(error)) }, reading.reply.isAwaited)
        case .write(let writing): call({ writing.reply(.failure(error)) }, writing.reply.isAwaited)
        case .closeRead, .closeWrite, .capture, .startSecurity, .stopSecurity: break
        }
    }
}

/// A read that waits for bytes.
struct StreamReading: Sendable {
    /// The number by which its caller can withdraw it.
    let number: UInt64
    /// At least one.
    let minimum: Int
    /// At least ``minimum``.
    let maximum: Int
    /// In seconds; no limit unless it is above zero.
    let timeout: TimeInterval
    let reply: TaskReply<(Data?, Bool)>
}

struct StreamWriting: Sendable {
    let data: Data
    /// In seconds; no limit unless it is above zero.
    let timeout: TimeInterval
    let reply: TaskReply<Void>
}
