internal import UncurlLibC

/// Why a file could not be read.
package struct FileFault: Error, Hashable {
    package let code: CInt
    package var text: String { code == EFBIG ? "the file is too large" : unsafe String(cString: strerror(code)) }

    /// Whether the fault may pass, and says nothing about the file: a lack of descriptors or memory, a faulty disk.
    var mayPass: Bool {
        switch code {
        case EMFILE, ENFILE, ENOMEM, EIO, ESTALE: true
        default: false
        }
    }
}

/// The largest size that is read. The largest bundle in use is under half a megabyte, the largest revocation lists
/// have some ten megabytes.
package let fileLimit = 64 << 20

/// Reads a small file as a whole. It blocks.
package func readFile(_ path: String, limit: Int = fileLimit) throws(FileFault) -> [UInt8] {
    // C would take the part before the NUL for the name.
    guard !path.utf8.contains(0) else { throw FileFault(code: EINVAL) }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { throw FileFault(code: errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = unsafe read(descriptor, &part, part.count)
        if count == 0 { return bytes }
        if count < 0 {
            if errno == EINTR { continue }
            throw FileFault(code: errno)
        }
        bytes += part[..<count]
        if bytes.count > limit { throw FileFault(code: EFBIG) }
    }
}

/// Reads a file that the program named.
func readNamedFile(_ path: String) throws(CertificateError) -> [UInt8] {
    do throws(FileFault) { return try readFile(path) } catch {
        throw .unreadable(path: path, reason: error.text)
    }
}

/// Returns values that differ between two states of a file or directory. Nil if it does not exist.
func fileState(_ path: String) -> [Int]? {
    var found = stat()
    guard unsafe stat(path, &found) == 0 else { return nil }
    let file = [Int(truncatingIfNeeded: found.st_dev), Int(truncatingIfNeeded: found.st_ino)]
    return file + [found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec]
}

/// Returns the names in a directory, sorted.
package func fileNames(in path: String) throws(FileFault) -> [String] {
    guard let directory = unsafe opendir(path) else { throw FileFault(code: errno) }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while true {
        // Only errno tells an error from the end.
        errno = 0
        guard let entry = unsafe readdir(directory) else { break }
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
    }
    if errno != 0 { throw FileFault(code: errno) }
    return names.sorted()
}
