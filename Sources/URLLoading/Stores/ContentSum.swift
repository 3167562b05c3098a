internal import CUncurlZlib
internal import UncurlLibC
internal import UncurlReactor

/// The length of what has been written of a file, and its CRC-32 (RFC 1952 §8). By this sum another process recognises
/// that the file was not changed since. It does not protect against a deliberate change.
struct ContentSum: Hashable, Sendable {
    /// In octets.
    private(set) var length: Int64 = 0
    private(set) var checksum: UInt32 = 0
}

extension ContentSum {
    init(of octets: Span<UInt8>) {
        self.init()
        add(octets)
    }

    mutating func add(_ bytes: Span<UInt8>) {
        // If it is given no octets, zlib starts a new checksum.
        guard !bytes.isEmpty else { return }
        length += Int64(bytes.count)
        checksum = UInt32(
            truncatingIfNeeded: unsafe bytes.withUnsafeBytes { buffer in
                unsafe crc32_z(uLong(checksum), buffer.bindMemory(to: UInt8.self).baseAddress, buffer.count)
            }
        )
    }

    /// Sums a file's first octets. Nil if there are fewer. Throws if they cannot be read. Blocks for the disk.
    init?(ofFirst length: Int64, in path: String) throws(Errno) {
        var sums = try Self.sums(ofFirst: [length], in: path)
        guard let sum = sums.popLast() else { return nil }
        self = sum
    }

    /// Returns the sums for several lengths, in ascending order, with one reading; empty if the file is gone, shorter,
    /// or not a regular file.
    static func sums(ofFirst lengths: [Int64], in path: String) throws(Errno) -> [ContentSum] {
        guard let file = try open(path) else { return [] }
        return try sums(ofFirst: lengths, of: file)
    }

    /// Opens a file and verifies that this is the sum of all its content. Nil if the file is gone or has changed.
    /// Throws if it cannot be read. Blocks for the disk.
    func opened(_ path: String) throws(Errno) -> OpenFile? {
        guard let file = try Self.open(path), file.status.size == length,
            try Self.sums(ofFirst: [length], of: file) == [self]
        else { return nil }
        return file
    }

    private static func open(_ path: String) throws(Errno) -> OpenFile? {
        do throws(OpenFile.Problem) {
            return try OpenFile(path: path)
        } catch {
            guard case .system(let error) = error, !error.isOfPart else { return nil }
            throw error
        }
    }

    private static func sums(ofFirst lengths: [Int64], of file: OpenFile) throws(Errno) -> [ContentSum] {
        var sum = ContentSum()
        var sums: [ContentSum] = []
        for length in lengths {
            while sum.length < length {
                let wanted = min(Self.pieceSize, length - sum.length)
                let piece = try file.read(at: UInt64(sum.length), atMost: Int(wanted))
                if piece.isEmpty { return [] }
                sum.add(piece.span)
            }
            sums.append(sum)
        }
        return sums
    }

    private static let pieceSize: Int64 = 1 << 20
}

extension ContentSum: Kept {
    /// The length of the file of a sum.
    static let fileLength = StoreRecord.headerLength + 2 * StoreRecord.numberLength

    static func keep(_ sum: ContentSum?, in record: inout StoreRecord) throws(Errno) -> ContentSum {
        let sum = ContentSum(length: try record.row(sum?.length), checksum: try record.row(sum?.checksum))
        guard sum.length >= 0 else { throw StoreFile.damage }
        return sum
    }
}

extension Errno {
    /// Whether opening the file of a download to resume fails because of the file: it is gone, has another kind or a
    /// smaller length, or another task continues it. Other errors say nothing about the file and may pass.
    var isOfPart: Bool {
        switch self {
        case .noSuchFile, .invalidArgument, .wouldBlock: true
        case Errno(code: ELOOP), Errno(code: EISDIR), Errno(code: ENOTDIR), Errno(code: ENXIO): true
        default: false
        }
    }
}
