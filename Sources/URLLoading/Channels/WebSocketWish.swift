internal import Foundation
internal import UncurlWebSocket

/// A call that the program has made on a WebSocket task.
enum WebSocketWish: Sendable {
    case send(WebSocketMessage, TaskReply<Void>)
    /// A message that could not be sent: its caller waits for the end.
    case unsent(TaskReply<Void>)
    case ping(UInt64, TaskReply<Void>)
    case receive(UInt64, TaskReply<WebSocketMessage>)
    /// A change of ``WebSocketFacts/maximumMessageSize``, which a load is told.
    case limit(Int)
}

/// What any thread may read of a WebSocket task, and what its load has left.
struct WebSocketFacts: Sendable {
    var maximumMessageSize = 1 << 20
    var closeStatus: Int?
    var closeReason: Data?
    /// How long the task's end waits for the program to take the next message, once the delegate queue has run the
    /// earlier calls. A program that takes no more messages gets the end after that time.
    var patience = Duration.seconds(5)
    /// The messages that had come and had not been asked for when the server closed.
    var left: [WebSocketMessage] = []

    mutating func close(_ status: Int, _ reason: String = "") {
        closeStatus = status
        closeReason = reason.isEmpty ? nil : Data(reason.utf8)
    }
}

/// A WebSocket task's way to its load.
typealias WebSocketChannel = TaskChannel<WebSocketWish>

extension WebSocketWish: TaskWish {
    static var firstFacts: WebSocketFacts { WebSocketFacts() }
    static var closed: String { "the WebSocket is closed" }

    var number: UInt64? {
        switch self {
        case .send, .unsent, .limit: nil
        case .ping(let number, _), .receive(let number, _): number
        }
    }

    func answer(from facts: inout WebSocketFacts, endedWell: Bool) -> TaskAnswer? {
        switch self {
        case .receive(_, let reply):
            facts.left.isEmpty ? nil : reply.answer(.success(facts.left.removeFirst()))
        // A load that begins reads the fact.
        case .limit: ({}, true)
        case .send, .unsent, .ping: nil
        }
    }

    func failure(_ error: URLError) -> TaskAnswer? {
        switch self {
        case .send(_, let reply), .unsent(let reply), .ping(_, let reply): reply.answer(.failure(error))
        case .receive(_, let reply): reply.answer(.failure(error))
        case .limit: nil
        }
    }
}
