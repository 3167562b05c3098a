import Foundation

/// The parent process. It runs the servers, starts the walking process in a mount namespace with a small disk, and
/// takes time away from it.
final class Supervisor {
    private let seconds: Int
    private let seed: UInt64
    private let tasks: Int
    private var dice: Dice

    init(seconds: Int, seed: UInt64, tasks: Int) {
        (self.seconds, self.seed, self.tasks) = (seconds, seed, tasks)
        dice = Dice(seed: seed)
    }

    /// Downloads and caches sometimes find no room on a disk of 32 MiB. Where the kernel allows no namespace, the
    /// folder is an ordinary one.
    private static let script = """
        own="-m"; [ "$(id -u)" = 0 ] || own="-rm"
        if unshare $own true 2>/dev/null; then
            exec unshare $own sh -c 'mount -t tmpfs -o size=32m chaos "$1" && exec "$2" walk "$3" "$1"' \
                sh "$1" "$2" "$3"
        fi
        echo "disk        not taken away: no mount namespace here"
        exec "$2" walk "$3" "$1"
        """

    /// Returns false if anything was wrong.
    func run() throws -> Bool {
        print("chaos: \(seconds) s, \(tasks) tasks at a time, seed \(seed)")
        // Otherwise this line would come after those of the walking process.
        fflush(nil)
        let servers = try ChaosServers(seed: seed)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("chaos-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        let walk = Process()
        walk.executableURL = URL(fileURLWithPath: "/bin/sh")
        walk.arguments = ["-c", Self.script, "sh", folder.path, program, Orders(seconds, seed, tasks, servers).text]
        var environment = ProcessInfo.processInfo.environment
        for name in ["TMPDIR", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] { environment[name] = folder.path }
        // The heap's figures count what threads keep for later as in use: so they keep nothing.
        environment["GLIBC_TUNABLES"] = "glibc.malloc.tcache_count=0"
        environment["LD_PRELOAD"] = environment["UNCURL_CHAOS_CLOCK"]
        walk.environment = environment
        let isOver = DispatchSemaphore(value: 0)
        walk.terminationHandler = { _ in isOver.signal() }
        try walk.run()
        var stops = 0
        while isOver.wait(timeout: .now() + .milliseconds(200 + dice.below(800))) == .timedOut {
            servers.replaceOne()
            guard dice.chance(30) else { continue }
            kill(walk.processIdentifier, SIGSTOP)
            usleep(UInt32(1_000 * (1 + dice.below(300))))
            kill(walk.processIdentifier, SIGCONT)
            stops += 1
        }
        servers.stop()
        print("time        taken away \(stops) times by SIGSTOP; a faulty server replaced \(servers.replaced) times")
        let isClean = walk.terminationReason == .exit && walk.terminationStatus == 0
        if walk.terminationReason != .exit {
            print("verdict     the process ended by signal \(walk.terminationStatus)")
        }
        if !isClean { print("again with  --seed \(seed)") }
        return isClean
    }
}
