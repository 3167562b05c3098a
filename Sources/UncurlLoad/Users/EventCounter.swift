package enum StreamKind: String, Hashable, Sendable, CaseIterable {
    /// A server-sent event (HTML §9.2.6): lines with data among them, and an empty one.
    case sse
    /// A line that is not empty.
    case ndjson
    /// All bytes that come at once.
    case bytes
}

/// How the events of answers that are streams are counted.
///
/// - stall: The longest gap that is no stall, in nanoseconds.
package typealias StreamOptions = (kind: StreamKind, stall: UInt64)

/// Counts the events in a stream's content, which comes in pieces.
///
/// ```
///   line: nothing yet ──byte──▶ something ──line's end──▶ nothing yet
/// ```
struct EventCounter: Sendable {
    private let kind: StreamKind
    /// The number of bytes of the line so far.
    private var column = 0
    private var isData = false
    private var hasData = false
    private var wasReturn = false

    private static let name = Array("data".utf8)

    init(_ kind: StreamKind) { self.kind = kind }

    /// Returns how many events end in these bytes.
    mutating func count(in bytes: Span<UInt8>) -> Int {
        guard kind != .bytes else { return bytes.isEmpty ? 0 : 1 }
        var events = 0
        for index in bytes.indices {
            let byte = bytes[index]
            defer { wasReturn = byte == 13 }
            switch byte {
            // In CR LF, the CR has already ended the line.
            case 10 where wasReturn: continue
            case 10, 13: if endLine() { events += 1 }
            default: take(byte)
            }
        }
        return events
    }

    /// Whether the end of the content ends an event: a last line needs no line end.
    var hasOpenEvent: Bool { kind == .ndjson && column > 0 }

    private mutating func take(_ byte: UInt8) {
        if column < Self.name.count {
            isData = (column == 0 || isData) && byte == Self.name[column]
        } else if column == Self.name.count {
            // Another field may begin with the same letters.
            isData = isData && byte == UInt8(ascii: ":")
        }
        column += 1
    }

    private mutating func endLine() -> Bool {
        defer { (column, isData) = (0, false) }
        switch kind {
        case .bytes: return false
        case .ndjson: return column > 0
        case .sse:
            guard column == 0 else {
                hasData = hasData || isData && column >= Self.name.count
                return false
            }
            defer { hasData = false }
            return hasData
        }
    }
}
