internal import URLLoading
internal import UncurlLibC
internal import UncurlReactor

/// Decides which part of a download is requested next. Parts are handed out in order, from the content's start. So when
/// the download breaks off, only the parts under way leave gaps. A later download resumes after the bytes before the
/// first gap.
struct SegmentPlan: Sendable {
    /// A part of the content that one connection requests. Offsets are in bytes from the content's start.
    struct Segment: Sendable {
        /// The first byte that has not come yet.
        var first: Int64
        let last: Int64
        /// The number of requests in a row that brought no byte of the part.
        var failures = 0

        var isWhole: Bool { first > last }
        var range: String { "bytes=\(first)-\(last)" }
    }

    /// The download fails after this many requests in a row that brought no byte of a part.
    static let mostFailures = 3

    /// The length of the whole content, in bytes.
    let total: Int64
    private let length: Int64
    private var next: Int64
    private var returned: [Segment] = []
    /// The first missing byte of each part that is under way.
    private var open: Set<Int64> = []

    /// - Parameters:
    ///   - total: the length of the whole content, in bytes.
    ///   - first: the part that is under way already: its answer named the total length.
    ///   - segments: the number of parts that are requested at once.
    init(total: Int64, first: Segment, segments: Int) {
        self.total = total
        // Four parts per connection, so that the others do not wait long for a slow one at the end.
        let share = total / Int64(max(1, segments) * 4) + 1
        length = min(max(share, Self.shortest), Self.longest)
        next = first.last + 1
        open = [first.first]
    }

    /// The bounds of a part's length, in bytes. Shorter parts cost more requests; of a longer part more is lost when
    /// the download breaks off.
    static let shortest: Int64 = 256 << 10
    private static let longest: Int64 = 8 << 20

    /// The part that is requested next; nil when every part has been handed out.
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

    /// Records that more bytes of a part have come.
    mutating func advance(_ segment: inout Segment, by count: Int) {
        open.remove(segment.first)
        segment.first += Int64(count)
        segment.failures = 0
        if !segment.isWhole { open.insert(segment.first) }
    }

    /// Returns the rest of a part, for another connection.
    mutating func giveBack(_ segment: Segment) {
        guard !segment.isWhole else { return }
        open.remove(segment.first)
        returned.append(segment)
    }

    var isWhole: Bool { next >= total && returned.isEmpty && open.isEmpty }

    /// The bytes that have come without a gap, from the content's start.
    var prefix: Int64 { (Array(open) + returned.map(\.first)).min() ?? next }
}

/// The file of a download that comes in several parts at once. Any thread may write to it. If its process is killed, it
/// stays in the temporary folder for a week, as a part of any other download does.
final class SegmentFile: Sendable {
    let url: URL
    private let descriptor: CInt

    init() throws(UncurlError) {
        url = URL(fileURLWithPath: StoreFile.newPart(in: NSTemporaryDirectory()))
        descriptor = unsafe open(url.path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw Self.failure(url, errno) }
    }

    deinit { close(descriptor) }

    func write(_ data: Data, at place: Int64) throws(UncurlError) {
        var written = 0
        while written < data.count {
            let count = unsafe data.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
                return unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(place) + written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure(url, count < 0 ? errno : EIO) }
            written += count
        }
    }

    /// Throws the error of an earlier write that the file system tells only now, at the end of the writing. The file is
    /// removed then: nothing tells which part of it is missing.
    func checkWrites() throws(UncurlError) {
        do throws(Errno) {
            try BlockingOutput.checkWrites(to: descriptor)
        } catch {
            remove()
            throw Self.failure(url, error.code)
        }
    }

    /// The length in bytes; -1 where it cannot be read.
    var length: Int64 {
        var facts = stat()
        return unsafe fstat(descriptor, &facts) == 0 ? Int64(facts.st_size) : -1
    }

    /// - Returns: false if the file could not be cut; it is then unchanged.
    func cut(to length: Int64) -> Bool { ftruncate(descriptor, off_t(length)) == 0 }

    func remove() { try? FileManager.default.removeItem(at: url) }

    private static func failure(_ url: URL, _ code: CInt) -> UncurlError {
        let cause = POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        let words = "The download could not be written to \(url.path): \(cause.localizedDescription)"
        let facts: [String: Any] = [NSLocalizedDescriptionKey: words, NSUnderlyingErrorKey: cause as NSError]
        return .transport(URLError(.cannotWriteToFile, userInfo: facts))
    }
}
