/// What a ``RawServer`` does with one connection, step by step.
///
/// ```swift
/// [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"), .reset]
/// ```
/// After the last step the connection stays open: what comes is recorded, nothing is sent.
public struct RawScript: Sendable, ExpressibleByArrayLiteral {
    public var steps: [RawStep]

    public init(_ steps: [RawStep]) { self.steps = steps }

    public init(arrayLiteral elements: RawStep...) { steps = elements }

    /// Reads one request head a time and sends `response` for each, for ever.
    public static func answering(_ response: [UInt8]) -> RawScript {
        [.receive(.headEnd), .send(response), .startOver]
    }

    /// Reads a request head, sends the first `offset` bytes of `response`, and ends as told.
    public static func cutting(_ response: [UInt8], at offset: Int, ending: RawEnding) -> RawScript {
        let sent = Array(response.prefix(max(0, offset)))
        return [.receive(.headEnd), .send(sent), ending.step]
    }

    /// Reads a request head, sends `response` up to `offset`, and the rest once `gate` is open.
    public static func pausing(_ response: [UInt8], at offset: Int, until gate: RawGate) -> RawScript {
        let first = Array(response.prefix(max(0, offset)))
        let rest = Array(response.dropFirst(max(0, offset)))
        return [.receive(.headEnd), .send(first), .wait(gate), .send(rest)]
    }

    /// Takes the connection and never says anything; what comes is recorded.
    public static let silent: RawScript = []
}

/// One thing that a ``RawServer`` does.
public enum RawStep: Sendable {
    /// Goes on when that much has come. What came beyond it counts for the next `receive`.
    case receive(RawReceive)
    case send([UInt8])
    /// Sends the same bytes again and again for as long as the peer takes them; the last step that does anything.
    case flood([UInt8])
    /// Goes on after a time. A ``wait(_:)`` is better: it needs no guess.
    case pause(Duration)
    /// Goes on when the test opens the gate.
    case wait(RawGate)
    /// Sends FIN; reading goes on.
    case finish
    /// Closes with RST. What the kernel has not delivered yet is lost, as with a crashed host.
    case reset
    /// Closes both directions. Bytes of the peer that come later are answered with an RST, as the kernel does it.
    case close
    /// Stops reading and sending for good: the peer's window fills up.
    case stall
    /// Back to the first step: the next request on the same connection.
    case startOver

    public static func send(_ text: String) -> RawStep { .send(Array(text.utf8)) }
}

/// How much a ``RawStep/receive(_:)`` waits for.
public enum RawReceive: Sendable {
    /// Through the next empty line: one request head.
    case headEnd
    case bytes(Int)
    /// Until the peer's FIN.
    case endOfStream
}

/// How a cut response ends. After `fin` the server goes on reading, so that nothing the client still sends turns the FIN
/// into an RST.
public enum RawEnding: Sendable, CaseIterable {
    case fin, reset, stall

    var step: RawStep {
        switch self {
        case .fin: .finish
        case .reset: .reset
        case .stall: .stall
        }
    }
}
