import TestSupport
import Testing
import UncurlText

@Suite struct UTF8CheckTests {
    /// Where the check says that it is over; the count if it never does.
    private func end(_ bytes: [UInt8]) -> (at: Int, complete: Bool) {
        var check = UTF8Check()
        for index in bytes.indices where !check.take(bytes.span.extracting(index..<index + 1)) { return (index, false) }
        return (bytes.count, check.isComplete)
    }

    @Test("a check of UTF-8 agrees with the standard library, whatever the octets and however they are cut")
    func judgement() {
        var random = SplitMix(seed: 3)
        let pieces: [[UInt8]] = [
            Array("a".utf8), Array("é".utf8), Array("€".utf8), Array("😀".utf8), Array("plain ascii text".utf8),
            [0x80], [0xC0], [0xC1, 0xBF], [0xE0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90], [0xF5], [0xFF], [0xE2, 0x82],
            [0xF0, 0x9F, 0x98], [0xF0, 0x80], [0xEF, 0xBF, 0xBF], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80],
        ]
        var (good, bad) = (0, 0)
        for _ in 0..<4_000 {
            let bytes = (0...random.below(5)).flatMap { _ in random.pick(pieces) }
            let isValid = String(validating: bytes, as: UTF8.self) != nil
            let whole = { () -> Bool in
                var check = UTF8Check()
                return check.take(bytes.span) && check.isComplete
            }()
            let cut = end(bytes)
            #expect(whole == isValid && (cut.at == bytes.count && cut.complete) == isValid, "\(bytes)")
            if isValid { good += 1 } else { bad += 1 }
        }
        #expect(good > 100 && bad > 1_000)
    }

    @Test("all two-octet beginnings are told apart at the octet that cannot be mended")
    func failFast() {
        // What some tail makes whole was no mistake.
        let tails: [[UInt8]] = [[], [0x80], [0x80, 0x80], [0x80, 0x80, 0x80], [0xA0, 0x80], [0x90, 0x80, 0x80]]
        let canBeMended = { (bytes: [UInt8]) in
            tails.contains { String(validating: bytes + $0, as: UTF8.self) != nil }
        }
        // Of the octets that need others, and of some that do not; the rest go on like these.
        for first in [0x00, 0x7F] + Array(UInt8(0x80)...0xFF) {
            let isLost = !canBeMended([first])
            var wrong: [UInt8] = []
            for second in UInt8.min...UInt8.max where second >= 0x7E || second == 0 {
                let expected = isLost ? 0 : !canBeMended([first, second]) ? 1 : 2
                if end([first, second]).at != expected { wrong.append(second) }
            }
            #expect(wrong.isEmpty, "behind \(first)")
        }
    }

    @Test("a character cut off is no mistake yet, and not the end")
    func incomplete() {
        #expect(end([0xE2, 0x82]) == (2, false))
        #expect(end(Array("€".utf8)) == (3, true))
    }

    @Test("a fault is seen at any distance from a step of eight octets")
    func distance() {
        for length in 0..<40 {
            for place in 0...length {
                var bytes = [UInt8](repeating: 0x61, count: length)
                bytes.insert(0xFF, at: place)
                var check = UTF8Check()
                let isText = check.take(bytes.span)
                #expect(!isText)
            }
        }
    }
}
