import CUncurlLinux
import UncurlLibC
import UncurlLoad
import UncurlLoadReports
import UncurlReactor

struct ReportFile {
    let format: ReportSink.Format
    private let descriptor: CInt
    private let isFile: Bool

    /// Opens the file before the run, so that a bad path is an error at once.
    init(_ sink: ReportSink) throws(UsageError) {
        format = sink.format
        isFile = sink.path != nil
        descriptor =
            try sink.path.map { path throws(UsageError) in try openForWriting(path, for: sink.flag) }
            ?? BlockingOutput.standard
    }

    /// How a report for people looks here. A file has no terminal's look, whatever it is.
    var style: TextStyle { isFile ? .plain : Terminal(descriptor: descriptor).style }

    static func open(_ sinks: [ReportSink]) throws(UsageError) -> [ReportFile] {
        var files: [ReportFile] = []
        for sink in sinks { files.append(try ReportFile(sink)) }
        return files
    }

    func replace(with text: String) throws(Errno) {
        if isFile {
            try replaceContents(of: descriptor, with: text)
        } else {
            try BlockingOutput.writeAll(text, to: descriptor)
        }
    }

    func problem(_ error: Errno) -> UsageError {
        let advice =
            switch error.code {
            case EPIPE: "what read it has ended"
            case EBADF: "open standard output"
            default: "make room for it"
            }
        return UsageError("the \(format.rawValue) report cannot be written: \(error): \(advice)")
    }

    /// Writes the reports that are made at the end. Each is written even if another fails, because only another run
    /// could replace a lost report.
    static func write(
        _ files: [ReportFile],
        after trouble: UsageError? = nil,
        _ text: (ReportFile) throws(UsageError) -> String
    ) throws(UsageError) {
        var troubles = [trouble?.description].compactMap(\.self)
        for file in files where !file.format.isStream {
            do throws(UsageError) {
                let text = try text(file)
                do throws(Errno) { try file.replace(with: text) } catch { throw file.problem(error) }
            } catch {
                troubles.append("\(error)")
            }
        }
        guard !troubles.isEmpty else { return }
        throw UsageError(troubles.joined(separator: "; "))
    }

    func append(_ bytes: Span<UInt8>) throws(Errno) { try BlockingOutput.writeAll(bytes, to: descriptor) }
}

/// Reads the whole file that a flag names, or standard input.
func readFile(_ path: String, for flag: String, limit: Int = largestFile) throws(UsageError) -> [UInt8] {
    do throws(UsageError) {
        return try readFile(path, limit: limit)
    } catch {
        throw UsageError("\(flag) \(error)")
    }
}

/// Opens a file for a report. Call it before the run, so that a bad path is an error at once. The old content stays
/// until ``replaceContents(of:with:)``.
func openForWriting(_ path: String, for flag: String) throws(UsageError) -> CInt {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    try need(
        descriptor >= 0,
        "\(flag) \(quoted(path)) cannot be written: \(Errno(code: uncurl_errno())): name a writable file"
    )
    return descriptor
}

func appendToFile(_ text: String, to path: String, for name: String) throws(UsageError) {
    let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    try need(descriptor >= 0, "\(name) \(quoted(path)) cannot be written: \(Errno(code: uncurl_errno()))")
    defer { close(descriptor) }
    try orUsage(errno: try BlockingOutput.writeAll(text, to: descriptor)) {
        "\(name) \(quoted(path)) cannot be written: \($0)"
    }
}

/// Replaces the content of a file. Devices and pipes cannot be truncated, and need not be.
func replaceContents(of descriptor: CInt, with text: String) throws(Errno) {
    _ = ftruncate(descriptor, 0)
    // Otherwise the text would follow a hole as long as what was written before.
    _ = lseek(descriptor, 0, SEEK_SET)
    try BlockingOutput.writeAll(text, to: descriptor)
    try BlockingOutput.checkWrites(to: descriptor)
}
