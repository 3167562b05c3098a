internal import Foundation
internal import Synchronization
internal import UncurlLibC
internal import UncurlReactor
internal import UncurlText

/// The folder of a background session. At most one session of all processes of this user holds it at a time.
///
/// Each record is a ``StoreFile``: after a `kill`, either the old or the new version is there. After a crash of the
/// machine the ``RecordLog`` restores each record that a call has waited for. It blocks, so it must not be used on a
/// loop's thread.
final class BackgroundFolder: Sendable {
    private static let suffix = ".task"
    private static let partSuffix = ".part"
    /// The suffix of files that are not records: partial downloads for later tasks, and damaged records.
    private static let keptSuffix = StoreFile.keptSuffix
    /// The longest record: it has a request with its content, and an upload's answer.
    private static let mostOctets = 64 << 20
    /// The longest request. A record that is written must be readable later, whatever is added to it.
    static let mostRequest = 32 << 20
    /// The numbers of tasks. No session counts beyond them.
    private static let numbers = 1...(1 << 48)

    let path: String
    /// The log. Its descriptor holds the folder's lock, which the kernel releases when the process ends. Nil after
    /// ``unlock()``.
    private let log: Mutex<RecordLog?>

    /// Another session holds the folder, in this process or in another.
    static let inUse = Errno(code: EWOULDBLOCK)

    /// - Parameter base: the parent folder; nil for the program's own folder under `$XDG_STATE_HOME`.
    /// - Throws: ``inUse``, or why the folder cannot be used.
    init(for identifier: String, in base: String?) throws(Errno) {
        path = "\(StoreFile.background(in: base))/\(BackgroundFolder.name(of: identifier))"
        try StoreFile.makeDirectory(path)
        let descriptor = unsafe open(path + "/lock", O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, mode_t(0o600))
        if descriptor < 0 { throw Errno(code: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            throw Errno(code: code)
        }
        log = Mutex(RecordLog(descriptor))
    }

    deinit { unlock() }

    /// Releases the folder. Another session may then hold it, and this session neither writes nor removes a record.
    func unlock() {
        let log = log.withLock { $0.take() }
        if let log { StoreFile.unlock(log.descriptor) }
    }

    private var isHeld: Bool { log.withLock { $0 != nil } }

    /// The name of the folder for any identifier. Letters and digits stand for themselves.
    static func name(of identifier: String) -> String {
        let name = identifier.utf8.map { byte -> String in
            byte.isASCIIAlphanumeric || byte == UInt8(ascii: "-")
                ? String(UnicodeScalar(byte)) : "_" + String(byte, radix: 16)
        }.joined()
        // NAME_MAX is 255. An FNV-1a hash distinguishes long names.
        guard name.utf8.count > 200 else { return "id-" + name }
        let sum = identifier.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "id-" + name.prefix(180) + "__" + String(sum, radix: 16)
    }

    // MARK: Records

    /// The records, sorted by number, and the numbers of unreadable ones. These stay, with all files that may belong to
    /// them, until ``setAside(_:)``.
    typealias Contents = (records: [BackgroundRecord], damaged: [Int])

    /// The records of an earlier session. Files that belong to no record are removed.
    ///
    /// - Throws: if a record cannot be read now, for example for want of a descriptor. Nothing is removed then: the
    ///   records are there for the next session.
    func contents() throws(Errno) -> Contents {
        var found: Contents = ([], [])
        var others: [String] = []
        try restoreLost()
        for name in try StoreFile.names(in: path) where name != "lock" {
            guard let number = BackgroundFolder.number(ofRecord: name) else {
                others.append(name)
                continue
            }
            let limit = BackgroundFolder.mostOctets
            let read: BackgroundRecord? = try StoreFile.value("\(path)/\(name)", limit: limit, .backgroundTask)
            if let record = read, record.number == number {
                // Without its ledger, the part of a download would count for nothing.
                if let part = record.part { _ = try SumLedger.read(beside: part.path) }
                found.records.append(record)
            } else {
                found.damaged.append(number)
            }
        }
        found.records.sort { $0.number < $1.number }
        found.damaged.sort()
        remove(others, but: found)
        return found
    }

    /// The number in a record's file name; nil for another file.
    private static func number(ofRecord name: String) -> Int? {
        guard name.hasSuffix(suffix), let number = Int(name.dropLast(suffix.count)), numbers.contains(number),
            name == "\(number)\(suffix)"
        else { return nil }
        return number
    }

    private func remove(_ names: [String], but found: Contents) {
        let wanted = Set(
            found.records.flatMap { record in
                let part = record.part?.path
                return [part, part.map(SumLedger.path), record.outcome?.path, record.outcome?.contentPath]
            }
            .compactMap { $0 }
        )
        let now = Int64(Date().timeIntervalSince1970)
        for name in names where !wanted.contains("\(path)/\(name)") {
            if found.damaged.contains(where: { isPart(name, of: $0) }) { continue }
            let isKept = name.hasSuffix(BackgroundFolder.keptSuffix)
            let age = StoreFile.state("\(path)/\(name)").map { now - $0.seconds } ?? 0
            if !isKept || age > StoreFile.keptTime { StoreFile.remove("\(path)/\(name)") }
        }
    }

    /// Writes records. If one cannot be written, the others are written, and then the call throws.
    ///
    /// - Parameter isDurable: whether to wait until the disk has the records. Without the wait, a crash of the machine
    ///   may bring back the last records that a call has waited for.
    func write(_ records: [BackgroundRecord], isDurable: Bool) throws(Errno) {
        guard isHeld else { throw Errno(code: ENOLCK) }
        var written: [RecordLog.Change] = []
        var failure: Errno?
        for record in records {
            do throws(Errno) {
                guard let octets = record.encoded() else { throw Errno(code: EINVAL) }
                try StoreFile.replace(place(of: record.number), with: octets, isDurable: false)
                written.append((record.number, octets))
            } catch {
                failure = error
            }
        }
        if isDurable { try note(written, isDurable: true) }
        if let failure { throw failure }
    }

    private func note(_ changes: [RecordLog.Change], isDurable: Bool) throws(Errno) {
        let isFull = try log.withLock { log throws(Errno) in
            try log?.append(changes, isDurable: isDurable)
            return log?.isFull == true
        }
        // Without a descriptor to spare it goes on, and the next change tries again.
        if isFull { try? beginAnew() }
    }

    /// Waits until the disk has all records, and begins the log anew.
    private func beginAnew() throws(Errno) {
        for name in try StoreFile.names(in: path) where BackgroundFolder.number(ofRecord: name) != nil {
            // What is no file cannot be read either, and is told as damaged.
            do throws(Errno) { try StoreFile.synchronize("\(path)/\(name)") } catch  where StoreFile.isOfFile(error) {}
        }
        StoreFile.synchronizeDirectory(of: place(of: 0))
        try log.withLock { log throws(Errno) in try log?.beginAnew(boot: BackgroundFolder.boot) }
    }

    /// Writes the records that a crash of the machine may have lost.
    private func restoreLost() throws(Errno) {
        let written = try StoreFile.read(path + "/lock", limit: .max)
        guard let changes = RecordLog.changes(in: written, boot: BackgroundFolder.boot) else { return }
        for (number, octets) in changes {
            if let record = BackgroundRecord(octets), !isTold(record) {
                try StoreFile.replace(place(of: number), with: octets, isDurable: false)
            } else {
                StoreFile.remove(place(of: number))
            }
        }
        try beginAnew()
    }

    /// Whether the delegate has received the end of a download. The disk had the content before the record, so a
    /// missing file was given to the delegate.
    private func isTold(_ record: BackgroundRecord) -> Bool {
        guard let content = record.outcome?.path else { return false }
        return StoreFile.state(content) == nil
    }

    // MARK: Damage

    /// The path that ``setAside(_:)`` moves a record to.
    func asidePath(of number: Int) -> String { place(of: number) + BackgroundFolder.keptSuffix }

    /// Moves an unreadable record aside, with the content that may belong to it. Both stay for a week, so that a person
    /// can examine them.
    func setAside(_ number: Int) {
        var moves = [(place(of: number), asidePath(of: number))]
        for name in (try? StoreFile.names(in: path)) ?? [] where isPart(name, of: number) {
            moves.append(("\(path)/\(name)", "\(path)/\(name)\(BackgroundFolder.keptSuffix)"))
        }
        for (old, new) in moves where unsafe rename(old, new) == 0 { StoreFile.touch(new) }
        try? note([(number, [])], isDurable: false)
    }

    /// Whether a session of this folder has made the file, and so has written its ``SumLedger``.
    func isOwnPart(_ part: String, of number: Int) -> Bool {
        StoreFile.parent(of: part) == path && isPart(String(part.dropFirst(path.count + 1)), of: number)
    }

    private func isPart(_ name: String, of number: Int) -> Bool {
        name.hasPrefix("\(number)-") && name.hasSuffix(BackgroundFolder.partSuffix)
    }

    func remove(_ number: Int) {
        guard isHeld else { return }
        StoreFile.remove(place(of: number))
        // No call waits for this: after a crash of the machine, the delegate may receive the end once more.
        try? note([(number, [])], isDurable: false)
    }

    private func place(of number: Int) -> String { "\(path)/\(number)\(BackgroundFolder.suffix)" }

    /// A path for the content of a download or an answer. It has never been used, so no other record can refer to it.
    func freshPart(of number: Int) -> String {
        "\(path)/\(number)-\(UUID().uuidString)\(BackgroundFolder.partSuffix)"
    }

    /// Moves a partial download to a name that no record refers to, for a later download.
    func keep(_ part: String) -> String? {
        let kept = StoreFile.freshPath(in: path, suffix: BackgroundFolder.keptSuffix)
        return unsafe rename(part, kept) == 0 ? kept : nil
    }

    /// The kernel's identifier of this boot.
    static let boot: String = {
        let octets = try? StoreFile.read("/proc/sys/kernel/random/boot_id", first: 36)
        return String(decoding: octets ?? [], as: UTF8.self)
    }()
}

/// The changes of a folder's records since the disk had all of their files. The records that change together need one
/// wait for the disk, which is the log's. No call waits for the records' own files: a crash of the machine may lose
/// them, and then they are written anew from the log.
///
/// The log has the fields of a ``StoreRecord``: the boot, and for each change the record's number and its file, which
/// is empty for a record that was removed.
///
/// The log is the folder's lock file. A crash may cut off the end of it that no call has waited for.
struct RecordLog {
    typealias Change = (number: Int, record: [UInt8])

    /// A longer log begins anew. In octets.
    private static let most = 4 << 20

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
    mutating func append(_ changes: [Change], isDurable: Bool) throws(Errno) {
        var log = StoreRecord()
        for change in changes {
            _ = try log.row(change.number)
            _ = try log.row(change.record[...])
        }
        try append(log.octets)
        if isDurable, fdatasync(descriptor) != 0 { throw Errno(code: errno) }
    }

    /// Removes all changes. The disk must have the records' own files.
    mutating func beginAnew(boot: String) throws(Errno) {
        guard ftruncate(descriptor, 0) == 0 else { throw Errno(code: errno) }
        length = 0
        var log = StoreRecord()
        _ = try log.row(boot)
        try append(log.octets)
    }

    private mutating func append(_ octets: [UInt8]) throws(Errno) {
        do throws(Errno) {
            try BlockingOutput.writeAll(octets.span, to: descriptor)
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
        var log = StoreRecord(reading: log)
        if (try? log.row(nil as String?)) == boot { return nil }
        var changes: [Int: [UInt8]] = [:]
        while let number = try? log.row(nil as Int?), number > 0, let octets = try? log.row(nil as ArraySlice<UInt8>?) {
            let record = Array(octets)
            guard record.isEmpty || StoreRecord.isWhole(record, .backgroundTask) else { break }
            changes[number] = record
        }
        return changes
    }
}
