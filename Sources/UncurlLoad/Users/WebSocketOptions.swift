/// The messages of a run on WebSockets (RFC 6455): a request of the run is a message, and its answer is the next
/// message of the server.
package struct WebSocketOptions: Hashable, Sendable {
    /// The content of a message, in UTF-8 unless ``isBinary``. It may have places to fill in.
    package let message: [UInt8]
    package let isBinary: Bool
    /// Whether an answer that differs from the message is a failure.
    package let expectsEcho: Bool

    /// The largest answer, in bytes. It equals ``Files/bodyLimit``.
    package static let answerLimit = 256 << 20

    package init(message: [UInt8], isBinary: Bool, expectsEcho: Bool) {
        (self.message, self.isBinary, self.expectsEcho) = (message, isBinary, expectsEcho)
    }
}
