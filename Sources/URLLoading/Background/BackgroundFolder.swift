internal import Foundation
internal import Glibc
internal import Synchronization

/// A background session's place on disk, held by one session at a time of all processes of this user.
///
/// Each record is a ``StoreFile``: whoever is killed leaves the old one or the new one. Blocks: not for a loop's thread.
final class BackgroundFolder: Sendable {
    enum Refusal: Error {
        /// Another session has it, of this process or of another.
        case inUse
        case unusable(StoreFile.Fault)
    }

    private static let suffix = ".task"
    /// What is not a record: what downloads leave for later ones.
    private static let keptSuffix = ".kept"
    /// Seconds: what nobody has gone on from in a week, nobody will (the limit of a resource, by default).
    private static let keptTime: Int64 = 604_800
    /// A record holds a request with its content, and an upload's answer.
    private static let mostOctets = 64 << 20
    /// Of the request alone: what is written must be read again, whatever is added to it.
    static let mostRequest = 32 << 20
    /// Of tasks: what lies beyond them has not been counted to.
    private static let numbers = 1...(1 << 48)

    let path: String
    /// Locked until it is closed; the kernel closes it for a process that is killed. Nil once it is.
    private let lock: Mutex<CInt?>

    /// - Parameter base: nil for the program's own folder under `$XDG_STATE_HOME`.
    init(for identifier: String, in base: String?) throws(Refusal) {
        path = "\(base ?? StoreDirectories.state)/background/\(BackgroundFolder.name(of: identifier))"
        do throws(StoreFile.Fault) {
            try StoreFile.makeDirectory(path)
        } catch {
            throw .unusable(error)
        }
        let descriptor = unsafe open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, mode_t(0o600))
        if descriptor < 0 { throw .unusable(StoreFile.Fault(code: errno)) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            throw code == EWOULDBLOCK ? .inUse : .unusable(StoreFile.Fault(code: code))
        }
        lock = Mutex(descriptor)
    }

    deinit { unlock() }

    /// Another session may have it; this one writes nothing more.
    func unlock() {
        let descriptor = lock.withLock { $0.take() }
        if let descriptor { close(descriptor) }
    }

    /// One folder below, whatever is in it: letters and digits are themselves.
    static func name(of identifier: String) -> String {
        let name = identifier.utf8.map { byte -> String in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                String(UnicodeScalar(byte))
            default: "_" + String(byte, radix: 16, uppercase: false)
            }
        }.joined()
        // NAME_MAX is 255. FNV-1a tells long ones apart.
        guard name.utf8.count > 200 else { return "id-" + name }
        let sum = identifier.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "id-" + name.prefix(180) + "__" + String(sum, radix: 16)
    }

    // MARK: Records

    /// By number; what cannot be read is no record of ours and is removed, with everything that belongs to none.
    func records() -> [BackgroundRecord] {
        var found: [BackgroundRecord] = []
        var strangers: [String] = []
        for name in StoreFile.names(in: path) where name != "lock" {
            guard name.hasSuffix(BackgroundFolder.suffix) else {
                strangers.append(name)
                continue
            }
            if let octets = try? StoreFile.read("\(path)/\(name)", limit: BackgroundFolder.mostOctets),
                let record = try? PropertyListDecoder().decode(BackgroundRecord.self, from: Data(octets)),
                record.version == BackgroundRecord.version, BackgroundFolder.numbers.contains(record.number),
                name == "\(record.number)\(BackgroundFolder.suffix)"
            {
                found.append(record)
            } else {
                strangers.append(name)
            }
        }
        let wanted = Set(
            found.flatMap { [$0.part?.path, $0.outcome?.path, $0.outcome?.contentPath] }.compactMap { $0 }
        )
        let now = Int64(Date().timeIntervalSince1970)
        for name in strangers where !wanted.contains("\(path)/\(name)") {
            let isKept = name.hasSuffix(BackgroundFolder.keptSuffix)
            let age = StoreFile.state("\(path)/\(name)").map { now - $0.seconds } ?? 0
            if !isKept || age > BackgroundFolder.keptTime { StoreFile.remove("\(path)/\(name)") }
        }
        return found.sorted { $0.number < $1.number }
    }

    func write(_ record: BackgroundRecord) throws(StoreFile.Fault) {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        guard let data = try? encoder.encode(record) else { throw StoreFile.Fault(code: EINVAL) }
        try StoreFile.replace(place(of: record.number), with: Array(data), isDurable: true)
    }

    func remove(_ number: Int) { StoreFile.remove(place(of: number)) }

    private func place(of number: Int) -> String { "\(path)/\(number)\(BackgroundFolder.suffix)" }

    /// For content, a download's or an answer's; never used before, so that no record can mean another's.
    func freshPart(of number: Int) -> String { "\(path)/\(number)-\(UUID().uuidString).part" }

    /// Puts what a download leaves for a later one where records do not count.
    func keep(_ part: String) -> String? {
        let kept = "\(path)/\(UUID().uuidString)\(BackgroundFolder.keptSuffix)"
        return unsafe rename(part, kept) == 0 ? kept : nil
    }

    /// This run of the machine, by the kernel.
    static let boot: String = {
        let octets = try? StoreFile.read("/proc/sys/kernel/random/boot_id", first: 36)
        return String(decoding: octets ?? [], as: UTF8.self)
    }()
}
