internal import Foundation
internal import UncurlEngine

/// A call that the program has made on a stream task.
enum StreamWish: Sendable {
    case read(StreamReading)
    /// - Parameter timeout: in seconds; no limit unless it is above zero.
    case write(Data, timeout: TimeInterval, TaskReply<Void>)
    // These take effect after everything that was asked for before them.
    case closeRead
    case closeWrite
    case capture
    case startSecurity
    case stopSecurity
}

/// A stream task's way to its load. Its fact is whether the peer had closed and all was read.
typealias StreamChannel = TaskChannel<StreamWish>

extension StreamWish: TaskWish {
    static var firstFacts: Bool { false }
    static var closed: String { "the stream is closed" }

    var number: UInt64? { if case .read(let reading) = self { reading.number } else { nil } }

    /// After the end, all was read: that is also the answer to later reads.
    func answer(from isAtEnd: inout Bool, endedWell: Bool) -> TaskAnswer? {
        guard isAtEnd, endedWell, case .read(let reading) = self else { return nil }
        return reading.reply.answer(.success((nil, true)))
    }

    func failure(_ error: URLError) -> TaskAnswer? {
        switch self {
        case .read(let reading): reading.reply.answer(.failure(error))
        case .write(_, _, let reply): reply.answer(.failure(error))
        case .closeRead, .closeWrite, .capture, .startSecurity, .stopSecurity: nil
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

/// The host and port that a stream task connects to.
struct StreamPlace: Sendable {
    let host: String
    let port: Int

    /// Returns the origin, with the scheme http because TLS may begin later. The proxy for https is asked for a tunnel
    /// all the same.
    func origin() throws(URLError) -> Origin {
        guard let number = UInt16(exactly: port), number > 0 else {
            throw ErrorTranslation.urlError(.badURL, nil, "there is no port \(port)")
        }
        do throws(EngineError) {
            return try Origin(scheme: .http, host: host, port: number)
        } catch {
            throw ErrorTranslation.error(error, nil)
        }
    }

    func isPlace(of other: Origin) -> Bool {
        guard let origin = try? origin() else { return false }
        return origin.host == other.host && origin.port == other.port
    }
}
