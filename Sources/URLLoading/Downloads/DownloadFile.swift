internal import Foundation
internal import Reactor

/// A download on disk, written as it comes, under a name of its own in the temporary folder. It is deleted if nothing
/// takes it. Written on one thread at a time.
final class DownloadFile: @unchecked Sendable {
    // `@unchecked`: written by its load on the loop, then handed over with the end.
    let url: URL
    private let source: URL?
    private var file: WritableFile?
    /// What is in the file, from its beginning.
    private(set) var written: Int64 = 0
    /// What will be in it; -1 where it is not known.
    var total: Int64 = -1
    private var isKept = false
    /// Of what is in the file; nil where it will not be asked for.
    private(set) var sum: ContentSum?
    private var ledger: SumLedger?

    /// - Parameters:
    ///   - path: for a file that another process may go on with, whose ``sum`` is kept; nil for a name of its own in
    ///     the temporary folder.
    ///   - makeRoom: called once where no descriptor is left; returns whether there is one now.
    init(for source: URL?, at path: String? = nil, makingRoom makeRoom: () -> Bool = { false }) throws(URLError) {
        self.source = source
        // No UUID: Foundation reads /dev/urandom for one, and where no descriptor is left all of them are the same.
        let number = UInt128.random(in: 0 ... .max)
        let name = "URLLoading_\(String(number, radix: 16)).tmp"
        let usual = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(name)
        url = path.map { URL(fileURLWithPath: $0) } ?? usual
        sum = path.map { _ in ContentSum() }
        do throws(Errno) {
            do throws(Errno) {
                file = try WritableFile(creating: url.path)
            } catch {
                guard error.isResourceExhaustion, makeRoom() else { throw error }
                file = try WritableFile(creating: url.path)
            }
        } catch {
            throw ErrorTranslation.urlError(.cannotCreateFile, source, "the download's file: \(error)")
        }
    }

    /// Goes on behind what an earlier download has written.
    init(_ resumption: ResumeData, total: Int64, for source: URL?) throws(Errno) {
        self.source = source
        self.total = total
        url = URL(fileURLWithPath: resumption.path)
        file = try WritableFile(path: resumption.path, continuingAt: UInt64(clamping: resumption.received))
        written = resumption.received
        if case .known(let sum) = resumption.sum { self.sum = sum }
    }

    /// One that another process has written to its end.
    init(whole path: String) {
        source = nil
        url = URL(fileURLWithPath: path)
    }

    /// It stays, whatever becomes of this download: a later one goes on with it.
    func keep() { isKept = true }

    func write(_ bytes: Span<UInt8>) throws(URLError) {
        do throws(Errno) {
            try file?.write(bytes)
            written += Int64(bytes.count)
            sum?.add(bytes)
        } catch {
            throw ErrorTranslation.urlError(.cannotWriteToFile, source, "the download's file: \(error)")
        }
    }

    /// From here on a later process can know what is in the file, but for the last of it.
    func beginLedger(at now: Instant) { ledger = SumLedger(beside: url.path, from: written, at: now) }

    /// To be called after each write of a file with a ledger.
    func note(at now: Instant) { if let sum { ledger?.note(sum, at: now) } }

    func finish(keeping: Bool) {
        file = nil
        if !keeping, !isKept { remove() }
    }

    /// Unless it has been moved.
    func remove() {
        WritableFile.remove(url.path)
        if ledger != nil { SumLedger.remove(beside: url.path) }
    }
}
