/// An event of a `text/event-stream` (HTML §9.2).
public struct ServerSentEvent: Hashable, Sendable {
    /// `message` where the stream names none.
    public var event: String
    /// Lines joined by LF.
    public var data: String
    /// The last one that the stream named, by this event or one before; empty for none.
    public var id: String

    /// An event. Without a name it is a `message`.
    public init(event: String = "message", data: String, id: String = "") {
        self.event = event
        self.data = data
        self.id = id
    }
}
