/// The name of a unix socket: a path, or an abstract name that lives in no file system.
public struct UnixName: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes that fit into `sun_path` with its terminator.
    public static let maximumBytes = 107

    /// The bytes; a leading NUL marks an abstract name.
    let bytes: [UInt8]

    /// Whether it is a name in Linux's abstract namespace (unix(7)), which leaves no file behind.
    public var isAbstract: Bool { bytes.first == 0 }

    /// Nil if the path is empty, too long, or holds a NUL.
    public init?(path: String) {
        guard !path.utf8.contains(0) else { return nil }
        self.init(bytes: Array(path.utf8))
    }

    /// Makes an abstract name from `name` without the marker; nil if it is empty or too long.
    public init?(abstract name: String) {
        guard !name.isEmpty else { return nil }
        self.init(bytes: [0] + Array(name.utf8))
    }

    init?(bytes: [UInt8]) {
        guard (1...UnixName.maximumBytes).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// The path, for `unlink`; nil for an abstract name, which leaves nothing behind.
    public var path: String? { isAbstract ? nil : String(decoding: bytes, as: UTF8.self) }

    /// The path, or `@name` for an abstract one (as `ss` and systemd write it).
    public var description: String {
        isAbstract ? "@" + String(decoding: bytes.dropFirst(), as: UTF8.self) : String(decoding: bytes, as: UTF8.self)
    }
}
