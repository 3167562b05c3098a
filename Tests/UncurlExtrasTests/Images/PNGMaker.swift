import Foundation

/// Makes PNGs without zlib: of stored blocks (RFC 1951 §3.2.4), so that anything can stand in them.
struct PNGMaker {
    var width = 2
    var height = 2
    var depth = 8
    var color = 0
    var compression = 0
    var filter = 0
    var interlace = 0
    /// Chunks between the header and the pixels.
    var before: [Data] = []
    /// What is compressed: filters and samples.
    var raw: [UInt8] = [0, 1, 2, 0, 3, 4]
    var isAdlerRight = true
    /// Chunks behind the header instead of all others.
    var rest: [Data]?

    var data: Data {
        let sizes = Self.big(width) + Self.big(height)
        let header = sizes + [depth, color, compression, filter, interlace].map { UInt8(truncatingIfNeeded: $0) }
        let end = Self.chunk("IEND", [])
        let chunks = rest ?? before + [Self.chunk("IDAT", Self.zlib(raw, isAdlerRight: isAdlerRight)), end]
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        return chunks.reduce(Data(signature) + Self.chunk("IHDR", header), +)
    }

    static func chunk(_ type: String, _ content: [UInt8]) -> Data {
        let covered = Array(type.utf8) + content
        return Data(big(content.count) + covered + big(Int(crc32(covered))))
    }

    static func zlib(_ raw: [UInt8], isAdlerRight: Bool = true) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x01]
        var rest = raw[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let (low, high) = (UInt8(block.count & 255), UInt8(block.count >> 8))
            result += [rest.isEmpty ? 1 : 0, low, high, ~low, ~high] + block
        } while !rest.isEmpty
        var (a, b) = (1, 0)
        for octet in raw {
            a = (a + Int(octet)) % 65_521
            b = (b + a) % 65_521
        }
        return result + big(b << 16 | a ^ (isAdlerRight ? 0 : 1))
    }

    static func big(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func crc32(_ octets: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for octet in octets {
            sum ^= UInt32(octet)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}
