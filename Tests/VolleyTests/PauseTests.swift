import TestSupport
import Testing

@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

@Suite("Pause", .ownThread)
struct PauseTests {
    @Test("pauses are fixed, even or exponential, and keep their mean and bounds")
    func lengths() throws {
        var random = RandomStream(seed: 7, stream: 3)
        #expect(try Pause("5ms", for: "").length(&random) == 5_000_000)
        let even = try Pause("1ms-3ms", for: "")
        let all = (0..<2_000).map { _ in even.length(&random) }
        #expect(all.allSatisfy { (1_000_000...3_000_000).contains($0) })
        #expect(Set(all).count > 1_900)
        let chance = try Pause("exp:10ms", for: "")
        let mean = (0..<20_000).reduce(0.0) { sum, _ in sum + Double(chance.length(&random)) } / 20_000
        #expect(abs(mean - 10e6) < 0.3e6)
    }

    @Test("a malformed pause is refused", arguments: ["", "x", "5ms-1ms", "exp:", "1ms-"])
    func refused(text: String) {
        #expect(throws: UsageError.self) { try Pause(text, for: "--think") }
    }

    @Test("one seed makes one stream, and streams differ")
    func streams() {
        var (one, again, other) = (
            RandomStream(seed: 1, stream: 0), RandomStream(seed: 1, stream: 0), RandomStream(seed: 1, stream: 1)
        )
        let first = (0..<8).map { _ in one.next() }
        #expect(first == (0..<8).map { _ in again.next() })
        #expect(first != (0..<8).map { _ in other.next() })
    }
}
