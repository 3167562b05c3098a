import Testing
import UncurlText

@Suite("Percent-encoding and hexadecimal digits")
struct PercentCodingTests {
    @Test("what is unreserved stands for itself, and all else is encoded and comes back")
    func roundTrip() {
        let text = "aZ09-._~ %/?é\u{0}"
        let encoded = percentEncodedText(text)
        #expect(encoded == "aZ09-._~%20%25%2F%3F%C3%A9%00")
        #expect(percentDecodedOctets(encoded.utf8) == Array(text.utf8))
        #expect(percentEncodedText("a/b c", keeping: "/") == "a/b%20c")
    }

    @Test("a percent sign without two digits stands for itself")
    func lone() {
        #expect(percentDecodedOctets("%zz%4".utf8) == Array("%zz%4".utf8))
        #expect(percentDecodedOctets("a%20b%2525".utf8) == Array("a b%25".utf8))
        #expect(percentDecodedOctets("a+b".utf8) == Array("a+b".utf8))
        #expect(percentDecodedOctets("a+b".utf8, plusIsSpace: true) == Array("a b".utf8))
    }

    @Test("of a URL's text, what is kept and what is encoded already stay, and all else is encoded")
    func mended() {
        let octets = Array("a b%20%4%zz%é%2".utf8)
        let mended = percentMended(octets[...]) { isUnreservedOctet(octets[$0]) }
        #expect(String(decoding: mended, as: UTF8.self) == "a%20b%20%254%25zz%25%C3%A9%252")
        let rest = percentMended(octets[3...]) { _ in true }
        #expect(rest == Array(octets[3...]))
    }

    @Test("each byte has two digits, and a digit of either case its value")
    func hex() {
        #expect(hexText([0, 0x0F, 0xA5, 0xFF]) == "000fa5ff")
        #expect("09afAF".utf8.map { hexValue(of: $0) } == [0, 9, 10, 15, 10, 15])
        #expect("/:@G`g".utf8.allSatisfy { hexValue(of: $0) == nil })
        #expect((0..<16).map { upperHexDigit($0) } == Array("0123456789ABCDEF".utf8))
    }
}
