/// Writes values as octets, for the library's own files: numbers in little-endian order, all else after its length.
struct OctetWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ byte: UInt8) { bytes.append(byte) }

    mutating func put(_ number: UInt32) {
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> UInt32(shift))) }
    }

    mutating func put(_ number: Int64) {
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> Int64(shift))) }
    }

    mutating func put(_ flag: Bool) { put(UInt8(flag ? 1 : 0)) }

    /// Writes the 64 bits of IEEE 754.
    mutating func put(_ number: Double) { put(Int64(bitPattern: number.bitPattern)) }

    /// - Parameter put: writes the value, if there is one.
    mutating func put<Value>(optional value: Value?, _ put: (inout OctetWriter, Value) -> Void) {
        self.put(value != nil)
        if let value { put(&self, value) }
    }

    mutating func put(_ text: String) {
        put(UInt32(clamping: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func put(_ text: String?) { put(optional: text) { $0.put($1) } }

    mutating func put(_ octets: some Collection<UInt8>) {
        put(UInt32(clamping: octets.count))
        bytes.append(contentsOf: octets)
    }

    /// Writes octets without their length before them.
    mutating func append(_ octets: some Collection<UInt8>) { bytes.append(contentsOf: octets) }
}

/// Reads what ``OctetWriter`` wrote. Throws ``Malformed`` for anything else.
struct OctetReader {
    struct Malformed: Error {}

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func octet() throws(Malformed) -> UInt8 {
        guard let first = rest.popFirst() else { throw Malformed() }
        return first
    }

    mutating func octets(_ count: Int) throws(Malformed) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest.count else { throw Malformed() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func word() throws(Malformed) -> UInt32 {
        try octets(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func number() throws(Malformed) -> Int64 {
        Int64(bitPattern: try octets(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    mutating func double() throws(Malformed) -> Double { Double(bitPattern: UInt64(bitPattern: try number())) }

    /// Throws for octets other than 0 and 1, which ``OctetWriter`` does not write.
    mutating func flag() throws(Malformed) -> Bool {
        switch try octet() {
        case 0: return false
        case 1: return true
        default: throw Malformed()
        }
    }

    mutating func optional<Value>(
        _ read: (inout OctetReader) throws(Malformed) -> Value
    ) throws(Malformed) -> Value? {
        try flag() ? try read(&self) : nil
    }

    mutating func octets() throws(Malformed) -> ArraySlice<UInt8> { try octets(Int(try word())) }

    mutating func text() throws(Malformed) -> String { String(decoding: try octets(), as: UTF8.self) }

    mutating func optionalText() throws(Malformed) -> String? {
        try optional { reader throws(Malformed) in try reader.text() }
    }
}
