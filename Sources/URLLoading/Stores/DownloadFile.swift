internal import Foundation
internal import UncurlReactor

/// A download on disk, written while it comes, under a name of its own in the temporary folder. It is deleted if the
/// program does not take it. One thread at a time writes it.
final class DownloadFile: @unchecked Sendable {
    // `@unchecked`: its load writes it on the loop, then hands it over at the end.
    private(set) var url: URL
    private let source: URL?
    private var file: WritableFile?
    /// The number of bytes in the file.
    private(set) var written: Int64 = 0
    /// The expected number of bytes; -1 where it is unknown.
    var total: Int64 = -1
    private var isKept = false
    /// The sum of the file's content; nil where it is not needed.
    private(set) var sum: ContentSum?
    private var ledger: SumLedger?

    /// - Parameters:
    ///   - path: the path of a file that another process may resume, and whose ``sum`` is kept; nil for a name of its
    ///     own in the temporary folder.
    init(for source: URL?, at path: String? = nil) throws(URLError) {
        self.source = source
        url = URL(fileURLWithPath: path ?? StoreFile.newPart(in: NSTemporaryDirectory()))
        sum = path.map { _ in ContentSum() }
        do throws(Errno) {
            file = try WritableFile(creating: url.path)
        } catch {
            throw URLError(.cannotCreateFile, source, "the download's file", error)
        }
    }

    /// Continues after the bytes that an earlier download has written.
    init(_ resumption: ResumeData, total: Int64, for source: URL?) throws(Errno) {
        self.source = source
        self.total = total
        url = URL(fileURLWithPath: resumption.path)
        let offset = UInt64(clamping: resumption.received)
        file = try WritableFile(path: resumption.path, continuingAt: offset)
        // A part that is in use again is not an old one.
        StoreFile.touch(resumption.path)
        written = resumption.received
        if case .known(let sum) = resumption.sum { self.sum = sum }
    }

    /// A file that another process has written completely.
    init(whole path: String) {
        source = nil
        url = URL(fileURLWithPath: path)
    }

    /// Keeps the file for a later download, whatever the result of this one.
    func keep() { isKept = true }

    func write(_ bytes: Span<UInt8>) throws(URLError) {
        do throws(Errno) {
            try file?.write(bytes)
            written += Int64(bytes.count)
            sum?.add(bytes)
        } catch {
            throw URLError(.cannotWriteToFile, source, "the download's file: \(error)")
        }
    }

    /// Throws the error of an earlier write that the file system tells only now, at the end of the writing.
    func checkWrites() throws(URLError) {
        do throws(Errno) {
            try file?.checkWrites()
        } catch {
            throw URLError(.cannotWriteToFile, source, "the download's file: \(error)")
        }
    }

    /// From now on the sum is recorded, so that a later process can trust all but the last bytes of the file.
    func beginLedger(at now: Instant) { ledger = SumLedger(beside: url.path, from: written, at: now) }

    /// Call this after each write of a file with a ledger.
    func note(at now: Instant) { if let sum { ledger?.note(sum, at: now) } }

    /// Ends the writing. A complete file gets a name that is in no resume data, so that no other task continues it
    /// (``StoreFile/completed(_:)``).
    /// Where the ``sum`` is kept, a record has the name already.
    ///
    /// - Parameter keeping: whether the content is complete, for the program; otherwise the file is deleted, unless it
    ///   is kept for a later download.
    func finish(keeping: Bool) {
        // It is renamed while it is open, since it is locked until then.
        if keeping, sum == nil, file != nil { url = URL(fileURLWithPath: StoreFile.completed(url.path)) }
        file = nil
        if !keeping, !isKept { remove() }
    }

    /// Removes the file, unless it has been moved.
    func remove() {
        WritableFile.remove(url.path)
        if ledger != nil { SumLedger.remove(beside: url.path) }
    }
}

/// The ``ContentSum`` of what a background download has written so far, in a small file beside the content. Another
/// process trusts only that much of the content. A note is one call that writes a few octets, which `kill -9` cannot
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
    static func read(beside content: String) throws(Errno) -> ContentSum? {
        try StoreFile.value(path(beside: content), limit: ContentSum.fileLength, .sum)
    }

    static func remove(beside content: String) { WritableFile.remove(path(beside: content)) }

    /// Call this after each write, with the sum of the whole file.
    mutating func note(_ sum: ContentSum, at now: Instant) {
        let isDue = sum.length - noted >= Self.step || now.nanoseconds(since: notedAt) >= Self.interval
        guard isDue, !isBroken else { return }
        (noted, notedAt) = (sum.length, now)
        do throws(Errno) {
            let file = try opened()
            if let note = StoreRecord.file(.sum, of: sum) { try file.write(note.span, at: 0) }
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
