internal import Foundation
internal import Glibc

/// Cookies on disk: JSON in one file that only its owner may read. Written as a new file and renamed over the old one, so
/// that whoever reads it, after whatever crash, finds the one or the other. Processes that share it take turns by a lock
/// on a file beside it. Blocks: not for a loop's thread.
struct CookieFile: Sendable {
    enum Failure: Error, Equatable {
        /// What was tried, and errno.
        case system(String, Int32)
        /// It is no cookie file, or only part of one.
        case corrupt
        /// Longer than any that is written here.
        case tooLong
        /// Another process holds the lock.
        case busy
    }

    /// By which a file that somebody else wrote is told from the one last seen.
    struct Identity: Equatable {
        let device: UInt64
        let number: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    private struct Content: Codable {
        var version = 1
        var cookies: [CookieJar.Entry]
    }

    /// Four times what a full jar of the largest cookies takes.
    private static let maximumSize = 64 << 20

    let path: String

    private var folder: String { URL(filePath: path).deletingLastPathComponent().path }
    private var temporaryPrefix: String { path + ".new-" }

    /// Nil where there is no file.
    func identity() -> Identity? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return Identity(status)
    }

    /// What the file holds and which file that was; nothing where there is none.
    func read() throws(Failure) -> (entries: [CookieJar.Entry], identity: Identity?) {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        if file < 0, errno == ENOENT { return ([], nil) }
        guard file >= 0 else { throw .system("open", errno) }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .system("fstat", errno) }
        guard status.st_size <= Self.maximumSize else { throw .tooLong }
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("read", errno) }
            guard count > 0 else { break }
            octets.append(contentsOf: buffer[..<count])
            guard octets.count <= Self.maximumSize else { throw .tooLong }
        }
        guard let content = try? JSONDecoder().decode(Content.self, from: Data(octets)), content.version == 1 else {
            throw .corrupt
        }
        return (content.cookies, Identity(status))
    }

    /// To be called with the lock held. Says which file it has become.
    func write(_ entries: [CookieJar.Entry]) throws(Failure) -> Identity? {
        guard let data = try? JSONEncoder().encode(Content(cookies: entries)) else { throw .corrupt }
        removeLeftovers()
        let temporary = "\(temporaryPrefix)\(getpid())"
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("open", errno) }
        do throws(Failure) {
            defer { close(file) }
            var rest = Array(data)[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw .system("write", errno) }
                rest = rest.dropFirst(count)
            }
            // Before the rename, or a crash of the machine could leave the new name on an empty file.
            guard fsync(file) == 0 else { throw .system("fsync", errno) }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        guard unsafe rename(temporary, path) == 0 else {
            let failure = Failure.system("rename", errno)
            unsafe unlink(temporary)
            throw failure
        }
        syncFolder()
        return identity()
    }

    /// Runs `body` while no other process does so with the same file. Waits at most so long.
    func locked<Value>(
        upTo limit: Duration,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if unsafe mkdir(folder, 0o700) != 0, errno != EEXIST {
            try? FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }
        let lock = unsafe open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw .system("open", errno) }
        // Closing gives the lock back, as the end of the process does.
        defer { close(lock) }
        let end = ContinuousClock.now + limit
        // `flock` knows no limit of its own, and a stopped process may hold the lock for ever.
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .system("flock", errno) }
            guard ContinuousClock.now < end else { throw .busy }
            usleep(2_000)
        }
        return try body()
    }

    /// What writers that were killed left behind: the lock is ours, so none is at work.
    private func removeLeftovers() {
        let prefix = URL(filePath: temporaryPrefix).lastPathComponent
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasPrefix(prefix) {
            unsafe unlink("\(folder)/\(name)")
        }
    }

    /// Makes the rename itself last. A file system that cannot is no reason to fail.
    private func syncFolder() {
        let file = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { return }
        fsync(file)
        close(file)
    }
}

extension CookieFile.Identity {
    fileprivate init(_ status: stat) {
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
