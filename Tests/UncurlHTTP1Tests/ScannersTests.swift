import TestSupport
import Testing

@testable import UncurlHTTP1

/// Every scanner against the definition of its class, at any alignment, for lengths that span several blocks.
@Suite struct ScannersTests {
    private typealias Scanner = (Span<UInt8>, Int, Int) -> Int

    private func compare(_ scan: Scanner, _ isInside: (UInt8) -> Bool, fill: UInt8) {
        for length in 0...70 {
            for offset in 0..<17 where (length + offset) % 3 == 0 || length < 20 {
                var octets = [UInt8](repeating: fill, count: offset + length + 5)
                #expect(scan(octets.span, offset, offset + length) == offset + length)
                for place in Set([0, 1, length / 2, length - 2, length - 1]) where place >= 0 && place < length {
                    let stop = UInt8(truncatingIfNeeded: length &* 37 &+ offset &* 11 &+ place)
                    octets[offset + place] = stop
                    let expected = isInside(stop) ? offset + length : offset + place
                    #expect(scan(octets.span, offset, offset + length) == expected, "\(stop) at \(place) of \(length)")
                    octets[offset + place] = fill
                }
            }
        }
    }

    @Test("the scanner of tokens agrees with the grammar")
    func tokens() {
        compare({ $0.endOfToken($1, $2) }, { isToken($0) }, fill: 0x61)
        compare({ $0.endOfToken($1, $2) }, { isToken($0) }, fill: 0x31)
    }

    @Test("a name is a token that a colon ends, at any alignment")
    func names() {
        for length in 0...40 {
            for offset in 0..<17 {
                for end in [0x3A, 0x20, 0x0D, 0x61] as [UInt8] {
                    for odd in [0x2D, 0x37, 0x5F, 0x40] as [UInt8] {
                        var octets = [UInt8](repeating: 0x61, count: offset) + [UInt8](repeating: 0x4D, count: length)
                        if length > 2 { octets[offset + length / 2] = odd }
                        octets += [end, 0x20, 0x3A]
                        let isName = end == 0x3A && (length < 3 || odd != 0x40)
                        #expect(octets.span.nameLength(offset, octets.count - 2) == (isName ? length : 0))
                        #expect(octets.span.nameLength(offset, offset + length) == 0)
                    }
                }
            }
        }
    }

    @Test("the scanner of host names agrees with the grammar")
    func hostNames() {
        compare({ $0.endOfHostName($1, $2) }, { isHostName($0) }, fill: 0x2D)
        compare({ $0.endOfHostName($1, $2) }, { isHostName($0) }, fill: 0x2E)
    }

    @Test("the scanner of values agrees with the grammar")
    func values() {
        compare({ $0.endOfValue($1, $2) }, { $0 == 9 || $0 >= 32 && $0 != 127 }, fill: 0xE9)
        compare({ $0.endOfValue($1, $2) }, { $0 == 9 || $0 >= 32 && $0 != 127 }, fill: 0x09)
    }

    @Test("the scanner of targets agrees with the grammar")
    func targets() {
        compare({ $0.endOfTarget($1, $2) }, { $0 > 32 && $0 < 127 && $0 != 0x23 }, fill: 0x2F)
    }

    @Test("each of the 256 octets belongs to the same classes for a block as for an octet")
    func classes() {
        for octet in UInt8.min...UInt8.max {
            let block = [UInt8](repeating: octet, count: 16)
            #expect((block.span.endOfToken(0, 16) == 16) == isToken(octet) && ASCII.isToken(octet) == isToken(octet))
            #expect((block.span.endOfHostName(0, 16) == 16) == isHostName(octet))
            #expect((block.span.endOfValue(0, 16) == 16) == ASCII.isValue(octet))
            #expect((block.span.endOfTarget(0, 16) == 16) == ASCII.isTarget(octet))
        }
    }

    @Test("a walk stops at every control and at nothing else, wherever it begins")
    func walk() {
        var random = SplitMix(seed: 9112)
        for length in 0...70 {
            for _ in 0..<6 {
                let octets = (0..<length).map { _ in
                    random.below(5) == 0 ? UInt8(random.below(0x21)) : UInt8(random.below(256))
                }
                let start = length == 0 ? 0 : random.below(length)
                var walk = StopWalk(at: start)
                var found: [Int] = []
                while let stop = walk.advance(octets.span) { found.append(stop) }
                let expected = (start..<length).filter { octets[$0] < 0x20 || octets[$0] == 0x7F }
                // A span shorter than a block is left to the slow way.
                #expect(found == (length < StopWalk.blockBytes ? [] : expected))
            }
        }
    }
}

/// reg-name without "," (RFC 3986 §3.2.2), spelt out.
private func isHostName(_ octet: UInt8) -> Bool {
    let marks = "-._~!$&'()*+;=%".utf8
    return octet < 128 && (Character(Unicode.Scalar(octet)).isLetter || 0x30...0x39 ~= octet || marks.contains(octet))
}
