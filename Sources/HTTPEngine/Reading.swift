internal import HTTP1

/// What a connection needs only while a response is coming in. Ten thousand connections that wait for theirs share
/// a handful of these; each would cost more than the rest of its connection.
final class Reading {
    var parser: ResponseParser
    /// Bytes read from the socket that a paused consumer has not let through: content first, then the rest. Empty is not
    /// nil: the decoder may hold back output, and the parser an end, that needs no more bytes.
    var heldContent: [UInt8]?
    var heldInput: [UInt8]?

    init(_ configuration: EngineConfiguration) {
        parser = ResponseParser(limits: configuration.limits, leniency: configuration.leniency)
    }
}

/// Readings between two responses.
struct ReadingShelf {
    /// Responses coming in at the same moment that need no allocation.
    private static let capacity = 256

    private var spare: [Reading] = []

    mutating func take(_ configuration: EngineConfiguration) -> Reading {
        spare.popLast() ?? Reading(configuration)
    }

    /// A head that came in parts has left storage behind, up to the limit on heads: not for keeping.
    mutating func keep(_ reading: Reading) {
        guard spare.count < ReadingShelf.capacity else { return }
        reading.parser.releaseStorage()
        reading.heldContent = nil
        reading.heldInput = nil
        spare.append(reading)
    }
}
