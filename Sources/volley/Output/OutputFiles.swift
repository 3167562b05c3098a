import CUncurlLinux
import Glibc
import UncurlLoad
import UncurlReactor

extension Files {
    /// Reads the whole file that a flag names, or standard input.
    static func read(_ path: String, for flag: String, limit: Int = bodyLimit) throws(UsageError) -> [UInt8] {
        do throws(FileProblem) { return try read(path, limit: limit) } catch { throw UsageError(error, for: flag) }
    }

    /// Opens a file for a report. Call it before the run, so that a bad path is an error at once. The old content stays
    /// until ``replaceContents(of:with:)``.
    static func openForWriting(_ path: String, for flag: String) throws(UsageError) -> CInt {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw UsageError(
                "\(flag) \(quoted(path)) cannot be written: \(Errno(code: uncurl_errno())): name a writable file"
            )
        }
        return descriptor
    }

    /// Appends a text to a file, which is created if necessary.
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

    /// Replaces the content of a file. Devices and pipes cannot be truncated, and need not be.
    static func replaceContents(of descriptor: CInt, with text: String) throws(Errno) {
        _ = ftruncate(descriptor, 0)
        // Otherwise the text would follow a hole as long as what was written before.
        _ = lseek(descriptor, 0, SEEK_SET)
        try BlockingOutput.writeAll(text, to: descriptor)
        try BlockingOutput.checkWrites(to: descriptor)
    }
}
