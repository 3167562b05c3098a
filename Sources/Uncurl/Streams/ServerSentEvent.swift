public import URLLoading
internal import UncurlHTTP1
internal import UncurlText

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

/// Parses a `text/event-stream` (HTML §9.2.6) in pieces of any size. An event that is unfinished at the end of the
/// content is dropped.
///
/// ```
///   start ──byte order mark, or any other byte──▶ line ──CR──▶ behindCR ──LF or other──▶ line
///                                                  └──LF──▶ line (the next)
/// ```
public struct ServerSentEventParser: ContentFramer {
    public typealias Frame = ServerSentEvent

    /// 16 MiB for the data and the current line together: language models send 10 MB in an event, and a server may send
    /// one without an end.
    public static let usualLimit = 16 << 20
    /// 4 KiB for an event's id. The id goes back to the server in a header field when the stream is requested again.
    public static let idLimit = 1 << 12

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let limit: Int
    /// The number of matched bytes of a byte order mark; nil behind the place of one.
    private var marked: Int? = 0
    /// The line has ended with a CR; an LF now belongs to the same line end.
    private var isBehindCR = false
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var event = ""
    private var id: String

    /// The id for the next request of the stream; empty where there is none.
    public private(set) var lastEventID: String
    /// The pause before the next request in milliseconds, if the stream names one.
    public private(set) var retry: Int?

    /// - Parameters:
    ///   - lastEventID: the id of the event after which the stream continues.
    ///   - limit: the most bytes of an event.
    public init(lastEventID: String = "", limit: Int = ServerSentEventParser.usualLimit) {
        self.lastEventID = lastEventID
        self.limit = limit
        id = lastEventID
    }

    /// Appends to `events` the events that these bytes complete.
    public mutating func take(
        _ bytes: some Sequence<UInt8>,
        into events: inout [ServerSentEvent]
    ) throws(StreamFailure) {
        for byte in bytes { try take(byte, &events) }
    }

    private mutating func take(_ byte: UInt8, _ events: inout [ServerSentEvent]) throws(StreamFailure) {
        if let matched = marked {
            if byte == Self.mark[matched] {
                marked = matched + 1 == Self.mark.count ? nil : matched + 1
                return
            }
            line = Array(Self.mark[..<matched])
            marked = nil
        }
        if isBehindCR {
            isBehindCR = false
            if byte == 0x0A { return }
        }
        switch byte {
        case 0x0A:
            endLine(&events)
        case 0x0D:
            endLine(&events)
            isBehindCR = true
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
        switch String(decoding: line[..<(colon ?? line.count)], as: UTF8.self).ascii {
        case "event": event = String(decoding: value, as: UTF8.self)
        case "data": data += value + [0x0A]
        case "id" where Self.isID(value): id = String(decoding: value, as: UTF8.self)
        case "retry" where !value.isEmpty && value.allSatisfy { (0x30...0x39).contains($0) }:
            // A number beyond `Int` counts as the largest `Int`.
            retry = Int(String(decoding: value, as: UTF8.self)) ?? .max
        default: break
        }
    }

    /// The standard ignores an id with NUL. Ids that no header field can carry (RFC 9110 §5.5) and ids longer than
    /// ``idLimit`` are ignored too: a request with such an id could only fail.
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

extension ServerSentEventParser: CustomStringConvertible {
    public var description: String { described(Self.self, ["limit": limit]) }
}

extension AsyncSequence where Element == Data {
    /// The content as events, until it ends. ``EventSource`` also requests the stream again.
    public var serverSentEvents: ServerSentEventSequence<Self> { serverSentEvents() }

    /// The content as events, with a limit on the bytes of an event, after a known event id.
    public func serverSentEvents(
        after lastEventID: String = "",
        limit: Int = ServerSentEventParser.usualLimit
    ) -> ServerSentEventSequence<Self> {
        let parser = ServerSentEventParser(lastEventID: lastEventID, limit: limit)
        return ServerSentEventSequence(base: self, framer: parser) { event, _ in event }
    }
}

/// Events of content that comes in pieces.
public typealias ServerSentEventSequence<Base: AsyncSequence> =
    FrameSequence<Base, ServerSentEventParser, ServerSentEvent>
where Base.Element == Data
