internal import Glibc

/// What was written to the records of a folder since all of them were on disk. It makes records durable with one write
/// and one wait for the disk, however many change together: their own files, for which nothing waits, may be lost in a
/// crash of the machine, and are then written anew from here.
///
///     boot (36) · for each change: number (8) · length of the record, 0 for one that was removed (8) · record
///
/// It is the folder's lock file. A crash may cut its end off, which no call has waited for.
struct RecordLog {
    typealias Change = (number: Int, record: [UInt8])

    /// The length from which it is begun anew, in octets.
    private static let most = 4 << 20
    private static let bootLength = 36

    let descriptor: CInt
    private var length = 0

    /// - Parameter descriptor: of the log's file, open for reading and writing.
    init(_ descriptor: CInt) {
        self.descriptor = descriptor
        length = Int(lseek(descriptor, 0, SEEK_END))
    }

    /// Whether to begin anew, once all records are on disk.
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

    /// Forgets all changes, which are on disk in the records' own files.
    mutating func beginAnew(boot: String) throws(StoreFile.Fault) {
        guard ftruncate(descriptor, 0) == 0 else { throw StoreFile.Fault(code: errno) }
        length = 0
        try append(Array(boot.utf8))
    }

    private mutating func append(_ octets: [UInt8]) throws(StoreFile.Fault) {
        lseek(descriptor, off_t(length), SEEK_SET)
        do throws(StoreFile.Fault) {
            try StoreFile.write(octets, descriptor)
        } catch {
            // Nothing behind half a change could be read.
            ftruncate(descriptor, off_t(length))
            throw error
        }
        length += octets.count
    }

    /// The last change of each record, as far as the disk has them; nil if they were made since the machine started, so
    /// that the records' own files have them too.
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
