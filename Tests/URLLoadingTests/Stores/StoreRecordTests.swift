import Testing
import UncurlReactor

@testable import URLLoading

@Suite("Records of our files")
struct StoreRecordTests {
    @Test("what was written is read back")
    func roundTrip() throws {
        var record = StoreRecord()
        func rows(_ isWriting: Bool) throws {
            #expect(try record.row(isWriting ? Int64.min + 2 : nil) == .min + 2)
            #expect(try record.row(isWriting ? UInt64.max : nil) == .max)
            #expect(try record.row(isWriting ? "ü\u{0}" : nil) == "ü\u{0}")
            #expect(try record.row(optional: nil as String?) == nil)
            #expect(try record.row(optional: isWriting ? "" : nil) == "")
            #expect(try record.row(isWriting ? [[1, 2], [], [3]] : nil) == [[1, 2], [], [3]])
            #expect(try record.row(isWriting ? ["b": true, "a": false] : nil) == ["b": true, "a": false])
            #expect(try record.row(isWriting ? -0.5 : nil) == -0.5)
            #expect(try record.row(isWriting ? Data([1, 2, 3]) : nil) == Data([1, 2, 3]))
        }
        try rows(true)
        record = StoreRecord(reading: record.octets)
        try rows(false)
        #expect(record.isAtEnd)
    }

    @Test("octets that were cut short are malformed, and lengths beyond the end do not trap")
    func malformed() throws {
        var record = StoreRecord()
        _ = try record.row(["a", "b"])
        for length in 0..<record.octets.count {
            var short = StoreRecord(reading: Array(record.octets[..<length]))
            #expect(throws: StoreFile.damage) { try short.row(nil as [String]?) }
        }
        for length in [Int64.max, .min, -2, 34, 1 << 32] {
            let octets = (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * Int64($0))) }
            var long = StoreRecord(reading: octets + record.octets.dropFirst(8))
            #expect(throws: StoreFile.damage) { try long.row(nil as [String]?) }
        }
    }

    @Test("a number that its type cannot hold, and a date that is none, are malformed")
    func numbers() throws {
        var record = StoreRecord()
        _ = try record.row(70_000)
        _ = try record.row(Double.nan)
        var read = StoreRecord(reading: record.octets)
        #expect(throws: StoreFile.damage) { try read.row(nil as UInt16?) }
        read = StoreRecord(reading: record.octets)
        #expect(try read.row(nil as Int?) == 70_000)
        #expect(throws: StoreFile.damage) { try read.row(nil as Date?) }
    }
}
