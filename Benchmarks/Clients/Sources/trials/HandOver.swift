import URLLoading

/// Two requests after each other, between which the server does what it should not. Run through handover.py.
enum HandOver {
    /// Pairs of GETs; the second leaves 0 to twice `microseconds` (2 ms at least) after the first's answer. Prints of each second when it
    /// began (nanoseconds of CLOCK_MONOTONIC), what it asked for and what it got, with tabs between them.
    static func poison(_ base: URL, _ count: Int, _ microseconds: Int) async throws {
        let session = URLSession(configuration: Main.configuration)
        let isOnLoop = ProcessInfo.processInfo.environment["ON_LOOP"] != nil
        let executor = isOnLoop ? session.taskExecutor : nil
        // Long pauses would take minutes one after the other; on one's own executor work holds the loop, so that only one pair at a time counts.
        let width = microseconds > 100_000 ? 100 : 1
        try await withTaskExecutorPreference(executor) {
            for start in stride(from: 0, to: count, by: width) {
                let lines = await withTaskGroup(of: String.self) { group in
                    for index in start..<min(count, start + width) {
                        group.addTask {
                            await pair(session, base, index, pause(index, max(microseconds, 1_000)), isOnLoop)
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                for line in lines { print(line) }
            }
        }
    }

    /// Evenly from 0 to twice the delay.
    private static func pause(_ index: Int, _ microseconds: Int) -> Int { 2 * microseconds * (index % 100) / 100 }

    private static func pair(
        _ session: URLSession,
        _ base: URL,
        _ index: Int,
        _ pause: Int,
        _ isOnLoop: Bool
    ) async -> String {
        _ = try? await session.data(from: base.appendingPathComponent("first\(index)"))
        // Work holds the thread, as a program's own does; long pauses are waited for.
        if pause > 50_000 {
            try? await Task.sleep(for: .microseconds(pause))
        } else {
            let end = Main.now + UInt64(pause) * 1_000
            while Main.now < end {}
        }
        let began = Main.now
        let name = "second\(index)"
        let data = try? await session.data(from: base.appendingPathComponent(name)).0
        return "\(began)\t\(name)\t\(data.map { String(decoding: $0, as: UTF8.self) } ?? "failed")"
    }

    /// POST after POST, at once.
    static func pairs(_ base: URL, _ count: Int) async throws {
        let session = URLSession(configuration: Main.configuration)
        var failed = 0
        for index in 0..<(2 * count) {
            var request = URLRequest(url: base.appendingPathComponent("\(index)"))
            request.httpMethod = "POST"
            request.httpBody = Data("once".utf8)
            do { _ = try await session.data(for: request) } catch { failed += 1 }
        }
        print("POSTs \(2 * count) in pairs, failed \(failed)")
    }
}
