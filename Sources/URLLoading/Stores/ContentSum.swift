internal import CZlib
internal import Reactor

/// How much of a file has been written, and the CRC-32 of that (RFC 1952 §8): by what to know, in another process, that
/// it was not changed since. No more than that: it is no protection against a deliberate change.
struct ContentSum: Hashable, Sendable {
    /// In octets.
    private(set) var length: Int64 = 0
    private(set) var checksum: UInt32 = 0

    init() {}

    init(length: Int64, checksum: UInt32) {
        self.length = length
        self.checksum = checksum
    }

    mutating func add(_ bytes: Span<UInt8>) {
        // Without octets, zlib would begin anew.
        guard !bytes.isEmpty else { return }
        length += Int64(bytes.count)
        checksum = UInt32(
            truncatingIfNeeded: unsafe bytes.withUnsafeBytes { buffer in
                unsafe crc32_z(uLong(checksum), buffer.bindMemory(to: UInt8.self).baseAddress, buffer.count)
            }
        )
    }

    /// Of a file's first octets. Nil where there are not so many, or where they cannot be read. Blocks for the disk.
    init?(ofFirst length: Int64, in path: String) {
        var sums = Self.sums(ofFirst: [length], in: path)
        guard let sum = sums.popLast() else { return nil }
        self = sum
    }

    /// For several lengths, smaller ones first, in one reading; none if one of them cannot be had.
    static func sums(ofFirst lengths: [Int64], in path: String) -> [ContentSum] {
        guard let file = try? OpenFile(path: path) else { return [] }
        var sum = ContentSum()
        var sums: [ContentSum] = []
        for length in lengths {
            while sum.length < length {
                let wanted = min(Self.pieceSize, length - sum.length)
                guard let piece = try? file.read(at: UInt64(sum.length), atMost: Int(wanted)), !piece.isEmpty else {
                    return []
                }
                sum.add(piece.span)
            }
            sums.append(sum)
        }
        return sums
    }

    private static let pieceSize: Int64 = 1 << 20

    // MARK: As octets

    static let encodedLength = 16

    /// Length, checksum, and the CRC-32 of both.
    var encoded: [UInt8] {
        var writer = OctetWriter()
        writer.put(length)
        writer.put(checksum)
        var own = ContentSum()
        own.add(writer.bytes.span)
        writer.put(own.checksum)
        return writer.bytes
    }

    /// Nil for what ``encoded`` has not given.
    init?(encoded: [UInt8]) {
        var reader = OctetReader(encoded[...])
        guard let length = try? reader.number(), let checksum = try? reader.word(), length >= 0 else { return nil }
        self.init(length: length, checksum: checksum)
        guard self.encoded == encoded else { return nil }
    }
}
