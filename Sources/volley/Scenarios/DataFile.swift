import UncurlLoad

/// A file of comma-separated values (RFC 4180). Its first record has the names of the columns. A quoted value may
/// contain commas, line ends and doubled quotes.
struct DataFile {
    private(set) var columns: [String] = []
    private(set) var rows: [[[UInt8]]] = []
    private let bytes: [UInt8]
    private let file: String
    private var position = 0
    private var line = 1

    private static let (quote, comma, feed, carriageReturn) = (UInt8(0x22), UInt8(0x2C), UInt8(0x0A), UInt8(0x0D))

    init(_ path: String) throws(UsageError) {
        var bytes = try readFile(path, for: "the data file")
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        try self.init(bytes, path)
    }

    init(_ bytes: [UInt8], _ path: String) throws(UsageError) {
        (self.bytes, file) = (bytes, path)
        guard let head = try next() else { throw UsageError("\(quoted(path)) has no columns") }
        columns = head.values.map { String(decoding: $0, as: UTF8.self).trimmed }
        guard Set(columns.map { OctetText($0) }).count == columns.count, !columns.contains(where: \.isEmpty) else {
            throw head.place.problem("each column needs a name of its own")
        }
        while let record = try next() {
            guard record.values.count == columns.count else {
                throw record.place.problem("it has \(record.values.count) values for \(columns.count) columns")
            }
            rows.append(record.values)
        }
        guard !rows.isEmpty else { throw UsageError("\(quoted(path)) has no row below its columns") }
    }

    /// The next record, with the line that it begins in. Empty lines are skipped.
    private mutating func next() throws(UsageError) -> (values: [[UInt8]], place: InputPlace)? {
        while takeLineEnd() {}
        guard position < bytes.count else { return nil }
        let place = InputPlace(file: file, line: line)
        var values = [try value(place)]
        while position < bytes.count, bytes[position] == Self.comma {
            position += 1
            values.append(try value(place))
        }
        _ = takeLineEnd()
        return (values, place)
    }

    private mutating func takeLineEnd() -> Bool {
        let rest = bytes[position...]
        guard rest.first == Self.feed || rest.starts(with: [Self.carriageReturn, Self.feed]) else { return false }
        position += rest.first == Self.feed ? 1 : 2
        line += 1
        return true
    }

    private var isAtEnd: Bool {
        position == bytes.count || bytes[position] == Self.comma || bytes[position] == Self.feed
            || bytes[position...].starts(with: [Self.carriageReturn, Self.feed])
    }

    private mutating func value(_ place: InputPlace) throws(UsageError) -> [UInt8] {
        guard position < bytes.count, bytes[position] == Self.quote else {
            let start = position
            while !isAtEnd {
                guard bytes[position] != Self.quote else {
                    throw place.problem(
                        "a quote stands within a value: put the whole value in quotes, and the quote twice"
                    )
                }
                position += 1
            }
            return Array(bytes[start..<position])
        }
        var value: [UInt8] = []
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == Self.feed { line += 1 }
            guard byte == Self.quote else {
                value.append(byte)
                continue
            }
            if position < bytes.count, bytes[position] == Self.quote {
                value.append(byte)
                position += 1
            } else if isAtEnd {
                return value
            } else {
                throw place.problem("something follows a value in quotes")
            }
        }
        throw place.problem("a quote is not closed")
    }
}
