public import Foundation
internal import Synchronization
internal import UncurlWebSocket

/// A WebSocket (RFC 6455), with the compression of RFC 7692 where the server supports it.
/// Messages may be sent and asked for at any time: before the handshake is done they wait for it. Up to some 64 KiB of
/// messages that are not asked for with ``receive()`` are read ahead; the rest stays with the server, and its pings and
/// its close frame then wait behind them.
///
/// The task ends with the connection: without an error after a closing handshake, whichever side began it. Calls that
/// still wait then fail with a `URLError`, as do later ones. If the program has asked for messages, the end is reported
/// after it has taken those that came before the end, or five seconds after it took the last one; in any case it can
/// still take them. Handlers are called on the session's delegate queue. The request's time limit applies to the
/// handshake, that of the resource to the whole task. A time limit that the program has set on the request also
/// applies afterwards: a server that sends nothing for that long, not even a pong, counts as gone.
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    /// Connects the task's threads with its load.
    let channel = WebSocketChannel()

    /// A message of one side.
    @frozen public enum Message: Sendable {
        /// Octets.
        case data(Data)
        /// Text.
        case string(String)
    }

    /// Why a connection was closed (RFC 6455 §7.4.1).
    @frozen public enum CloseCode: Int, Sendable {
        /// The connection is not closed.
        case invalid = 0
        /// All messages have been exchanged.
        case normalClosure = 1000
        /// The server goes down, or the program leaves.
        case goingAway = 1001
        /// The other side has broken the protocol.
        case protocolError = 1002
        /// A message was of a kind that the endpoint does not take.
        case unsupportedData = 1003
        /// The close frame carried no code.
        case noStatusReceived = 1005
        /// There was no close frame.
        case abnormalClosure = 1006
        /// A message was not what its kind says, such as text that is no UTF-8.
        case invalidFramePayloadData = 1007
        /// A message broke the rules of the endpoint that closes.
        case policyViolation = 1008
        /// A message was too long to be handled.
        case messageTooBig = 1009
        /// The server did not agree to an extension that the client needs.
        case mandatoryExtensionMissing = 1010
        /// The server failed.
        case internalServerError = 1011
        /// The TLS handshake failed. No close frame carries this code.
        case tlsHandshakeFailure = 1015
    }

    /// The most bytes of a message from the server: its fragments together, decompressed. A larger message ends the
    /// task with `URLError.dataLengthExceedsMaximum`. 1 MiB by default; a change applies from the next frame on.
    open var maximumMessageSize: Int {
        get { channel.facts.maximumMessageSize }
        set {
            channel.change { $0.maximumMessageSize = newValue }
            channel.ask(.limit(newValue))
        }
    }

    /// The code in the server's close frame; `invalid` before that. Codes without a case of their own read as
    /// `unsupportedData`: ``closeStatus`` tells them apart.
    open var closeCode: CloseCode {
        guard let status = closeStatus else { return .invalid }
        return CloseCode(rawValue: status) ?? .unsupportedData
    }

    /// The number of the close code, 3000 to 4999 for an application's own; nil while the task is not closed.
    public var closeStatus: Int? { channel.facts.closeStatus }

    /// The reason in the server's close frame, in UTF-8; nil for none.
    open var closeReason: Data? { channel.facts.closeReason }

    /// The error with which the task has failed. The task's own end replaces what a program has set.
    open override var error: (any Error)? {
        get { super.error }
        set { snapshot.withLock { $0.error = newValue } }
    }

    open override func resume() { super.resume() }

    /// Ends the task with `URLError.cancelled`, at once; the server gets the code 1001 (going away).
    open override func cancel() { super.cancel() }

    /// Closes the connection in order: a close frame tells the server why, and the task ends when the server has
    /// answered, or after five seconds. Messages that come until then are ignored; a caller that waits for a message or
    /// a pong gets `URLError.cancelled`.
    ///
    /// - Parameters:
    ///   - closeCode: the code; if it is one that no frame may carry (RFC 6455 §7.4.1), the close frame is sent without
    ///     a code.
    ///   - reason: UTF-8, at most 123 bytes; more is cut off.
    open func cancel(with closeCode: CloseCode, reason: Data?) {
        let text = reason.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let why = CloseReason(UInt16(closeCode.rawValue), text) ?? .none
        cancel(.closing(why))
    }

    // MARK: Messages

    /// Sends a message.
    ///
    /// - Parameters:
    ///   - message: text or data.
    ///   - completionHandler: called when the kernel has taken all of the message, or never will.
    public func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        channel.ask(.send(message.value, .handler { completionHandler($0.failure) }))
    }

    /// Sends a message. Returns when the kernel has taken all of it.
    public func send(_ message: Message) async throws {
        try await withCheckedThrowingContinuation { continuation in
            channel.ask(.send(message.value, .awaited { continuation.resume(with: $0) }))
        }
    }

    /// Gets the next message. Callers get messages in the order of their calls.
    public func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        channel.ask(.receive(channel.number(), .handler { completionHandler($0.map(Message.init)) }))
    }

    /// Returns the next message. A Swift task that is cancelled stops waiting for it; the WebSocket stays open.
    public func receive() async throws -> Message {
        let message = try await channel.wait { .receive($0, $1) }
        return Message(message)
    }

    /// Sends a ping.
    ///
    /// - Parameter pongReceiveHandler: called when the server has answered.
    open func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        channel.ask(.ping(channel.number(), .handler { pongReceiveHandler($0.failure) }))
    }

    /// Sends a ping. Returns when the server has answered. A Swift task that is cancelled stops waiting for it.
    open func sendPing() async throws {
        try await channel.wait { .ping($0, $1) }
    }
}

extension URLSessionWebSocketTask.Message {
    init(_ message: WebSocketMessage) {
        switch message {
        case .text(let text): self = .string(text)
        case .binary(let bytes): self = .data(Data(bytes))
        }
    }

    var value: WebSocketMessage {
        switch self {
        case .string(let text): .text(text)
        case .data(let data): .binary([UInt8](data))
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }
}

extension URLRequest {
    /// Makes the request of a WebSocket that offers these subprotocols (RFC 6455 §1.9), and the error if a name is not
    /// a token, or is offered twice (§4.1).
    static func webSocket(to url: URL, offering protocols: [String]) -> (URLRequest, URLError?) {
        var request = URLRequest(url: url)
        guard !protocols.isEmpty else { return (request, nil) }
        do throws(HandshakeError) {
            _ = try ClientHandshake(protocols: protocols)
            request.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
            return (request, nil)
        } catch {
            return (request, URLError(.badURL, url, error))
        }
    }
}
