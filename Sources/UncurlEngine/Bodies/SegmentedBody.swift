/// Content in pieces that are sent one after the other: a form's boundaries in memory, its files from disk, its streams
/// from a thread.
public struct SegmentedBody: Sendable {
    /// A piece of the content.
    public enum Segment: Sendable {
        /// Bytes in memory.
        case bytes([UInt8])
        /// A file, or a range of one.
        case file(FileBody)
        /// Content that a thread reads.
        case threaded(ThreadedBody)

        package var length: UInt64? {
            switch self {
            case .bytes(let bytes): UInt64(bytes.count)
            case .file(let file): file.length
            case .threaded(let body): body.length
            }
        }

        package var isReplayable: Bool {
            switch self {
            case .bytes, .file: true
            case .threaded(let body): body.isReplayable
            }
        }
    }

    /// The pieces, in the order in which they are sent.
    public let segments: [Segment]
    /// The sum of the segments' lengths; nil if one of them is unknown: then the content is sent in chunks.
    public let length: UInt64?

    /// Nil if the sum of the known lengths does not fit into 63 bits, which no file system holds.
    public init?(_ segments: [Segment]) {
        var sum: UInt64 = 0
        for segment in segments {
            let (next, overflow) = sum.addingReportingOverflow(segment.length ?? 0)
            guard !overflow, next <= UInt64(Int64.max) else { return nil }
            sum = next
        }
        self.segments = segments
        length = segments.allSatisfy { $0.length != nil } ? sum : nil
    }

    init(_ file: FileBody) {
        segments = [.file(file)]
        length = file.length
    }

    init(_ body: ThreadedBody) {
        segments = [.threaded(body)]
        length = body.length
    }

    /// Whether all of it can be sent again.
    public var isReplayable: Bool { segments.allSatisfy(\.isReplayable) }
}
