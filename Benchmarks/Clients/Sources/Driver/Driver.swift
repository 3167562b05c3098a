import Glibc

/// Sends requests from so many tasks at once and says what each cost: CPU time of the whole process, user and system.
public enum Driver {
    /// The arguments: a URL, how many tasks, how many requests in all, and how many different queries. Without
    /// the last, each request has the URL as it is, which a client may remember.
    public static func run(_ get: @escaping @Sendable (String) async throws -> Int) async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 || arguments.count == 5, let tasks = Int(arguments[2]),
            let total = Int(arguments[3]), let queries = arguments.count == 5 ? Int(arguments[4]) : 0, tasks > 0,
            total >= tasks
        else {
            print("usage: \(arguments[0]) URL TASKS REQUESTS [QUERIES]")
            exit(1)
        }
        let urls = queries == 0 ? [arguments[1]] : (0..<queries).map { "\(arguments[1])?query=\($0)" }
        // Connections, caches of types and the like are made before the clock starts.
        try await burst(urls, tasks, tasks * 20, get)
        let (cpu, wall) = (cpuTime(), wallTime())
        let bytes = try await burst(urls, tasks, total, get)
        let (cpuSpent, wallSpent) = (cpuTime() - cpu, wallTime() - wall)
        print(
            "requests \(total) bytes \(bytes) cpu_us \(cpuSpent / Double(total) * 1e6) wall_us \(wallSpent / Double(total) * 1e6)"
        )
    }

    @discardableResult
    private static func burst(
        _ urls: [String],
        _ tasks: Int,
        _ total: Int,
        _ get: @escaping @Sendable (String) async throws -> Int
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<tasks {
                let share = total / tasks + (index < total % tasks ? 1 : 0)
                group.addTask {
                    var bytes = 0
                    for number in 0..<share { bytes += try await get(urls[(index * share + number) % urls.count]) }
                    return bytes
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private static func cpuTime() -> Double {
        var usage = rusage()
        // RUSAGE_SELF, whose type the importer does not agree on.
        getrusage(__rusage_who_t(0), &usage)
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    private static func wallTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
