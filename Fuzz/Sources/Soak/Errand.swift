import UncurlEngine
import UncurlHTTP1
import UncurlSemantics

/// A request and what may become of it.
struct Errand: Sendable {
    enum Expectation: Sendable {
        /// Nothing but the whole answer will do.
        case whole
        /// The answer is cut: a success would be a lie.
        case failure
        /// The connection may end before any answer; nothing else may go wrong.
        case wholeOrClosed
    }

    let request: EngineRequest
    let expectation: Expectation
    /// Nil: content that is decoded, and only counted.
    let pattern: Pattern?
    let size: Int?
    /// Parts of a streamed body still to be given.
    let upload: [[UInt8]]

    /// - Parameters:
    ///   - peer: the origins of the peer that does as it is told.
    ///   - server: an ordinary server, and `secure` the same over TLS.
    static func random(
        _ id: UInt64,
        peer: [Origin],
        server: Origin,
        secure: Origin,
        using dice: inout Dice
    ) throws(EngineError) -> Errand {
        let origin = peer[dice.below(peer.count)]
        switch dice.below(100) {
        case 0..<40: return try asking(.length, id, at: origin, using: &dice)
        case 40..<50: return try asking(.chunks, id, at: origin, using: &dice)
        case 50..<55: return try asking(.close, id, at: origin, using: &dice)
        case 55..<63: return try asking(.slow, id, at: origin, using: &dice)
        case 63..<65: return try asking(.stray, id, at: origin, using: &dice)
        case 65..<70: return try asking(.fin, id, at: origin, using: &dice)
        case 70..<75: return try asking(.reset, id, at: origin, using: &dice)
        case 75..<78: return try asking(.stall, id, at: origin, using: &dice)
        case 78..<88: return try asking(.race, id, at: origin, using: &dice)
        case 88..<92: return try asking(.post, id, at: origin, using: &dice)
        case 92..<94: return try uploading(id, to: server, using: &dice)
        case 94..<96: return try uploading(id, to: secure, using: &dice)
        case 96..<99: return try downloading(from: secure, using: &dice)
        default:
            let request = try EngineRequest(origin: server, target: "/gzip", options: options(idle: patience))
            return Errand(request: request, expectation: .whole, pattern: nil, size: nil, upload: [])
        }
    }

    /// Longer than ten thousand others, on a machine with other work, may keep a busy loop from one of them.
    private static let patience = Duration.seconds(120)

    private static func options(idle: Duration) -> EngineRequest.Options {
        var options = EngineRequest.Options()
        options.timeouts = Timeouts(connect: patience, idle: idle)
        return options
    }

    static func asking(
        _ deed: Deed,
        _ id: UInt64,
        at origin: Origin,
        using dice: inout Dice
    ) throws(EngineError) -> Errand {
        let size = dice.chance(5) ? dice.below(50_000) : dice.below(600)
        let message = Message(deed, Pattern(id: id), size: size).bytes.count
        let offset = dice.below(message)
        // What never comes is not waited for: a stalled answer ends by its idle limit.
        let idle = deed == .stall ? Duration.milliseconds(500 + dice.below(1_500)) : patience
        let request = try EngineRequest(
            method: deed == .post ? "POST" : "GET",
            origin: origin,
            target: "/\(deed.rawValue)/\(id)/\(size)/\(offset)",
            body: deed == .post ? .bytes(Array("once, please".utf8)) : .none,
            options: options(idle: idle)
        )
        let expectation: Expectation = deed == .post ? .wholeOrClosed : deed.isWhole ? .whole : .failure
        return Errand(request: request, expectation: expectation, pattern: Pattern(id: id), size: size, upload: [])
    }

    private static func downloading(from server: Origin, using dice: inout Dice) throws(EngineError) -> Errand {
        let size = dice.below(30_000)
        let isWhole = dice.chance(60)
        let cut = dice.chance(50) ? "truncate" : "reset"
        let request = try EngineRequest(
            origin: server,
            target: isWhole ? "/bytes/\(size)?seed=1" : "/\(cut)?after=\(size)",
            options: options(idle: patience)
        )
        let expectation: Expectation = isWhole ? .whole : .failure
        return Errand(request: request, expectation: expectation, pattern: nil, size: size, upload: [])
    }

    private static func uploading(_ id: UInt64, to server: Origin, using dice: inout Dice) throws(EngineError) -> Errand
    {
        let pattern = Pattern(id: id)
        let cuts = [0, dice.below(9_000), 9_000 + dice.below(9_000), 18_000]
        let request = try EngineRequest(
            method: "POST",
            origin: server,
            target: "/echo",
            body: .stream(length: dice.chance(50) ? 18_000 : nil, replayable: false),
            options: options(idle: patience)
        )
        let parts = zip(cuts, cuts.dropFirst()).map { pattern.bytes($0..<$1) }
        return Errand(request: request, expectation: .whole, pattern: pattern, size: 18_000, upload: parts)
    }
}
