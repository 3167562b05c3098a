public import TLS

/// What a ``RawServer`` does with one connection, step by step.
///
/// ```swift
/// [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"), .reset]
/// ```
/// After the last step the connection stays open: what comes is recorded, nothing is sent.
public struct RawScript: Sendable, ExpressibleByArrayLiteral {
    /// What is done, in this order.
    public var steps: [RawStep]

    /// A script of these steps.
    public init(_ steps: [RawStep]) { self.steps = steps }

    /// A script of these steps.
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

    /// The same over TLS from the first byte on.
    public func secured(by context: TLSServerContext) -> RawScript { RawScript([.handshake(context)] + steps) }

    /// Takes the connection and never says anything; what comes is recorded.
    public static let silent: RawScript = []
}

/// One thing that a ``RawServer`` does.
public enum RawStep: Sendable {
    /// Goes on when that much has come. What came beyond it counts for the next `receive`.
    case receive(RawReceive)
    /// Sends these octets.
    case send([UInt8])
    /// Everything after it is TLS, as the server; goes on when the handshake is done. Scripts are in plaintext still,
    /// and so is the record. Made once a connection: one that starts over passes it by.
    case handshake(TLSServerContext)
    /// Sends these bytes past TLS: a record of one's own making.
    case raw([UInt8])
    /// Sends TLS records of so many bytes of content each, from here on; 0: as large as they may be.
    case records(of: Int)
    /// Hands the kernel at most so many bytes a send, from here on; 0: all there are. Each leaves in a segment of its
    /// own if the peer is quick enough.
    case pieces(of: Int)
    /// New keys for what is sent from here on (RFC 8446 §4.6.3), and for what the peer sends if that is asked.
    case keyUpdate(askingPeer: Bool)
    /// One more ticket, as late as one likes (TLS 1.3).
    case ticket
    /// The same, but its first record alone; the others come with ``ticketEnd``. A ticket needs several if it holds the
    /// client's certificates and `TLSServerConfiguration.recordSize` is small.
    case ticketBeginning
    /// What ``ticketBeginning`` has kept back.
    case ticketEnd
    /// Says that nothing follows (RFC 8446 §6.1). The transport stays open.
    case closeNotify
    /// Sends the same bytes again and again for as long as the peer takes them; the last step that does anything.
    case flood([UInt8])
    /// Goes on after a time. A ``wait(_:)`` is better: it needs no guess.
    case pause(Duration)
    /// Goes on when the test opens the gate. Reading goes on meanwhile.
    case wait(RawGate)
    /// Stops reading until the test opens the gate: the peer's window fills up.
    case stallUntil(RawGate)
    /// Sends FIN; reading goes on. Over TLS without a ``closeNotify`` before it, this is a truncation; so is ``close``.
    case finish
    /// Closes with RST. What the kernel has not delivered yet is lost, as with a crashed host.
    case reset
    /// Closes both directions. Bytes of the peer that come later are answered with an RST, as the kernel does it.
    case close
    /// Stops reading and sending for good: the peer's window fills up.
    case stall
    /// Back to the first step: the next request on the same connection.
    case startOver

    /// Sends the text in UTF-8.
    public static func send(_ text: String) -> RawStep { .send(Array(text.utf8)) }
}

/// How a cut response ends. After `fin` the server goes on reading, so that nothing the client still sends turns the
/// FIN into an RST.
public enum RawEnding: Sendable, CaseIterable {
    /// A FIN.
    case fin
    /// An RST.
    case reset
    /// Nothing: the connection stays open and silent.
    case stall

    var step: RawStep {
        switch self {
        case .fin: .finish
        case .reset: .reset
        case .stall: .stall
        }
    }
}
