import Glibc

/// Another program, run by the shell.
struct Command {
    let output: String
    let status: Int32

    static func run(_ line: String) -> Command {
        guard let pipe = popen(line, "r") else { return Command(output: "", status: -1) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = fread(&buffer, 1, buffer.count, pipe)
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        let status = pclose(pipe)
        return Command(output: String(decoding: bytes, as: UTF8.self), status: status >> 8 & 0xFF)
    }

    static func exists(_ tool: String) -> Bool { run("command -v \(tool) >/dev/null").status == 0 }

    /// The folder this test's products were built into: the tests' own file lies there, mapped into this process.
    static var products: String? {
        guard let maps = fopen("/proc/self/maps", "r") else { return nil }
        defer { fclose(maps) }
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), maps) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasSuffix(".xctest\n"), let start = text.firstIndex(of: "/"),
                let end = text.lastIndex(of: "/")
            else { continue }
            return String(text[start..<end])
        }
        return nil
    }
}
