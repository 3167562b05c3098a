internal import CLinux
internal import Glibc
package import Reactor

/// Files by descriptor: the few calls that volley needs, each with the errors said in words.
package enum Files {
    /// A request's body is held in memory once; a body beyond this belongs in an upload test of another kind.
    package static let bodyLimit = 256 << 20

    /// What stands for standard input and output.
    package static let standard = "-"

    /// The whole of a file, or of standard input.
    package static func read(_ path: String, for flag: String, limit: Int = bodyLimit) throws(UsageError) -> [UInt8] {
        let descriptor = path == standard ? dup(STDIN_FILENO) : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw UsageError(
                "\(flag) \(quoted(path)) cannot be read: \(Errno(code: uncurl_errno())): name a readable file"
            )
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                let code = uncurl_errno()
                if code == EINTR { continue }
                throw UsageError("\(flag) \(quoted(path)) cannot be read: \(Errno(code: code)): name a readable file")
            }
            bytes += chunk[..<count]
            guard bytes.count <= limit else {
                throw UsageError("\(flag) \(quoted(path)) is larger than \(limit >> 20) MiB: use a smaller file")
            }
        }
    }

    /// A file to write a report to, opened before the run so that a bad path costs nobody ten minutes. Its old
    /// contents stay until ``replaceContents(of:with:)``.
    package static func openForWriting(_ path: String, for flag: String) throws(UsageError) -> CInt {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw UsageError(
                "\(flag) \(quoted(path)) cannot be written: \(Errno(code: uncurl_errno())): name a writable file"
            )
        }
        return descriptor
    }

    /// Devices and pipes refuse to be cut, and need not be.
    package static func replaceContents(of descriptor: CInt, with text: String) throws(Errno) {
        _ = ftruncate(descriptor, 0)
        try BlockingOutput.writeAll(text, to: descriptor)
    }

    /// The whole numbers in a file of `/proc`; empty where it cannot be read.
    package static func numbers(in path: String) -> [UInt64] {
        guard let bytes = try? read(path, for: "", limit: 1 << 16) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap { UInt64($0) }
    }
}
