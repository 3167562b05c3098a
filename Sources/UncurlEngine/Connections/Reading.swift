internal import UncurlHTTP1
internal import UncurlReactor

/// What a connection needs only while a response is coming in. Ten thousand connections that wait for their responses
/// share a few of these, each of which costs more than the rest of its connection.
final class Reading {
    var parser: ResponseParser
    /// Bytes read from the socket that a paused consumer has not taken: content first, then the rest. Empty differs
    /// from nil: the decoder may hold output, and the parser an end, that needs no more bytes.
    var heldContent: [UInt8]?
    var heldInput: [UInt8]?
    var pace = ReadingPace.usual
    /// What it counts in ``ReadingShelf/held``.
    fileprivate var held = 0
    /// Whether the parser has the limits of a request instead of the engine's.
    private var hasOwnLimits = false

    init(_ configuration: EngineConfiguration) {
        parser = ResponseParser(limits: configuration.limits, leniency: configuration.leniency)
    }

    /// - Parameter limits: the engine's, which a request without its own has.
    func begin(_ request: EngineRequest, _ limits: @autoclosure () -> ParserLimits) {
        if request.hasOwnLimits || hasOwnLimits {
            parser.replaceLimits(by: request.options.limits ?? limits())
            hasOwnLimits = request.hasOwnLimits
        }
        parser.begin(answering: request.context)
    }
}

/// Readings that are not in use. The next one is ready: a response that arrives in one piece takes it and gives it back
/// within a turn, and nothing is moved.
struct ReadingShelf {
    /// How many responses can come in at the same time without an allocation.
    private static let capacity = 256

    private(set) var next: Reading
    private var spare: [Reading] = []
    /// The memory of all heads and trailers that have come in part, in octets.
    private(set) var held = 0

    init(_ configuration: EngineConfiguration) { next = Reading(configuration) }

    /// Replaces `next`, which belongs to a connection whose response goes on.
    mutating func replaceNext(_ configuration: EngineConfiguration) {
        next = spare.popLast() ?? Reading(configuration)
    }

    /// Counts what a response that goes on holds of its head or its trailers.
    mutating func count(_ reading: Reading) {
        let held = reading.parser.heldBytes
        guard held != reading.held else { return }
        self.held += held - reading.held
        reading.held = held
    }

    /// Keeps a reading for reuse, without its storage: a head that came in parts has left some, up to the limit on
    /// heads.
    mutating func keep(_ reading: Reading) {
        held -= reading.held
        reading.held = 0
        guard reading !== next, spare.count < ReadingShelf.capacity else { return }
        reading.parser.releaseStorage()
        reading.heldContent = nil
        reading.heldInput = nil
        spare.append(reading)
    }
}

/// How the bytes of a response are taken from its socket.
///
/// Gathering lets the kernel gather bytes, so that the reader is woken for many at once (`SO_RCVLOWAT`). The cost of a
/// fast download is the cost of its wake-ups: by default, a socket wakes its reader for a record or two. The kernel
/// still wakes it at once for FIN, RST, and a full window. This is done only if Content-Length says that so much is
/// still to come, and only for a peer that sends without pauses: the first pause ends it for the whole response, so
/// nothing is held back twice.
///
/// ```
///   usual ──a turn's reads were all full──▶ bulk ◀──▶ gathering ──the peer pauses──▶ fitful
/// ```
enum ReadingPace: Hashable {
    /// Takes bytes as they come, in reads of ``ReadBuffer/usual``.
    case usual
    /// Takes bytes as they come, in reads of ``ReadBuffer/bulk``.
    case bulk
    /// Waits until ``gatheredAmount`` of bytes are there; the timer is for a peer that pauses before that.
    case gathering(TimerID)
    /// Reads as bulk to the end of the response, since its peer has paused once.
    case fitful

    /// Of 64, 128 and 256 KiB, this takes as little CPU as the largest (`./dev bench download`).
    static let gatheredAmount = 128 * 1024
    /// In nanoseconds. Gathering is not worth it below 5 MB/s; this is a tenth of what people notice.
    static let patience: Int64 = 25_000_000
}
