/// Reads a `text/event-stream` as it comes (HTML §9.2.6): whole, in pieces, byte by byte. An event that the content's
/// end leaves unfinished is none.
///
/// ```
///   start ──byte order mark, or any other byte──▶ line ──CR──▶ behindCR ──LF or other──▶ line
///                                                  └──LF──▶ line (the next)
/// ```
public struct ServerSentEventParser: Sendable {
    private enum State {
        /// So many bytes of a byte order mark have come.
        case start(matched: Int)
        case line
        /// The line has ended; an LF belongs to that end.
        case behindCR
    }

    /// 1 MiB for the data and the current line together: more than an event should have.
    public static let usualLimit = 1 << 20
    /// 4 KiB for an event's id, which goes back to the server as a field when the stream is asked for again.
    public static let idLimit = 1 << 12

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let limit: Int
    private var state = State.start(matched: 0)
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var event = ""
    private var id: String

    /// For the request that asks for the rest of the stream; empty for none.
    public private(set) var lastEventID: String
    /// How long to wait before that, if the stream says so; in milliseconds.
    public private(set) var retry: Int?

    /// - Parameters:
    ///   - lastEventID: what the stream goes on behind.
    ///   - limit: bytes of an event.
    public init(lastEventID: String = "", limit: Int = ServerSentEventParser.usualLimit) {
        self.lastEventID = lastEventID
        self.limit = limit
        id = lastEventID
    }

    /// Adds to `events` what these bytes complete.
    public mutating func take(
        _ bytes: some Sequence<UInt8>,
        into events: inout [ServerSentEvent]
    ) throws(StreamFailure) {
        for byte in bytes { try take(byte, &events) }
    }

    private mutating func take(_ byte: UInt8, _ events: inout [ServerSentEvent]) throws(StreamFailure) {
        switch state {
        case .start(let matched):
            if byte == Self.mark[matched] {
                state = matched + 1 == Self.mark.count ? .line : .start(matched: matched + 1)
                return
            }
            line = Array(Self.mark[..<matched])
            state = .line
        case .behindCR:
            state = .line
            if byte == 0x0A { return }
        case .line:
            break
        }
        switch byte {
        case 0x0A:
            endLine(&events)
        case 0x0D:
            endLine(&events)
            state = .behindCR
        default:
            guard line.count + data.count < limit else { throw .eventTooLong(limit: limit) }
            line.append(byte)
        }
    }

    private mutating func endLine(_ events: inout [ServerSentEvent]) {
        guard !line.isEmpty else { return dispatch(&events) }
        defer { line.removeAll(keepingCapacity: true) }
        let colon = line.firstIndex(of: 0x3A)
        guard colon != 0 else { return }
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == 0x20 { value = value.dropFirst() }
        switch String(decoding: line[..<(colon ?? line.count)], as: UTF8.self) {
        case "event": event = String(decoding: value, as: UTF8.self)
        case "data": data += value + [0x0A]
        case "id" where Self.isID(value): id = String(decoding: value, as: UTF8.self)
        case "retry" where !value.isEmpty && value.allSatisfy { (0x30...0x39).contains($0) }:
            // A number beyond an integer is no time to wait.
            retry = Int(String(decoding: value, as: UTF8.self)) ?? .max
        default: break
        }
    }

    /// The standard ignores an id with NUL. Ids that no field can carry (RFC 9110 §5.5), or that are longer than
    /// ``idLimit``, are ignored likewise: asking again with them could only fail.
    private static func isID(_ value: ArraySlice<UInt8>) -> Bool {
        value.count <= idLimit && !value.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }
    }

    private mutating func dispatch(_ events: inout [ServerSentEvent]) {
        lastEventID = id
        defer {
            data.removeAll(keepingCapacity: true)
            event = ""
        }
        guard !data.isEmpty else { return }
        events.append(
            ServerSentEvent(
                event: event.isEmpty ? "message" : event,
                data: String(decoding: data.dropLast(), as: UTF8.self),
                id: id
            )
        )
    }
}
