/// Content in pieces, sent one after the other as one: a form's boundaries in memory, its files from the disk.
public struct SegmentedBody: Sendable {
    public enum Segment: Sendable {
        case bytes([UInt8])
        case file(FileBody)

        var length: UInt64 {
            switch self {
            case .bytes(let bytes): UInt64(bytes.count)
            case .file(let file): file.length
            }
        }
    }

    public let segments: [Segment]
    /// The sum of theirs.
    public let length: UInt64

    /// Nil if the sum does not fit into 63 bits, which no file system holds.
    public init?(_ segments: [Segment]) {
        var sum: UInt64 = 0
        for segment in segments {
            let (next, overflow) = sum.addingReportingOverflow(segment.length)
            guard !overflow, next <= UInt64(Int64.max) else { return nil }
            sum = next
        }
        self.segments = segments
        length = sum
    }

    init(_ file: FileBody) {
        segments = [.file(file)]
        length = file.length
    }
}
