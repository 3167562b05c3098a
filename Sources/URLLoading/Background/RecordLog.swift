internal import Glibc

/// The changes of a folder's records since the disk had all of their files. The records that change together need one
/// wait for the disk, which is the log's. No call waits for the records' own files: a crash of the machine may lose
/// them, and then they are written anew from the log.
///
///     boot (36) · for each change: number (8) · length of the record, 0 for one that was removed (8) · record
///
/// The log is the folder's lock file. A crash may cut off the end of it that no call has waited for.
struct RecordLog {
    typealias Change = (number: Int, record: [UInt8])

    /// A longer log begins anew. In octets.
    private static let most = 4 << 20
    private static let bootLength = 36

    let descriptor: CInt
    private var length: Int

    /// - Parameter descriptor: of the log's file. What is written there is appended.
    init(_ descriptor: CInt) {
        self.descriptor = descriptor
        length = Int(lseek(descriptor, 0, SEEK_END))
    }

    /// Whether the log is to begin anew.
    var isFull: Bool { length > Self.most }

    /// - Parameter isDurable: whether to wait until the disk has the changes.
    mutating func append(_ changes: [Change], isDurable: Bool) throws(StoreFile.Fault) {
        var writer = OctetWriter()
        for change in changes {
            writer.put(Int64(change.number))
            writer.put(Int64(change.record.count))
            writer.append(change.record)
        }
        try append(writer.bytes)
        if isDurable, fdatasync(descriptor) != 0 { throw StoreFile.Fault(code: errno) }
    }

    /// Removes all changes. The disk must have the records' own files.
    mutating func beginAnew(boot: String) throws(StoreFile.Fault) {
        guard ftruncate(descriptor, 0) == 0 else { throw StoreFile.Fault(code: errno) }
        length = 0
        try append(Array(boot.utf8))
    }

    private mutating func append(_ octets: [UInt8]) throws(StoreFile.Fault) {
        do throws(StoreFile.Fault) {
            try StoreFile.write(octets, descriptor)
        } catch {
            // A reader stops at half a change.
            ftruncate(descriptor, off_t(length))
            throw error
        }
        length += octets.count
    }

    /// Returns the last change of each record. Nil if the machine has not crashed since: the records' own files have
    /// the changes then.
    static func changes(in log: [UInt8], boot: String) -> [Int: [UInt8]]? {
        if log.starts(with: boot.utf8) { return nil }
        var changes: [Int: [UInt8]] = [:]
        var reader = OctetReader(log.dropFirst(bootLength))
        while let number = try? reader.number(), let length = try? reader.number(), number > 0,
            let record = try? reader.octets(Int(clamping: length)),
            record.isEmpty || BackgroundRecord.seal.content(of: Array(record)) != nil
        {
            changes[Int(number)] = Array(record)
        }
        return changes
    }
}
