/// Which parts of a download are still to be asked for. Parts are handed out from the front, so that what is there when
/// the download breaks off is one piece, but for the parts under way: that piece can be gone on from.
struct SegmentPlan: Sendable {
    /// A part of the content that one connection asks for, in bytes from the content's start.
    struct Segment: Sendable {
        /// Where the rest of it begins.
        var first: Int64
        let last: Int64
        /// How often it was asked for without a byte of it coming.
        var failures = 0

        var isWhole: Bool { first > last }
        var range: String { "bytes=\(first)-\(last)" }
    }

    /// How often a part is asked for without a byte of it coming before the download fails.
    static let mostFailures = 3

    /// Of the whole content, in bytes.
    let total: Int64
    private let length: Int64
    private var next: Int64
    private var returned: [Segment] = []
    /// Where each part begins that is under way.
    private var open: Set<Int64> = []

    /// - Parameters:
    ///   - total: of the whole content, in bytes.
    ///   - first: the part that is under way, as its answer said how long the whole is.
    ///   - segments: how many are asked for at once.
    init(total: Int64, first: Segment, segments: Int) {
        self.total = total
        // Four parts a connection: a slow one does not keep the others waiting at the end.
        let share = total / Int64(max(1, segments) * 4) + 1
        length = min(max(share, Self.shortest), Self.longest)
        next = first.last + 1
        open = [first.first]
    }

    /// The bounds of a part's length, in bytes. Shorter parts cost more requests; of a longer part more is lost when
    /// the download breaks off.
    static let shortest: Int64 = 256 << 10
    private static let longest: Int64 = 8 << 20

    /// The part that is asked for next; nil: each has been handed out.
    mutating func take() -> Segment? {
        if let segment = returned.popLast() {
            open.insert(segment.first)
            return segment
        }
        guard next < total else { return nil }
        let segment = Segment(first: next, last: min(next + length, total) - 1)
        open.insert(next)
        next = segment.last + 1
        return segment
    }

    /// More of a part has come.
    mutating func advance(_ segment: inout Segment, by count: Int) {
        open.remove(segment.first)
        segment.first += Int64(count)
        segment.failures = 0
        if !segment.isWhole { open.insert(segment.first) }
    }

    /// The rest of a part is for another connection.
    mutating func giveBack(_ segment: Segment) {
        guard !segment.isWhole else { return }
        open.remove(segment.first)
        returned.append(segment)
    }

    var isWhole: Bool { next >= total && returned.isEmpty && open.isEmpty }

    /// How much is there without a gap, in bytes from the start.
    var prefix: Int64 { (Array(open) + returned.map(\.first)).min() ?? next }
}
