/// An event of a `text/event-stream` (HTML §9.2).
public struct ServerSentEvent: Hashable, Sendable {
    /// The event's type; `message` where the stream names none.
    public var event: String
    /// The data lines, joined by LF.
    public var data: String
    /// The last id that the stream named, in this event or an earlier one; empty where there was none.
    public var id: String

    /// An event. Its default type is `message`.
    public init(event: String = "message", data: String, id: String = "") {
        self.event = event
        self.data = data
        self.id = id
    }
}
