import Foundation
import Reactor
import Testing

struct DescriptorLimitTests {
    /// How many descriptors the kernel's table of this process has room for.
    private var room: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("FDSize:") }
        return line.flatMap { Int($0.dropFirst(7).trimmingCharacters(in: .whitespaces)) } ?? 0
    }

    @Test("room is made for descriptors within the limit, and none of them stays open")
    func reserve() {
        let wanted = min(DescriptorLimit.current, 12_000)
        DescriptorLimit.reserve(wanted)
        #expect(room >= wanted)
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        #expect(!open.contains("\(wanted - 1)"))
    }

    @Test("a number beyond the limit, or none at all, changes nothing", arguments: [-1, 0, Int.max])
    func refused(count: Int) {
        DescriptorLimit.reserve(count)
        #expect(room < 1 << 24)
    }
}
