import CUncurlLinux
import Foundation
import TestSupport
import Testing

@testable import UncurlReactor

struct DescriptorLimitTests {
    @Test("connections and files leave sixteen descriptors to the process, and take one that comes free below them")
    func reserved() async {
        let beside = TemporaryFile()
        await #expect(processExitsWith: .success) { [file = beside.path + ".new" as String] in
            guard uncurl_set_nofile(64, 64) == 0 else { _exit(2) }
            func isRefused(_ call: () throws -> Void) -> Bool {
                do { try call() } catch { return "\(error)".contains("EMFILE") }
                return false
            }
            var own: [CInt] = []
            // Whether something holds while all descriptors below this one are in use. Dispatch opens files for a
            // moment whenever it looks at its threads, so one below may come free meanwhile: then it is taken too.
            func holds(below first: CInt, _ condition: () -> Bool) -> Bool {
                for _ in 0..<1_000 {
                    while let last = Optional(open("/dev/null", O_RDONLY)), last >= 0 {
                        guard last < first else {
                            close(last)
                            break
                        }
                        own.append(last)
                    }
                    if condition() { return true }
                }
                return false
            }
            guard holds(below: 46, { isRefused { _ = try Socket(.v4) } }) else { _exit(3) }
            guard holds(below: 46, { (try? OpenFile(path: "/etc/hosts")) != nil }) else { _exit(4) }
            guard holds(below: 48, { isRefused { _ = try OpenFile(path: "/etc/hosts") } }) else { _exit(5) }
            guard
                holds(
                    below: 48,
                    {
                        unlink(file)
                        return isRefused { _ = try WritableFile(creating: file) }
                    }
                )
            else { _exit(6) }
            guard access(file, F_OK) != 0, holds(below: 48, { !DescriptorLimit.hasPlace }) else { _exit(7) }
            // What the process opens itself is not limited.
            guard holds(below: 63, { fcntl(62, F_GETFD) >= 0 }) else { _exit(8) }
            // One that comes free below is taken.
            for descriptor in own.prefix(20) { close(descriptor) }
            guard DescriptorLimit.hasPlace, (try? Socket(.v4)) != nil else { _exit(9) }
            guard (try? WritableFile(creating: file)) != nil, unlink(file) == 0 else { _exit(10) }
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
