import CLinux
import Glibc
import LoadGenerator
import Reactor

extension Files {
    /// The whole of the file that a flag names, or of standard input.
    static func read(_ path: String, for flag: String, limit: Int = bodyLimit) throws(UsageError) -> [UInt8] {
        do throws(FileProblem) { return try read(path, limit: limit) } catch { throw UsageError(error, for: flag) }
    }

    /// A file to write a report to, opened before the run so that a bad path costs nobody ten minutes. Its old
    /// contents stay until ``replaceContents(of:with:)``.
    static func openForWriting(_ path: String, for flag: String) throws(UsageError) -> CInt {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw UsageError(
                "\(flag) \(quoted(path)) cannot be written: \(Errno(code: uncurl_errno())): name a writable file"
            )
        }
        return descriptor
    }

    /// Adds to what a file holds; what is not there is made.
    static func append(_ text: String, to path: String, for name: String) throws(UsageError) {
        let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw UsageError("\(name) \(quoted(path)) cannot be written: \(Errno(code: uncurl_errno()))")
        }
        defer { close(descriptor) }
        do throws(Errno) {
            try BlockingOutput.writeAll(text, to: descriptor)
        } catch {
            throw UsageError("\(name) \(quoted(path)) cannot be written: \(error)")
        }
    }

    /// Devices and pipes refuse to be cut, and need not be.
    static func replaceContents(of descriptor: CInt, with text: String) throws(Errno) {
        _ = ftruncate(descriptor, 0)
        try BlockingOutput.writeAll(text, to: descriptor)
    }
}
