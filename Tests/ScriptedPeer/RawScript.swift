import Synchronization
import UncurlHTTP1
import UncurlTLS

/// The actions of a ``RawServer`` on one connection, step by step.
///
/// ```swift
/// [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"), .reset]
/// ```
/// After the last step the connection stays open: received bytes are recorded, and nothing is sent.
public struct RawScript: Sendable, ExpressibleByArrayLiteral {
    /// The steps in order.
    public var steps: [RawStep]

    /// A script of these steps.
    public init(_ steps: [RawStep]) { self.steps = steps }

    /// A script of these steps.
    public init(arrayLiteral elements: RawStep...) { steps = elements }

    /// Reads request heads and sends `response` for each, without end.
    public static func answering(_ response: [UInt8]) -> RawScript {
        [.receive(.headEnd), .send(response), .startOver]
    }

    /// Reads a request head, sends the first `offset` bytes of `response`, and ends the connection in the given way.
    public static func cutting(_ response: [UInt8], at offset: Int, ending: RawEnding) -> RawScript {
        let sent = Array(response.prefix(max(0, offset)))
        return [.receive(.headEnd), .send(sent), ending.step]
    }

    /// Reads a request head, sends `response` up to `offset`, and the rest when `gate` is open.
    public static func pausing(_ response: [UInt8], at offset: Int, until gate: RawGate) -> RawScript {
        let first = Array(response.prefix(max(0, offset)))
        let rest = Array(response.dropFirst(max(0, offset)))
        return [.receive(.headEnd), .send(first), .wait(gate), .send(rest)]
    }

    /// The same script over TLS from the first byte.
    public func secured(by context: TLSServerContext) -> RawScript { RawScript([.handshake(context)] + steps) }

    /// Accepts the connection and sends nothing. Received bytes are recorded.
    public static let silent: RawScript = []
}

/// One action of a ``RawServer``.
public enum RawStep: Sendable {
    /// Continues when the given bytes have come. Bytes beyond them count for the next `receive`.
    case receive(RawReceive)
    /// Sends these octets.
    case send([UInt8])
    /// Makes the TLS handshake as the server and continues when it is done. Later steps and the record stay in
    /// plaintext. There is one handshake per connection: a script that starts over skips this step.
    case handshake(TLSServerContext)
    /// Sends these bytes without encryption, for hand-made records.
    case raw([UInt8])
    /// Sends TLS records with this many bytes of content each from now on; 0 for the largest records.
    case records(of: Int)
    /// Passes at most this many bytes to each send from now on; 0 for all. Each piece leaves in a segment of its own if
    /// the peer is fast enough.
    case pieces(of: Int)
    /// Changes the keys of what is sent from now on (RFC 8446 §4.6.3), and of what the peer sends if `askingPeer` is
    /// true.
    case keyUpdate(askingPeer: Bool)
    /// Sends another session ticket, at any time (TLS 1.3).
    case ticket
    /// Sends only the first record of a ticket; ``ticketEnd`` sends the others. A ticket needs several records if it
    /// contains the client's certificates and `TLSServerConfiguration.recordSize` is small.
    case ticketBeginning
    /// Sends the rest of the ticket that ``ticketBeginning`` began.
    case ticketEnd
    /// Sends close_notify (RFC 8446 §6.1). The transport stays open.
    case closeNotify
    /// Sends the same bytes again and again while the peer accepts them. No later step runs.
    case flood([UInt8])
    /// Continues after a time. A ``wait(_:)`` is better, because it needs no guess.
    case pause(Duration)
    /// Continues when the test opens the gate. Received bytes are recorded meanwhile.
    case wait(RawGate)
    /// Stops reading until the test opens the gate: the peer's window fills up.
    case stallUntil(RawGate)
    /// Sends FIN and continues to read. Over TLS without a ``closeNotify`` before it, this is a truncation; so is
    /// ``close``.
    case finish
    /// Closes with RST. Undelivered bytes are lost, as with a crashed host.
    case reset
    /// Closes both directions. The kernel answers later bytes of the peer with an RST.
    case close
    /// Stops reading and sending, so that the peer's window fills up.
    case stall
    /// Starts the script again, for the next request on the same connection.
    case startOver

    /// Sends the text in UTF-8.
    public static func send(_ text: String) -> RawStep { .send(Array(text.utf8)) }
}

/// How a cut response ends. After `fin` the server continues to read, so that bytes of the client do not turn the FIN
/// into an RST.
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

/// Holds scripts until a test opens it. It may be used on any thread, and stays open once it is open.
public final class RawGate: Sendable {
    /// What waits for the gate; nil once it is open.
    private let waiting = Mutex<[@Sendable () -> Void]?>([])

    /// A closed gate.
    public init() {}

    /// Opens the gate. Waiting scripts continue; a second call has no effect.
    public func open() {
        for resume in waiting.withLock({ $0.take() }) ?? [] { resume() }
    }

    /// True if the gate is open. Otherwise `resume` is called when it opens, on the thread that opens it.
    func passes(orElse resume: @escaping @Sendable () -> Void) -> Bool {
        waiting.withLock { waiting in
            waiting?.append(resume)
            return waiting == nil
        }
    }
}
