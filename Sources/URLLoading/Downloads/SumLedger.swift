internal import Reactor

/// The ``ContentSum`` of what a background download has written so far, in a small file beside the content: so much of
/// the content another process trusts. A note is one call that writes sixteen octets, which `kill -9` cannot cut; after
/// a crash of the machine nothing is trusted.
struct SumLedger {
    /// Octets between two notes: a note then costs a hundredth of the writing.
    private static let step: Int64 = 256 << 10
    /// Nanoseconds between two, for connections that are slower.
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

    /// What was noted last; nil for nothing. Blocks for the disk.
    static func read(beside content: String) -> ContentSum? {
        (try? StoreFile.read(path(beside: content), limit: ContentSum.encodedLength)).flatMap {
            ContentSum(encoded: $0)
        }
    }

    static func remove(beside content: String) { WritableFile.remove(path(beside: content)) }

    /// To be called after each write, with the sum of all that is in the file.
    mutating func note(_ sum: ContentSum, at now: Instant) {
        let isDue = sum.length - noted >= Self.step || now.nanoseconds(since: notedAt) >= Self.interval
        guard isDue, !isBroken else { return }
        (noted, notedAt) = (sum.length, now)
        do throws(Errno) {
            let file = try opened()
            try file.write(sum.encoded.span, at: 0)
        } catch {
            // An older note is true as well; one that was cut short does not match itself.
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
