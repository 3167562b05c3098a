import Testing

@testable import UncurlEngine

@Suite struct WriteCompletionsTests {
    @Test("each is called when its last octet has left, in order, however the octets leave")
    func order() {
        var completions = WriteCompletions()
        var called: [Int] = []
        for number in 0..<1_000 {
            completions.append(number % 5, number % 3 == 0 ? { _ in called.append(number) } : nil)
        }
        let expected = (0..<1_000).filter { $0 % 3 == 0 }
        var left = 0
        for piece in [1, 7, 500, 3, 400, 1_000] where left < 2_000 {
            let count = min(piece, 2_000 - left)
            left += count
            completions.left(count)
            while let call = completions.takeNext() { call(true) }
            let ends = expected.prefix { number in (0...number).reduce(0) { $0 + $1 % 5 } <= left }
            #expect(called == Array(ends))
        }
        for call in completions.takeAll() { call(false) }
        #expect(called == expected)
        #expect(completions.takeAll().isEmpty)
    }
}
