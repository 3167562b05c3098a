import CLinux
import Foundation
import TestSupport
import Testing

@testable import Reactor

struct DescriptorLimitTests {
    @Test("connections and files leave sixteen descriptors to the process, and take one that comes free below them")
    func reserved() async {
        let beside = TemporaryFile()
        await #expect(processExitsWith: .success) { [file = beside.path + ".new" as String] in
            guard uncurl_set_nofile(64, 64) == 0 else { _exit(2) }
            var taken: [CInt] = []
            while let last = Optional(open("/dev/null", O_RDONLY)), last >= 0, last < 47 { taken.append(last) }
            func isRefused(_ call: () throws -> Void) -> Bool {
                do { try call() } catch { return "\(error)".contains("EMFILE") }
                return false
            }
            close(taken.removeLast())
            guard isRefused({ _ = try Socket(.v4) }), (try? OpenFile(path: "/etc/hosts")) != nil else { _exit(9) }
            guard open("/dev/null", O_RDONLY) == 46, isRefused({ _ = try OpenFile(path: "/etc/hosts") }) else {
                _exit(3)
            }
            guard isRefused({ _ = try WritableFile(creating: file) }), access(file, F_OK) != 0 else { _exit(4) }
            guard !DescriptorLimit.hasPlace else { _exit(5) }
            // What the process opens itself is not limited.
            let own = (0..<16).map { _ in open("/dev/null", O_RDONLY) }
            guard own.allSatisfy({ $0 >= 0 }) else { _exit(6) }
            close(taken[0])
            guard DescriptorLimit.hasPlace, (try? Socket(.v4)) != nil else { _exit(7) }
            guard (try? WritableFile(creating: file)) != nil, unlink(file) == 0 else { _exit(8) }
            _exit(0)
        }
    }

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
