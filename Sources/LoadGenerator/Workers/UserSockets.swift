import WebSocket

/// The WebSockets of a thread's virtual users: which of them have none, and what is left to do when all are to end.
struct UserSockets<User> {
    let options: WebSocketOptions
    let message: Template
    /// The same where nothing is to be filled in.
    let fixed: WebSocketMessage?
    /// All of the thread's.
    let users: [User]
    /// None is open, or on its way.
    var unopened: [User]
    /// Open, or being closed.
    var open = 0
    /// The run has ended, and nothing counts any more: called when the last has been closed.
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
