import UncurlWebSocket

/// The WebSockets of a thread's virtual users: which users have none, and how many must still be closed at the end.
struct UserSockets<User> {
    let options: WebSocketOptions
    let message: Template
    /// The finished message. Nil if ``message`` has places to fill in.
    let fixed: WebSocketMessage?
    /// All users of the thread.
    let users: [User]
    /// Users whose WebSocket is neither open nor being opened.
    var unopened: [User]
    /// WebSockets that are open, or being closed.
    var open = 0
    /// Called when the last WebSocket has been closed, after the run's end. Once this is set, nothing is counted.
    var whenClosed: (() -> Void)?

    init(_ options: WebSocketOptions, _ slots: TemplateSlots, _ users: [User]) {
        self.options = options
        message = slots.template(options.message)
        fixed = message.isFixed ? Self.message(options.message, options) : nil
        self.users = users
        unopened = users.reversed()
    }

    static func message(_ bytes: [UInt8], _ options: WebSocketOptions) -> WebSocketMessage {
        options.isBinary ? .binary(bytes) : .text(String(decoding: bytes, as: UTF8.self))
    }
}
