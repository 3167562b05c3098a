internal import CUncurlZlib
import UncurlText

/// HdrHistogram's V2 encoding, which its libraries in a dozen languages read: counts as ZigZag LEB128, runs of zeros as
/// negative numbers.
extension LatencyHistogram {
    private static let cookie: UInt32 = 0x1C84_9313
    private static let compressedCookie: UInt32 = 0x1C84_9314
    private static let headSize = 40
    /// The highest sum of counts that is read. No run reaches it, and above it a percentile's rank is not exact.
    package static let countLimit: UInt64 = 1 << 53

    // MARK: Out

    /// The head and the counters, not compressed.
    package var encoded: [UInt8] {
        var counts: [UInt8] = []
        var next = 0
        forEachRecorded { value, count in
            let index = HistogramLayout.latency.index(of: value)
            switch index - next {
            case 0: break
            case 1: counts.append(0)
            case let zeros: Self.append(zigZag: -Int64(zeros), to: &counts)
            }
            Self.append(zigZag: Int64(clamping: count), to: &counts)
            next = index + 1
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headSize + counts.count)
        let layout = HistogramLayout.latency
        for word in [UInt64(Self.cookie), UInt64(counts.count), 0, UInt64(layout.digits)] {
            bytes += bigEndian(word, width: 4)
        }
        for word in [layout.lowest, layout.highest, (1.0).bitPattern] { bytes += bigEndian(word, width: 8) }
        return bytes + counts
    }

    /// A zlib stream with a head of its own, as Base64: `HISTFAAA…`.
    package var hdr: String {
        let packed = Self.compress(encoded)
        let head = bigEndian(UInt64(Self.compressedCookie), width: 4) + bigEndian(UInt64(packed.count), width: 4)
        return base64Text(head + packed)
    }

    /// Appends a number in at most nine bytes: the ninth carries eight bits, unlike in Protocol Buffers.
    private static func append(zigZag number: Int64, to bytes: inout [UInt8]) {
        var rest = UInt64(bitPattern: (number << 1) ^ (number >> 63))
        for _ in 0..<8 {
            guard rest > 0x7F else {
                bytes.append(UInt8(rest))
                return
            }
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    // MARK: In

    /// Reads the text of ``hdr`` or of another library. Values above ``highest`` count as that.
    package init(hdr text: some StringProtocol) throws(UsageError) { self.init(try Self.recorded(hdr: text)) }

    package init(encoded bytes: [UInt8]) throws(UsageError) { self.init(try Self.recorded(bytes)) }

    package static func recorded(hdr text: some StringProtocol) throws(UsageError) -> RecordedSlots {
        guard let bytes = base64Octets(text) else { throw .notBase64 }
        var rest = bytes[...]
        let first: UInt32 = try number(&rest)
        guard first == compressedCookie else { throw .unknownEncoding(first) }
        let length = Int(try number(&rest) as UInt32)
        guard length <= rest.count else { throw .truncated }
        return try recorded(decompress(rest.prefix(length)))
    }

    private static func recorded(_ bytes: [UInt8]) throws(UsageError) -> RecordedSlots {
        var rest = bytes[...]
        let first: UInt32 = try number(&rest)
        guard first == cookie else { throw .unknownEncoding(first) }
        let length = Int(try number(&rest) as UInt32)
        guard try number(&rest) as UInt32 == 0 else { throw .normalized }
        let digits = Int(try number(&rest) as UInt32)
        let lowest: UInt64 = try number(&rest)
        let highest: UInt64 = try number(&rest)
        _ = try number(&rest) as UInt64
        guard let layout = HistogramLayout(checking: lowest, highest: highest, digits: digits) else {
            throw .impossibleLayout
        }
        guard length <= rest.count else { throw .truncated }
        rest = rest.prefix(length)
        var recorded = RecordedSlots()
        var index = 0
        while !rest.isEmpty {
            let count = try zigZag(&rest)
            guard count <= 0 else {
                guard index < layout.count else { throw .countsOutOfRange }
                let (sum, overflow) = recorded.count.addingReportingOverflow(UInt64(count))
                guard !overflow, sum <= countLimit else { throw .countsOutOfRange }
                recorded.append(layout.values(at: index).upperBound, count: UInt64(count))
                index += 1
                continue
            }
            // A single zero is written as 0.
            let zeros = max(count.magnitude, 1)
            guard zeros <= UInt64(layout.count - index) else { throw .countsOutOfRange }
            index += Int(zeros)
        }
        return recorded
    }

    private static func next(_ rest: inout ArraySlice<UInt8>) throws(UsageError) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .truncated }
        return byte
    }

    private static func number<Number: FixedWidthInteger>(
        _ rest: inout ArraySlice<UInt8>
    ) throws(UsageError) -> Number {
        var number: Number = 0
        for _ in 0..<(Number.bitWidth / 8) { number = number << 8 | Number(truncatingIfNeeded: try next(&rest)) }
        return number
    }

    private static func zigZag(_ rest: inout ArraySlice<UInt8>) throws(UsageError) -> Int64 {
        var number: UInt64 = 0
        for place in 0..<9 {
            let byte = try next(&rest)
            if place == 8 {
                number |= UInt64(byte) << 56
            } else {
                number |= UInt64(byte & 0x7F) << UInt64(7 * place)
                if byte & 0x80 == 0 { break }
            }
        }
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }
}

/// A whole zlib stream (RFC 1950), packed or unpacked in one call. No other file of this module uses zlib.
extension LatencyHistogram {
    /// The largest content of a stream: 64 octets for each of its own. zlib packs a thousand into one, and a file may
    /// have hundreds of streams; the counters of a run are not regular enough for a tenth of this limit. The constant
    /// is for a small histogram of a regular test. The upper limit is that of an HdrHistogram: five digits over 64 bits
    /// have 4 million counters of at most nine octets.
    private static func unpackedLimit(_ packed: Int) -> Int { min(4_096 + 64 * packed, 40 << 20) }

    /// Returns a stream that ``decompress(_:)`` accepts.
    private static func compress(_ bytes: [UInt8]) -> [UInt8] {
        let packed = compress(bytes, level: Z_DEFAULT_COMPRESSION)
        return bytes.count <= unpackedLimit(packed.count) ? packed : compress(bytes, level: Z_NO_COMPRESSION)
    }

    private static func compress(_ bytes: [UInt8], level: CInt) -> [UInt8] {
        var size = uLongf(compressBound(uLong(bytes.count)))
        var out = [UInt8](repeating: 0, count: Int(size))
        // `compress2` fails only without memory, or if the buffer is smaller than `compressBound` says.
        let status = unsafe out.withUnsafeMutableBufferPointer { out in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe CUncurlZlib.compress2(out.baseAddress, &size, bytes.baseAddress, uLong(bytes.count), level)
            }
        }
        return status == Z_OK ? Array(out.prefix(Int(size))) : []
    }

    private static func decompress(_ bytes: some Collection<UInt8>) throws(UsageError) -> [UInt8] {
        var input = Array(bytes)
        let limit = unpackedLimit(input.count)
        var out = [UInt8](repeating: 0, count: limit)
        var size = uLongf(limit)
        let status = unsafe out.withUnsafeMutableBufferPointer { out in
            unsafe input.withUnsafeMutableBufferPointer { input in
                unsafe CUncurlZlib.uncompress(out.baseAddress, &size, input.baseAddress, uLong(input.count))
            }
        }
        switch status {
        case Z_OK: return Array(out.prefix(Int(size)))
        case Z_BUF_ERROR where Int(size) == limit: throw .tooLarge(limit: limit)
        default: throw .notZlib
        }
    }
}

/// Why bytes are no histogram.
extension UsageError {
    static let notBase64 = Self("it is not Base64")
    static let notZlib = Self("its zlib stream is broken")
    package static let truncated = Self("it ends too early")
    /// The head asks for counters that no HdrHistogram has.
    static let impossibleLayout = Self("its range or precision is impossible")
    static let normalized = Self("it has a normalizing offset, which no recorder of latencies writes")
    /// The histogram has a counter beyond the head's highest value, or a sum that no run has.
    static let countsOutOfRange = Self("its counts are out of range")

    /// - Parameter cookie: The first four bytes, which name the encoding.
    static func unknownEncoding(_ cookie: UInt32) -> Self {
        Self("its encoding 0x\(String(cookie, radix: 16)) is not HdrHistogram's V2")
    }

    static func tooLarge(limit: Int) -> Self {
        let size = limit < 1 << 20 ? "\(limit >> 10) KiB" : "\(limit >> 20) MiB"
        return Self("it unpacks to more than \(size)")
    }
}
