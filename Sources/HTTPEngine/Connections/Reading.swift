internal import HTTP1

/// What a connection needs only while a response is coming in. Ten thousand connections that wait for their responses
/// share a few of these, each of which costs more than the rest of its connection.
final class Reading {
    var parser: ResponseParser
    /// Bytes read from the socket that a paused consumer has not taken: content first, then the rest. Empty differs
    /// from nil: the decoder may hold output, and the parser an end, that needs no more bytes.
    var heldContent: [UInt8]?
    var heldInput: [UInt8]?
    var pace = ReadingPace.usual

    init(_ configuration: EngineConfiguration) {
        parser = ResponseParser(limits: configuration.limits, leniency: configuration.leniency)
    }
}

/// Readings that are not in use. The next one is ready: a response that arrives in one piece takes it and gives it back
/// within a turn, and nothing is moved.
struct ReadingShelf {
    /// How many responses can come in at the same time without an allocation.
    private static let capacity = 256

    private(set) var next: Reading
    private var spare: [Reading] = []

    init(_ configuration: EngineConfiguration) { next = Reading(configuration) }

    /// Replaces `next`, which belongs to a connection whose response goes on.
    mutating func replaceNext(_ configuration: EngineConfiguration) {
        next = spare.popLast() ?? Reading(configuration)
    }

    /// Keeps a reading for reuse, without its storage: a head that came in parts has left some, up to the limit on
    /// heads.
    mutating func keep(_ reading: Reading) {
        guard reading !== next, spare.count < ReadingShelf.capacity else { return }
        reading.parser.releaseStorage()
        reading.heldContent = nil
        reading.heldInput = nil
        spare.append(reading)
    }
}
