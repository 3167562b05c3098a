internal import Dispatch
internal import Foundation
internal import Synchronization
internal import UncurlLibC
internal import UncurlText

/// The unfinished downloads in the temporary folder, and those that background sessions have left in theirs. A part
/// stays because resume data names it, or because its process was killed. A sweep removes the parts that have not been
/// resumed for a week. Complete downloads are in a folder of their process.
extension StoreFile {
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
    static func freshPath(in folder: String, suffix: String = StoreFile.suffix) -> String {
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
        let parent = StoreFile.background(in: state) + "/"
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
        return !number.isEmpty && number.allSatisfy { hexValue(of: $0) != nil }
    }

    // MARK: Complete downloads

    private static let folderSuffix = ".files"
    /// This process's folder for complete downloads, and its descriptor, which holds a lock as long as the process
    /// lives.
    private static let own = Mutex<(path: String, lock: CInt)?>(nil)

    /// Gives a complete download its name, in this process's folder. Returns its path. It stays there until the process
    /// ends; the next process that downloads something removes the folder. Where it cannot be moved there, it stays a
    /// part, under a name that no resume data has.
    package static func completed(_ path: String) -> String {
        let whole = newWhole()
        if unsafe rename(path, whole) == 0 { return whole }
        // A cleaner of temporary files may have removed the folder.
        let (again, part) = (newWhole(isChecked: true), freshPath(in: StoreFile.parent(of: path)))
        for other in [again, part] where unsafe rename(path, other) == 0 { return other }
        return path
    }

    /// Returns a path for a complete download, in this process's folder; in the temporary folder if there is none.
    ///
    /// - Parameter isChecked: whether the folder is made again if it is gone.
    package static func newWhole(isChecked: Bool = false) -> String {
        let folder = own.withLock { own in
            if isChecked, let gone = own, StoreFile.state(gone.path) == nil {
                close(gone.lock)
                own = nil
            }
            if own == nil { own = newFolder(in: NSTemporaryDirectory()) }
            return own?.path
        }
        return freshPath(in: folder ?? NSTemporaryDirectory(), suffix: ".tmp")
    }

    /// Makes a folder and locks it. Another process's sweep may find it before it is locked; then another is made.
    static func newFolder(in parent: String) -> (path: String, lock: CInt)? {
        for _ in 0..<4 {
            let path = freshPath(in: parent, suffix: folderSuffix)
            guard unsafe mkdir(path, 0o700) == 0, let lock = openedFolder(path) else { return nil }
            // A file system without locks has none for a sweep either.
            if flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK, StoreFile.state(path) != nil {
                return (path, lock)
            }
            close(lock)
        }
        return nil
    }

    private static func openedFolder(_ path: String) -> CInt? {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        return descriptor < 0 ? nil : descriptor
    }

    /// Removes the folder of a process of this user that has ended.
    private static func clear(_ folder: String) {
        guard let lock = openedFolder(folder) else { return }
        defer { StoreFile.unlock(lock) }
        var found = stat()
        guard unsafe fstat(lock, &found) == 0, found.st_uid == geteuid(), flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            return
        }
        try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: Sweeps

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

    /// Removes this user's parts to which nothing was added for a week, and the complete downloads of processes that
    /// have ended. Links are not followed.
    ///
    /// - Parameter now: in seconds since 1970.
    static func sweep(_ folder: String, at now: Int) {
        for name in (try? StoreFile.names(in: folder)) ?? [] where name.hasPrefix(prefix) {
            let path = folder + "/" + name
            if name.hasSuffix(folderSuffix) { clear(path) }
            guard name.hasSuffix(suffix) else { continue }
            var found = stat()
            guard unsafe lstat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG, found.st_uid == geteuid(),
                Int64(now - found.st_mtim.tv_sec) > StoreFile.keptTime
            else { continue }
            StoreFile.remove(path)
        }
    }
}
