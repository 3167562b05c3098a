internal import Dispatch
internal import Foundation
internal import Synchronization
internal import UncurlReactor

/// The records of one background session. Memory holds their current state. Changes are written to disk in their order.
/// Any thread.
final class BackgroundJournal: Sendable {
    let folder: BackgroundFolder
    private let records: Mutex<[Int: BackgroundRecord]>
    private static let nothing: Batch = ([], [], true, [])
    private let waiting = Mutex(nothing)
    private let queue = DispatchQueue(label: "URLLoading.BackgroundJournal")

    /// Changes that are not yet written.
    private typealias Batch = (
        numbers: Set<Int>, files: [String], isHint: Bool, calls: [@Sendable () -> Void]
    )

    init(_ folder: BackgroundFolder, _ found: [BackgroundRecord]) {
        self.folder = folder
        records = Mutex(Dictionary(found.map { ($0.number, $0) }) { _, last in last })
    }

    var all: [BackgroundRecord] { records.withLock { records in records.values.sorted { $0.number < $1.number } } }

    func record(_ number: Int) -> BackgroundRecord? { records.withLock { $0[number] } }

    /// Adds a record. Returns when it is written. A power failure may lose it until a change is on disk, which its
    /// task's first `resume()` is.
    func add(_ record: BackgroundRecord) throws(Errno) {
        records.withLock { $0[record.number] = record }
        let result = queue.sync {
            Result { () throws(Errno) in try folder.write([record], isDurable: false) }
        }
        if case .failure(let error) = result {
            records.withLock { $0[record.number] = nil }
            throw error
        }
    }

    /// Changes a record. All changes that wait are written together, with one wait for the disk.
    ///
    /// - Parameters:
    ///   - files: paths of content that must be on disk before the record is.
    ///   - isHint: whether the change may be lost in a power failure: the record is then the old one.
    ///   - waits: whether the call waits until the change is on disk. Not on a loop's thread.
    ///   - then: called on the journal's queue when the change is on disk, or when writing has failed.
    func change(
        _ number: Int,
        behind files: [String] = [],
        isHint: Bool = false,
        waits: Bool = false,
        then: (@Sendable () -> Void)? = nil,
        _ body: (inout BackgroundRecord) -> Void
    ) {
        records.withLock { records in
            guard var record = records[number] else { return }
            body(&record)
            records[number] = record
        }
        waiting.withLock { waiting in
            waiting.numbers.insert(number)
            waiting.files += files
            waiting.isHint = waiting.isHint && isHint
            if let then { waiting.calls.append(then) }
        }
        if waits { queue.sync { commit() } } else { queue.async { [self] in commit() } }
    }

    /// Writes the changes that wait. It finds none if an earlier call has written them.
    private func commit() {
        let batch = waiting.withLock { waiting in
            defer { waiting = Self.nothing }
            return waiting
        }
        guard !batch.numbers.isEmpty else { return }
        for path in batch.files { try? StoreFile.synchronize(path) }
        if let first = batch.files.first { StoreFile.synchronizeDirectory(of: first) }
        // The current records: of several changes this write has them all.
        try? folder.write(batch.numbers.sorted().compactMap(record), isDurable: !batch.isHint)
        for call in batch.calls { call() }
    }

    /// Removes a record, after all pending writes. It is in memory until then, so that ``close()`` finds it.
    ///
    /// - Parameter keepsPart: whether the file of the download under way stays.
    func remove(_ number: Int, keepsPart: Bool = false) {
        queue.async { [self] in
            guard let record = records.withLock({ $0.removeValue(forKey: number) }) else { return }
            folder.remove(number)
            if !keepsPart, let part = record.part?.path {
                // Another task may continue it from the same resume data.
                WritableFile.removeUnlessContinued(part)
                SumLedger.remove(beside: part)
            }
            if let path = record.outcome?.path { StoreFile.remove(path) }
            if let path = record.outcome?.contentPath { StoreFile.remove(path) }
        }
    }

    /// Releases the folder, after all pending writes. Returns when it is released. By then the ends of all tasks have
    /// been reported, so a record without an end is that of a task that was made too late for its session.
    func close() {
        queue.sync {
            for record in all where record.state != .finished { folder.remove(record.number) }
            folder.unlock()
        }
    }

    /// Runs `body` on the journal's queue, because the caller's thread must not block.
    func later(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}
