import LoadGenerator
import Reactor

/// A report whose file is open.
struct ReportFile {
    let format: ReportSink.Format
    private let descriptor: CInt
    private let isFile: Bool

    /// Opens the file before the run, so that a bad path is an error at once.
    init(_ sink: ReportSink) throws(UsageError) {
        format = sink.format
        isFile = sink.path != nil
        descriptor =
            try sink.path.map { path throws(UsageError) in try Files.openForWriting(path, for: sink.flag) }
            ?? BlockingOutput.standard
    }

    static func open(_ sinks: [ReportSink]) throws(UsageError) -> [ReportFile] {
        var files: [ReportFile] = []
        for sink in sinks { files.append(try ReportFile(sink)) }
        return files
    }

    /// Replaces the content of the file.
    func replace(with text: String) throws(UsageError) {
        do throws(Errno) {
            if isFile {
                try Files.replaceContents(of: descriptor, with: text)
            } else {
                try BlockingOutput.writeAll(text, to: descriptor)
            }
        } catch {
            throw UsageError("the \(format.rawValue) report cannot be written: \(error): make room for it")
        }
    }

    /// Writes the reports that are made at the end. Each is written even if another fails, because a run cannot be
    /// repeated for a full disk.
    ///
    /// - Parameter trouble: an error from an earlier report.
    static func write(
        _ files: [ReportFile],
        after trouble: UsageError? = nil,
        _ text: (ReportSink.Format) throws(UsageError) -> String
    ) throws(UsageError) {
        var troubles = [trouble].compactMap(\.self)
        for file in files where !file.format.isStream {
            do throws(UsageError) { try file.replace(with: text(file.format)) } catch { troubles.append(error) }
        }
        guard !troubles.isEmpty else { return }
        throw UsageError(troubles.map(\.description).joined(separator: "; "))
    }

    /// Appends to what was written before.
    func append(_ bytes: Span<UInt8>) throws(UsageError) {
        do throws(Errno) {
            try BlockingOutput.writeAll(bytes, to: descriptor)
        } catch {
            throw UsageError("the \(format.rawValue) report cannot be written: \(error): make room for it")
        }
    }

    func append(_ text: String) throws(UsageError) { try append(Array(text.utf8).span) }
}
