import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Unix names", .ownThread)
struct UnixNameTests {
    @Test("107 bytes fit, 108 do not")
    func length() {
        #expect(UnixName(path: String(repeating: "p", count: 107)) != nil)
        #expect(UnixName(path: String(repeating: "p", count: 108)) == nil)
        #expect(UnixName(abstract: String(repeating: "a", count: 106)) != nil)
        #expect(UnixName(abstract: String(repeating: "a", count: 107)) == nil)
    }

    @Test("nothing is no name, and a path holds no NUL")
    func refusals() {
        #expect(UnixName(path: "") == nil)
        #expect(UnixName(abstract: "") == nil)
        #expect(UnixName(path: "/tmp/a\0b") == nil)
    }

    @Test("an abstract name has no path to remove")
    func kinds() {
        #expect(UnixName(abstract: "x")?.isAbstract == true)
        #expect(UnixName(abstract: "x")?.path == nil)
        #expect(UnixName(path: "/tmp/x")?.path == "/tmp/x")
    }
}
