import CMalloc
import Foundation
import Glibc
import Synchronization

/// Takes the disk, memory and the wall clock away for moments, on a thread of its own. It takes descriptors too if the
/// environment asks for it.
final class Thief: Sendable {
    struct Counts: Sendable {
        var descriptors = 0
        var disk = 0
        var memory = 0
        var clock = 0
    }

    private let folder: String
    /// Once a second Dispatch reads files about its threads in /proc, and ends the process if it has no descriptor for
    /// one (`_dispatch_workq_monitor_pools` of 6.3). So descriptors are taken only in runs that ask for it.
    private let takesDescriptors = ProcessInfo.processInfo.environment["UNCURL_CHAOS_DESCRIPTORS"] != nil
    private let isEnding = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)
    private let sums = Mutex(Counts())

    init(folder: String, seed: UInt64) {
        self.folder = folder
        Thread { [self] in
            var dice = Dice(seed: seed)
            while !isEnding.load(ordering: .acquiring) { steal(&dice) }
            hasEnded.signal()
        }.start()
    }

    /// Gives everything back, and returns how often each thing was taken.
    func stop() -> Counts {
        isEnding.store(true, ordering: .releasing)
        hasEnded.wait()
        return sums.withLock { $0 }
    }

    private func steal(_ dice: inout Dice) {
        rest(milliseconds: 20 + dice.below(200))
        let time = 5 + dice.below(150)
        switch dice.below(4) {
        case 0 where takesDescriptors: descriptors(leaving: dice.below(6), milliseconds: time)
        case 0, 1: disk(milliseconds: time)
        case 2: memory(milliseconds: time)
        default: clock(&dice, milliseconds: time)
        }
    }

    private func rest(milliseconds: Int) { usleep(UInt32(milliseconds) * 1_000) }

    /// Allows only a few more descriptors to be opened.
    private func descriptors(leaving few: Int, milliseconds: Int) {
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var usual = rlimit()
        // The limit is a limit on the numbers of descriptors. This is the lowest free number.
        let lowest = dup(0)
        guard lowest >= 0, getrlimit(kind, &usual) == 0 else { return }
        close(lowest)
        var low = usual
        low.rlim_cur = rlim_t(Int(lowest) + few)
        setrlimit(kind, &low)
        rest(milliseconds: milliseconds)
        setrlimit(kind, &usual)
        sums.withLock { $0.descriptors += 1 }
    }

    /// Fills the disk if it is the small one.
    private func disk(milliseconds: Int) {
        var facts = statvfs()
        guard statvfs(folder, &facts) == 0, facts.f_blocks * UInt(facts.f_frsize) < 64 << 20 else { return }
        let path = folder + "/filling"
        let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let piece = [UInt8](repeating: 1, count: 1 << 20)
        while write(file, piece, piece.count) > 0 {}
        rest(milliseconds: milliseconds)
        close(file)
        unlink(path)
        sums.withLock { $0.disk += 1 }
    }

    /// Takes so much memory that the kernel must find pages for it, and gives it back.
    private func memory(milliseconds: Int) {
        let size = 128 << 20
        guard let pages = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            pages != MAP_FAILED
        else { return }
        memset(pages, 1, size)
        malloc_trim(0)
        rest(milliseconds: milliseconds)
        munmap(pages, size)
        sums.withLock { $0.memory += 1 }
    }

    /// Steps the wall clock by seconds, minutes, hours or a month, ahead or back, and later to the right time again.
    private func clock(_ dice: inout Dice, milliseconds: Int) {
        guard WallClock.canStep else { return }
        let seconds = [2, 90, 4_000, 2_600_000][dice.below(4)]
        WallClock.step(ahead: dice.chance(50) ? seconds : -seconds)
        rest(milliseconds: milliseconds)
        WallClock.step(ahead: 0)
        sums.withLock { $0.clock += 1 }
    }
}
