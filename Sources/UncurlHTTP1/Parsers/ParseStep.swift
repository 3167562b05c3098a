/// What one call of a parser found.
public struct ParseStep: Sendable, Hashable {
    /// Octets taken from the front of the input; never more than were fed.
    public let consumed: Int
    /// What the octets taken were.
    public let event: ParseEvent

    /// A step from its parts.
    public init(consumed: Int, event: ParseEvent) {
        self.init(consumed, event)
    }

    @inline(__always)
    init(_ consumed: Int, _ event: ParseEvent) {
        self.consumed = consumed
        self.event = event
    }
}

/// What a parser found in its input.
public enum ParseEvent: Sendable, Hashable {
    /// All of the input was taken and the message goes on.
    case needsInput
    /// A 1xx response lies in `head`; the final one is still to come.
    case informational
    /// The final head lies in `head`.
    case head
    /// Body octets, as a range of this very input: a slice, never a copy.
    case body(Range<Int>)
    /// The message is complete. What is left of the input is not part of it.
    case end
    /// 101, or 2xx to CONNECT: the head lies in `head`, and every octet after it belongs to the new protocol.
    case tunnel
}
