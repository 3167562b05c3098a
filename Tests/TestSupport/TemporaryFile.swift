import Glibc

/// A file of a test's own, gone with it.
public final class TemporaryFile: Sendable {
    public let path: String

    public init(_ content: [UInt8] = []) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/uncurl-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        precondition(descriptor >= 0, "no temporary file can be made")
        close(descriptor)
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        append(content)
    }

    public func append(_ content: [UInt8]) {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        defer { close(descriptor) }
        var written = 0
        while written < content.count {
            written += content[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        }
    }

    /// What stands in it now.
    public var text: String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var (all, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65536))
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += buffer[..<count]
        }
    }

    public func truncate(to size: Int) { _ = Glibc.truncate(path, size) }

    /// Another file takes the name.
    public func replace(with content: [UInt8]) {
        let other = TemporaryFile(content)
        _ = rename(other.path, path)
    }

    public func remove() { _ = unlink(path) }

    deinit { remove() }
}
