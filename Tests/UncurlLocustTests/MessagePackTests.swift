import Testing

@testable import UncurlLoad
@testable import UncurlLocust

struct MessagePackTests {
    @Test(
        "values go out in their shortest form and come back",
        arguments: [
            (.null, [0xC0]), (.bool(true), [0xC3]), (.integer(0), [0]), (.integer(127), [0x7F]), (.integer(-1), [0xFF]),
            (.integer(-32), [0xE0]), (.integer(128), [0xCC, 0x80]), (.integer(256), [0xCD, 1, 0]),
            (.integer(65_536), [0xCE, 0, 1, 0, 0]), (.integer(1 << 32), [0xCF, 0, 0, 0, 1, 0, 0, 0, 0]),
            (.integer(-33), [0xD3, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xDF]),
            (.number(1.5), [0xCB, 0x3F, 0xF8, 0, 0, 0, 0, 0, 0]), (.string("ab"), [0xA2, 0x61, 0x62]),
            (.bytes([7]), [0xC4, 1, 7]), (.array([.null]), [0x91, 0xC0]),
            (.map([.init("a", .integer(1))]), [0x81, 0xA1, 0x61, 1]),
        ] as [(MessagePack, [UInt8])]
    )
    func forms(value: MessagePack, bytes: [UInt8]) throws {
        #expect(value.encoded == bytes)
        #expect(try MessagePack(decoding: bytes) == value)
    }

    @Test("long strings, arrays and maps have longer heads")
    func long() throws {
        for count in [31, 32, 255, 256, 65_535, 65_536] {
            let text = MessagePack.string(String(repeating: "x", count: count))
            #expect(try MessagePack(decoding: text.encoded) == text)
            let array = MessagePack.array([MessagePack](repeating: .integer(1), count: count))
            #expect(try MessagePack(decoding: array.encoded) == array)
        }
        let map = MessagePack.map((0..<300).map { .init("\($0)", .null) })
        #expect(try MessagePack(decoding: map.encoded) == map)
    }

    @Test("other forms of numbers, floats and extensions are read")
    func others() throws {
        #expect(try MessagePack(decoding: [0xCA, 0x3F, 0xC0, 0, 0]) == .number(1.5))
        #expect(try MessagePack(decoding: [0xD0, 0xFE]) == .integer(-2))
        #expect(try MessagePack(decoding: [0xD1, 0xFF, 0xFE]) == .integer(-2))
        #expect(try MessagePack(decoding: [0xD2, 0xFF, 0xFF, 0xFF, 0xFE]) == .integer(-2))
        #expect(try MessagePack(decoding: [0xD4, 1, 9]) == .bytes([9]))
        #expect(try MessagePack(decoding: [0xC7, 2, 1, 8, 9]) == .bytes([8, 9]))
        #expect(try MessagePack(decoding: [0xCF] + [UInt8](repeating: 0xFF, count: 8)) == .number(Double(UInt64.max)))
    }

    @Test("what is no value is refused by its reason, and no count makes room by itself")
    func broken() {
        #expect(throws: UsageError.unreadable("it ends within a value")) { try MessagePack(decoding: []) }
        #expect(throws: UsageError.unreadable("it ends within a value")) {
            try MessagePack(decoding: [0xDD, 0xFF, 0xFF, 0xFF, 0xFF])
        }
        #expect(throws: UsageError.unreadable("it ends within a value")) {
            try MessagePack(decoding: [0xDB, 0xFF, 0xFF, 0xFF, 0xFF, 1])
        }
        #expect(throws: UsageError.unreadable("something follows the value")) {
            try MessagePack(decoding: [0xC0, 0xC0])
        }
        #expect(throws: UsageError.unreadable("a string is not UTF-8")) { try MessagePack(decoding: [0xA1, 0xFF]) }
        #expect(throws: UsageError.unreadable("a value starts with 0xc1")) { try MessagePack(decoding: [0xC1]) }
        #expect(throws: UsageError.unreadable("it is nested more than \(MessagePack.depthLimit) deep")) {
            try MessagePack(decoding: [UInt8](repeating: 0x91, count: 100))
        }
    }

    @Test("members and numbers are found, and nothing where there is none")
    func members() {
        let map = MessagePack.map([.init("n", .number(3)), .init("s", .string("x"))])
        #expect(map["n"]?.count == 3)
        #expect(map["s"]?.text == "x")
        #expect(map["s"]?.count == nil)
        #expect(map["q"] == nil)
        #expect(MessagePack.null["n"] == nil)
        #expect(MessagePack.number(-1).count == nil)
        #expect(MessagePack.number(.nan).count == nil)
        #expect(MessagePack.number(0.5).count == nil)
    }
}
