internal import Foundation

/// What a stream task is asked for.
enum StreamWish: Sendable {
    case read(StreamReading)
    case write(StreamWriting)
    // These come after everything that was asked for before them.
    case closeRead
    case closeWrite
    case capture
    case startSecurity
    case stopSecurity

    /// What is answered after the task's end.
    struct Ending {
        let error: URLError
        /// The peer had said all, and it has been read: that is so for later reads, too.
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

/// Some bytes that are waited for.
struct StreamReading: Sendable {
    /// By which a waiter takes it back.
    let number: UInt64
    /// At least one.
    let minimum: Int
    /// At least ``minimum``.
    let maximum: Int
    /// In seconds; none for what is not over zero.
    let timeout: TimeInterval
    let reply: TaskReply<(Data?, Bool)>
}

struct StreamWriting: Sendable {
    let data: Data
    /// In seconds; none for what is not over zero.
    let timeout: TimeInterval
    let reply: TaskReply<Void>
}
