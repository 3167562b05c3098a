internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization

/// The unfinished downloads in the temporary folder. Their names differ from those of complete ones, which belong to
/// the program. A part stays because resume data names it, or because its process was killed. A sweep removes the parts
/// that have not been resumed for a week.
package enum DownloadParts {
    private static let prefix = "URLLoading_"
    private static let suffix = ".part"
    /// Between two sweeps of one process.
    private static let interval = Duration.seconds(3600)
    private static let lastSweep = Mutex<ContinuousClock.Instant?>(nil)

    /// Returns a path for a new part, and sweeps the folder if that is due.
    package static func newPart(in folder: String) -> String {
        sweepIfDue(folder)
        return freshPath(in: folder)
    }

    /// A path that has never been used, by default for a part.
    private static func freshPath(in folder: String, suffix: String = DownloadParts.suffix) -> String {
        // Not a UUID: Foundation reads /dev/urandom for it, and without a free descriptor all UUIDs are equal.
        let number = UInt128.random(in: 0 ... .max)
        return folder + (folder.hasSuffix("/") ? "" : "/") + prefix + String(number, radix: 16) + suffix
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
