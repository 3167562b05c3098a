internal import CUncurlLinux
internal import Glibc
import UncurlLoad

/// Measures the resources of this process, for heartbeats.
struct ProcessMeter {
    private var last: (wall: Int64, cpu: Int64)
    private var percent = 0.0

    init() { last = (uncurl_clock_ns(CLOCK_MONOTONIC), uncurl_clock_ns(CLOCK_PROCESS_CPUTIME_ID)) }

    /// Returns the resources that this process uses. The CPU use is measured over at least a second, in percent of all
    /// cores of this machine.
    mutating func load() -> LocustLoad {
        let wall = uncurl_clock_ns(CLOCK_MONOTONIC)
        if wall - last.wall >= 1_000_000_000 {
            let cpu = uncurl_clock_ns(CLOCK_PROCESS_CPUTIME_ID)
            let cores = Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
            percent = Double(cpu - last.cpu) / Double(wall - last.wall) * 100 / cores
            last = (wall, cpu)
        }
        return LocustLoad(cpu: percent, memory: Self.residentBytes())
    }

    /// The resident memory of the process; 0 without /proc.
    static func residentBytes() -> UInt64 {
        let pages = Files.numbers(in: "/proc/self/statm")
        return pages.count > 1 ? pages[1] * UInt64(max(1, sysconf(Int32(_SC_PAGESIZE)))) : 0
    }
}
