import Testing

@testable import URLLoading

@Suite("Octets of our files")
struct OctetWriterTests {
    @Test("what was written is read back")
    func roundTrip() throws {
        var writer = OctetWriter()
        writer.put(UInt8(7))
        writer.put(UInt32.max - 1)
        writer.put(Int64.min + 2)
        writer.put("ü\u{0}")
        writer.put(nil as String?)
        writer.put("x" as String?)
        writer.put([1, 2, 3] as [UInt8])
        var reader = OctetReader(writer.bytes[...])
        #expect(try reader.octet() == 7)
        #expect(try reader.word() == .max - 1)
        #expect(try reader.number() == .min + 2)
        #expect(try reader.text() == "ü\u{0}")
        #expect(try reader.optionalText() == nil)
        #expect(try reader.optionalText() == "x")
        #expect(try Array(reader.octets()) == [1, 2, 3])
        #expect(reader.isAtEnd)
    }

    @Test("octets that were cut short are malformed, and lengths beyond the end do not trap")
    func malformed() {
        var short = OctetReader([1, 2][...])
        #expect(throws: OctetReader.Malformed.self) { try short.word() }
        var long = OctetReader([255, 255, 255, 255, 1][...])
        #expect(throws: OctetReader.Malformed.self) { try long.octets() }
        #expect(throws: OctetReader.Malformed.self) { try long.octets(-1) }
    }
}
