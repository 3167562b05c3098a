public import URLLoading
internal import UncurlText

extension AsyncSequence where Element == Data {
    /// The content as lines of UTF-8, empty lines included. Invalid octets are replaced. The sequence throws
    /// ``StreamFailure`` where a line is longer than `limit`.
    public func lines(limit: Int = LineSplitter.usualLimit) -> LineSequence<Self> {
        LineSequence(base: self, framer: LineSplitter(limit: limit)) { line, _ in String(decoding: line, as: UTF8.self)
        }
    }

    /// The content as JSON documents, one per line. Empty lines are skipped. The sequence throws ``StreamFailure``
    /// where a line is no such document or is longer than `limit`.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type,
        decoder: JSONDecoder = JSONDecoder(),
        limit: Int = LineSplitter.usualLimit
    ) -> JSONLineSequence<Self, Value> {
        JSONLineSequence(base: self, framer: LineSplitter(limit: limit)) { line, number in
            guard line.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { return nil }
            let data = Data(line)
            do {
                return try decoder.decode(Value.self, from: data, charset: nil)
            } catch {
                throw StreamFailure.undecodableLine(number: number, line: data, underlying: error)
            }
        }
    }
}

/// Lines of content that comes in pieces.
public typealias LineSequence<Base: AsyncSequence> = FrameSequence<Base, LineSplitter, String>
where Base.Element == Data

/// JSON documents of content that comes in pieces, one per line (NDJSON).
public typealias JSONLineSequence<Base: AsyncSequence, Value: Decodable & Sendable> =
    FrameSequence<Base, LineSplitter, Value>
where Base.Element == Data

/// Cuts content into lines as it comes, at LF or CR LF. A single CR is part of its line. The last line needs no line
/// end.
public struct LineSplitter: ContentFramer {
    /// 16 MiB: language models send documents of 10 MB in a line, and a server may send a line without an end. A
    /// program that expects longer lines sets its own limit.
    public static let usualLimit = 16 << 20

    private let limit: Int
    private var line: [UInt8] = []

    /// - Parameter limit: the most bytes of a line, without its line end.
    public init(limit: Int = LineSplitter.usualLimit) { self.limit = min(max(0, limit), Int.max - 1) }

    /// Appends to `lines` the lines that these bytes complete.
    public mutating func take(
        _ bytes: some Collection<UInt8>,
        into lines: inout [[UInt8]]
    ) throws(StreamFailure) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            try append(rest[..<end])
            if line.last == 0x0D { line.removeLast() }
            guard line.count <= limit else { throw .lineTooLong(limit: limit) }
            lines.append(line)
            line.removeAll(keepingCapacity: true)
            rest = rest[rest.index(after: end)...]
        }
        try append(rest)
    }

    /// Called at the end of the content. Returns the unfinished line, if any.
    public mutating func finish() throws(StreamFailure) -> [UInt8]? {
        guard line.count <= limit else { throw .lineTooLong(limit: limit) }
        guard !line.isEmpty else { return nil }
        defer { line = [] }
        return line
    }

    /// One byte beyond the limit is allowed, because it may be the CR of the line end.
    private mutating func append(_ bytes: some Collection<UInt8>) throws(StreamFailure) {
        let room = limit + 1 - line.count
        guard bytes.count <= room else { throw .lineTooLong(limit: limit) }
        line.append(contentsOf: bytes)
        if line.count > limit, line.last != 0x0D { throw .lineTooLong(limit: limit) }
    }
}

extension LineSplitter: CustomStringConvertible {
    public var description: String { described(Self.self, ["limit": limit]) }
}
