internal import Foundation
internal import UncurlReactor
internal import UncurlText

/// What may be a field of a value that the library's own files keep: such a value, or an optional of one.
protocol KeptField {
    /// - Parameter value: what is written; nil in reading.
    /// - Returns: the value that is written, or that was read.
    static func row(_ value: Self?, in record: inout StoreRecord) throws(Errno) -> Self
}

/// A value that the library's own files keep.
protocol Kept: KeptField {
    /// Names the value's fields, each once: writing and reading run the same rows in the same order. The parameter and
    /// the result are those of ``KeptField/row(_:in:)``.
    static func keep(_ value: Self?, in record: inout StoreRecord) throws(Errno) -> Self
}

extension Kept {
    static func row(_ value: Self?, in record: inout StoreRecord) throws(Errno) -> Self { try record.row(value) }
}

extension Optional: KeptField where Wrapped: Kept {
    static func row(_ value: Self?, in record: inout StoreRecord) throws(Errno) -> Self {
        try record.row(optional: value ?? nil)
    }
}

/// The one format of the library's own files, while a record is written or read:
///
///     UNCURL (6) · kind (1) · version (1) · CRC-32 of what follows (4) · fields
///
/// A field is its length (8, in little-endian order as all numbers are) and as many octets. It may consist of fields; a
/// length of -1 stands for a field without a value.
///
/// The checksum covers what can happen to a file after it was renamed into its place: a power failure, a bad disk,
/// another program, a person with an editor. It does not use OpenSSL: cookies are written when the process exits, and
/// OpenSSL may have cleaned up by then. A file that does not match it is not read. The reader takes slices of the
/// octets that it has, so no length makes it trap, wait or allocate.
///
/// Two forms that other programs define are read beside it: FoundationNetworking's file of cookies, and Apple's
/// property list of resume data. Neither is written.
struct StoreRecord {
    /// What a file holds. A file of one kind is not read as another.
    enum Kind: UInt8 { case cacheEntry, backgroundTask, cookies, credentials, download, upload, sum }

    private static let version: UInt8 = 1
    private static let start = Array("UNCURL".utf8)
    private static let sumPlace = start.count + 2
    static let headerLength = sumPlace + 4
    /// The length of a field that is one number.
    static let numberLength = 16
    /// The most fields within each other. Notes on cached responses are read by recursion.
    private static let mostDepth = 64

    private(set) var octets: [UInt8] = []
    private let isReading: Bool
    private var place = 0
    private var end = 0
    private var depth = 0

    // MARK: Files

    /// Returns the file of a value; nil for a value that no file can hold.
    static func file<Value: Kept>(_ kind: Kind, of value: Value) -> [UInt8]? {
        var record = StoreRecord()
        record.octets = start + [kind.rawValue, version, 0, 0, 0, 0]
        guard (try? Value.keep(value, in: &record)) != nil else { return nil }
        record.put(sum(of: record.octets), at: sumPlace)
        return record.octets
    }

    /// Returns the value of a file; nil for one that is damaged, cut short, or of another kind.
    static func value<Value: Kept>(of file: [UInt8], _ kind: Kind, as type: Value.Type = Value.self) -> Value? {
        guard isWhole(file, kind), var record = StoreRecord(start: file, kind),
            let value = try? Value.keep(nil, in: &record), record.isAtEnd
        else { return nil }
        return value
    }

    /// Whether a file is what ``file(_:of:)`` has made.
    static func isWhole(_ file: [UInt8], _ kind: Kind) -> Bool {
        guard StoreRecord(start: file, kind) != nil else { return false }
        return Self.number(file[sumPlace..<headerLength]) == sum(of: file)
    }

    private static func sum(of file: [UInt8]) -> UInt32 {
        ContentSum(of: file.span.extracting(droppingFirst: headerLength)).checksum
    }

    /// Reads a file's first fields, unchecked. Nil for a file of another kind.
    init?(start: [UInt8], _ kind: Kind) {
        guard start.count >= Self.headerLength, start.starts(with: Self.start + [kind.rawValue, Self.version]) else {
            return nil
        }
        self.init(reading: start)
        place = Self.headerLength
    }

    // MARK: Fields

    /// Writes fields, without a header.
    init() { isReading = false }

    /// Reads fields, without a header.
    init(reading octets: [UInt8]) {
        self.octets = octets
        isReading = true
        end = octets.count
    }

    /// Whether all fields of the value have been read.
    var isAtEnd: Bool { place == end }

    /// A field that every value has.
    ///
    /// - Parameter value: what is written; nil in reading.
    mutating func row<Value: Kept>(_ value: Value?) throws(Errno) -> Value {
        guard let value = try row(optional: value) else { throw StoreFile.damage }
        return value
    }

    /// A field that may have no value.
    mutating func row<Value: Kept>(optional value: Value?) throws(Errno) -> Value? {
        guard let mark = try begin(isThere: value != nil) else { return nil }
        let kept = try Value.keep(value, in: &self)
        try finish(mark)
        return kept
    }

    /// All fields of a value, which `make` makes of them.
    mutating func rows<Whole, each Part: KeptField>(
        of value: Whole?,
        _ make: (repeat each Part) -> Whole,
        _ parts: repeat KeyPath<Whole, each Part>
    ) throws(Errno) -> Whole {
        make(repeat try (each Part).row(value?[keyPath: each parts], in: &self))
    }

    /// Fields of a value, which are set in `kept`.
    mutating func rows<Whole, each Part: KeptField>(
        of value: Whole?,
        in kept: inout Whole,
        _ parts: repeat WritableKeyPath<Whole, each Part>
    ) throws(Errno) {
        func set<One: KeptField>(_ part: WritableKeyPath<Whole, One>) throws(Errno) {
            kept[keyPath: part] = try One.row(value?[keyPath: part], in: &self)
        }
        repeat try set(each parts)
    }

    /// Writes or reads the length. Returns what ``finish(_:)`` needs; nil for a field without a value.
    private mutating func begin(isThere: Bool) throws(Errno) -> Int? {
        depth += 1
        guard depth <= Self.mostDepth else { throw StoreFile.damage }
        let length = try number(isReading ? nil : isThere ? 0 : -1)
        if length == -1 {
            depth -= 1
            return nil
        }
        guard isReading else { return octets.count }
        guard length >= 0, length <= end - place else { throw StoreFile.damage }
        defer { end = place + Int(length) }
        return end
    }

    private mutating func finish(_ mark: Int) throws(Errno) {
        depth -= 1
        if isReading {
            guard isAtEnd else { throw StoreFile.damage }
            end = mark
        } else {
            put(Int64(octets.count - mark), at: mark - 8)
        }
    }

    // MARK: What is in a field

    /// A number that is all of a field, or one of several in it.
    mutating func number(_ value: Int64?) throws(Errno) -> Int64 {
        guard isReading else {
            let value = value ?? 0
            octets.append(contentsOf: repeatElement(0, count: 8))
            put(value, at: octets.count - 8)
            return value
        }
        guard end - place >= 8 else { throw StoreFile.damage }
        defer { place += 8 }
        return Self.number(octets[place..<place + 8])
    }

    private mutating func put<Number: FixedWidthInteger>(_ number: Number, at place: Int) {
        for index in 0..<Number.bitWidth / 8 {
            octets[place + index] = UInt8(truncatingIfNeeded: number >> Number(8 * index))
        }
    }

    private static func number<Number: FixedWidthInteger>(_ octets: ArraySlice<UInt8>) -> Number {
        octets.reversed().reduce(0) { $0 << 8 | Number($1) }
    }

    /// All octets of a field.
    mutating func content(_ value: some Collection<UInt8>) { octets.append(contentsOf: value) }

    mutating func content() -> ArraySlice<UInt8> {
        defer { place = end }
        return octets[place..<end]
    }
}

// MARK: Values that are one field

extension Kept where Self: RawRepresentable, RawValue: Kept {
    static func keep(_ value: Self?, in record: inout StoreRecord) throws(Errno) -> Self {
        guard let choice = Self(rawValue: try RawValue.keep(value?.rawValue, in: &record)) else {
            throw StoreFile.damage
        }
        return choice
    }
}

extension Kept where Self: FixedWidthInteger {
    static func keep(_ value: Self?, in record: inout StoreRecord) throws(Errno) -> Self {
        let number = try record.number(value.map { Int64(truncatingIfNeeded: $0) })
        let value = Self(truncatingIfNeeded: number)
        guard Int64(truncatingIfNeeded: value) == number else { throw StoreFile.damage }
        return value
    }
}

extension Int: Kept {}
extension Int64: Kept {}
extension UInt: Kept {}
extension UInt16: Kept {}
extension UInt32: Kept {}
extension UInt64: Kept {}

extension Bool: Kept {
    static func keep(_ value: Bool?, in record: inout StoreRecord) throws(Errno) -> Bool {
        switch try record.number(value.map { $0 ? 1 : 0 }) {
        case 0: return false
        case 1: return true
        default: throw StoreFile.damage
        }
    }
}

extension Double: Kept {
    static func keep(_ value: Double?, in record: inout StoreRecord) throws(Errno) -> Double {
        Double(bitPattern: UInt64(bitPattern: try record.number(value.map { Int64(bitPattern: $0.bitPattern) })))
    }
}

extension Float: Kept {
    static func keep(_ value: Float?, in record: inout StoreRecord) throws(Errno) -> Float {
        Float(try Double.keep(value.map { Double($0) }, in: &record))
    }
}

extension ArraySlice<UInt8>: Kept, KeptField {
    static func keep(_ value: Self?, in record: inout StoreRecord) -> Self {
        guard let value else { return record.content() }
        record.content(value)
        return value
    }
}

extension Data: Kept {
    static func keep(_ value: Data?, in record: inout StoreRecord) -> Data {
        guard let value else { return Data(record.content()) }
        record.content(value)
        return value
    }
}

extension String: Kept {
    static func keep(_ value: String?, in record: inout StoreRecord) -> String {
        guard let value else { return String(decoding: record.content(), as: UTF8.self) }
        record.content(value.utf8)
        return value
    }
}

extension URL: Kept {
    static func keep(_ value: URL?, in record: inout StoreRecord) throws(Errno) -> URL {
        guard let url = value ?? URL(string: String.keep(nil, in: &record)) else { throw StoreFile.damage }
        if value != nil { record.content(url.absoluteString.utf8) }
        return url
    }
}

extension Date: Kept {
    /// A date that is not finite is refused.
    static func keep(_ value: Date?, in record: inout StoreRecord) throws(Errno) -> Date {
        let seconds = try Double.keep(value?.timeIntervalSinceReferenceDate, in: &record)
        guard seconds.isFinite else { throw StoreFile.damage }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }
}

// MARK: Values of several fields

extension Array: Kept, KeptField where Element: Kept {
    static func keep(_ value: Self?, in record: inout StoreRecord) throws(Errno) -> Self {
        if let value {
            for element in value { _ = try record.row(element) }
            return value
        }
        var elements: Self = []
        while !record.isAtEnd { elements.append(try record.row(nil)) }
        return elements
    }
}

extension Dictionary: Kept, KeptField where Key == String, Value: Kept {
    /// A key with more than ``MarkRun/limit`` combining marks in a row is refused: dictionaries take long for it.
    static func keep(_ value: Self?, in record: inout StoreRecord) throws(Errno) -> Self {
        var left = value?.sorted { $0.key < $1.key }[...]
        var table: Self = [:]
        while left.map({ !$0.isEmpty }) ?? !record.isAtEnd {
            let member = left?.popFirst()
            let key = try record.row(member?.key)
            guard !MarkRun.isTooLong(in: key) else { throw StoreFile.damage }
            table[key] = try record.row(member?.value)
        }
        return table
    }
}

// MARK: A form of other libraries

extension Data {
    /// The dictionary of a property list that another library may have written; nil for octets that are no dictionary
    /// in XML in UTF-8, and for more than ``MarkRun/limit`` combining marks in a row: Foundation's dictionaries take
    /// long for such keys, and another encoding could hide them.
    ///
    /// Foundation's readers of binary lists, and its `PropertyListDecoder`, trap on some damaged lists.
    var xmlPropertyList: [String: Any]? {
        guard starts(with: #"<?xml version="1.0" encoding="UTF-8"?>"#.utf8), !MarkRun.isTooLong(inText: span) else {
            return nil
        }
        return try? unsafe PropertyListSerialization.propertyList(from: self, format: nil) as? [String: Any]
    }
}
