/// Why bytes are no histogram.
package enum HistogramError: Error, Hashable, Sendable, CustomStringConvertible {
    case notBase64
    case notZlib
    case truncated
    /// The first four bytes, which name the encoding.
    case unknownEncoding(UInt32)
    /// The head asks for counters that no HdrHistogram has.
    case impossibleLayout
    case normalized
    /// The histogram has a counter beyond the head's highest value, or a sum that no run has.
    case countsOutOfRange
    /// The unpacked size is over this limit, which is far more than a stream of its size needs.
    case tooLarge(limit: Int)

    package var description: String {
        switch self {
        case .notBase64: "it is not Base64"
        case .notZlib: "its zlib stream is broken"
        case .truncated: "it ends too early"
        case .unknownEncoding(let cookie): "its encoding 0x\(String(cookie, radix: 16)) is not HdrHistogram's V2"
        case .impossibleLayout: "its range or precision is impossible"
        case .normalized: "it has a normalizing offset, which no recorder of latencies writes"
        case .countsOutOfRange: "its counts are out of range"
        case .tooLarge(let limit):
            "it unpacks to more than \(limit < 1 << 20 ? "\(limit >> 10) KiB" : "\(limit >> 20) MiB")"
        }
    }
}
