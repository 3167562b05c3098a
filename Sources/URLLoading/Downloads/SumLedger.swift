internal import UncurlReactor

/// The ``ContentSum`` of what a background download has written so far, in a small file beside the content. Another
/// process trusts only that much of the content. A note is one call that writes sixteen octets, which `kill -9` cannot
/// split. After a crash of the machine nothing is trusted.
struct SumLedger {
    /// Octets between two notes. A note then costs a hundredth of the writing.
    private static let step: Int64 = 256 << 10
    /// Nanoseconds between two notes on slower connections.
    private static let interval: Int64 = 1_000_000_000

    private let path: String
    private var file: WritableFile?
    private var isBroken = false
    private var noted: Int64
    private var notedAt: Instant

    /// - Parameter content: the path of the content's file.
    init(beside content: String, from length: Int64, at now: Instant) {
        path = SumLedger.path(beside: content)
        noted = length
        notedAt = now
    }

    static func path(beside content: String) -> String { content + ".sum" }

    /// Returns the last note; nil where there is none. Throws if it cannot be read now. Blocks on the disk.
    static func read(beside content: String) throws(StoreFile.Fault) -> ContentSum? {
        do throws(StoreFile.Fault) {
            return ContentSum(encoded: try StoreFile.read(path(beside: content), limit: ContentSum.encodedLength))
        } catch  where error.isOfFile {
            return nil
        }
    }

    static func remove(beside content: String) { WritableFile.remove(path(beside: content)) }

    /// Call this after each write, with the sum of the whole file.
    mutating func note(_ sum: ContentSum, at now: Instant) {
        let isDue = sum.length - noted >= Self.step || now.nanoseconds(since: notedAt) >= Self.interval
        guard isDue, !isBroken else { return }
        (noted, notedAt) = (sum.length, now)
        do throws(Errno) {
            let file = try opened()
            try file.write(sum.encoded.span, at: 0)
        } catch {
            // An older note is still true, and an incomplete one does not match its own check.
            isBroken = true
        }
    }

    private mutating func opened() throws(Errno) -> WritableFile {
        if let file { return file }
        WritableFile.remove(path)
        let made = try WritableFile(creating: path)
        file = made
        return made
    }
}
