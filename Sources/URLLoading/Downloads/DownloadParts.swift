internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization
internal import TextCoding

/// The unfinished downloads in the temporary folder, and those that background sessions have left in theirs. Their names differ from those of complete ones, which belong to
/// the program. A part
/// stays because resume data names it, or because its process was killed. A sweep removes the parts that have not been
/// resumed for a week.
package enum DownloadParts {
    private static let prefix = "URLLoading_"
    private static let suffix = ".part"
    /// The suffix in the folder of a background session.
    static let keptSuffix = ".kept"
    /// Between two sweeps of one process.
    private static let interval = Duration.seconds(3600)
    private static let lastSweep = Mutex<ContinuousClock.Instant?>(nil)

    /// Returns a path for a new part, and sweeps the folder if that is due.
    package static func newPart(in folder: String) -> String {
        sweepIfDue(folder)
        return freshPath(in: folder)
    }

    /// A path that has never been used, by default for a part.
    static func freshPath(in folder: String, suffix: String = DownloadParts.suffix) -> String {
        // Not a UUID: Foundation reads /dev/urandom for it, and without a free descriptor all UUIDs are equal.
        let number = UInt128.random(in: 0 ... .max)
        return withSlash(folder) + prefix + String(number, radix: 16) + suffix
    }

    private static func withSlash(_ folder: String) -> String { folder.hasSuffix("/") ? folder : folder + "/" }

    /// Whether ``freshPath(in:suffix:)`` has made a path, for a part in the temporary folder or one that a background
    /// session has left. Equal strings may differ in their octets, and then name other files.
    ///
    /// - Parameter state: the state directory of background sessions; nil for the program's own.
    static func isPart(_ path: String, of state: String?) -> Bool {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return false }
        let (folder, name) = (path.utf8[...slash], path.utf8[slash...].dropFirst())
        if folder.elementsEqual(withSlash(NSTemporaryDirectory()).utf8) { return isName(name, suffix) }
        let parent = StoreDirectories.background(in: state) + "/"
        // The name of a session's folder.
        let session = folder.dropFirst(parent.utf8.count).dropLast()
        return folder.starts(with: parent.utf8) && session.starts(with: "id-".utf8)
            && !session.contains(UInt8(ascii: "/")) && isName(name, keptSuffix)
    }

    private static func isName(_ name: Substring.UTF8View, _ suffix: String) -> Bool {
        guard name.starts(with: prefix.utf8), name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) else {
            return false
        }
        let number = name.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
        return !number.isEmpty && number.allSatisfy { Hex.value(of: $0) != nil }
    }

    /// Gives a complete download the name of one, in the same folder. Returns its path.
    static func completed(_ path: String) -> String {
        let whole = freshPath(in: StoreFile.parent(of: path), suffix: ".tmp")
        return unsafe rename(path, whole) == 0 ? whole : path
    }

    /// Sweeps a folder, away from the caller's thread, unless that was done within the last hour.
    private static func sweepIfDue(_ folder: String) {
        guard noteSweep(at: .now, after: lastSweep) else { return }
        DispatchQueue.global(qos: .utility).async { sweep(folder, at: Int(Date().timeIntervalSince1970)) }
    }

    /// Notes a sweep, if one is due. Returns whether it is.
    static func noteSweep(
        at now: ContinuousClock.Instant,
        after last: borrowing Mutex<ContinuousClock.Instant?>
    ) -> Bool {
        last.withLock { last in
            if let last, now - last < interval { return false }
            last = now
            return true
        }
    }

    /// Removes this user's parts to which nothing was added for a week. Links are not followed.
    ///
    /// - Parameter now: in seconds since 1970.
    static func sweep(_ folder: String, at now: Int) {
        for name in (try? StoreFile.names(in: folder)) ?? [] where name.hasPrefix(prefix) && name.hasSuffix(suffix) {
            let path = folder + "/" + name
            var found = stat()
            guard unsafe lstat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG, found.st_uid == geteuid(),
                Int64(now - found.st_mtim.tv_sec) > StoreFile.keptTime
            else { continue }
            StoreFile.remove(path)
        }
    }
}
