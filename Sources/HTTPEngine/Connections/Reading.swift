internal import HTTP1

/// What a connection needs only while a response is coming in. Ten thousand connections that wait for theirs share
/// a handful of these; each would cost more than the rest of its connection.
final class Reading {
    var parser: ResponseParser
    /// Bytes read from the socket that a paused consumer has not let through: content first, then the rest. Empty is
    /// not nil: the decoder may hold back output, and the parser an end, that needs no more bytes.
    var heldContent: [UInt8]?
    var heldInput: [UInt8]?
    var pace = ReadingPace.usual

    init(_ configuration: EngineConfiguration) {
        parser = ResponseParser(limits: configuration.limits, leniency: configuration.leniency)
    }
}

/// Readings between two responses. The next one out lies ready: a response that arrives in one piece takes it and
/// gives it back within a turn, and nothing is moved.
struct ReadingShelf {
    /// Responses coming in at the same moment that need no allocation.
    private static let capacity = 256

    private(set) var next: Reading
    private var spare: [Reading] = []

    init(_ configuration: EngineConfiguration) { next = Reading(configuration) }

    /// `next` belongs to a connection whose response goes on.
    mutating func replaceNext(_ configuration: EngineConfiguration) {
        next = spare.popLast() ?? Reading(configuration)
    }

    /// A head that came in parts has left storage behind, up to the limit on heads: not for keeping.
    mutating func keep(_ reading: Reading) {
        guard reading !== next, spare.count < ReadingShelf.capacity else { return }
        reading.parser.releaseStorage()
        reading.heldContent = nil
        reading.heldInput = nil
        spare.append(reading)
    }
}
