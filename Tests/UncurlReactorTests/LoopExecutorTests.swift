import Testing

@testable import UncurlReactor

@Suite("Loop executor")
struct LoopExecutorTests {
    @Test("a task that prefers the loop runs on its thread, before and after each suspension")
    func runsOnLoop() async throws {
        let group = try EventLoopGroup()
        let loop = group.loops[0]
        let seen = await withTaskExecutorPreference(loop.executor) {
            var seen = [loop.isCurrent]
            await Task.yield()
            seen.append(loop.isCurrent)
            await withCheckedContinuation { continuation in loop.post { continuation.resume() } }
            seen.append(loop.isCurrent)
            return seen
        }
        #expect(seen == [true, true, true])
        #expect(!loop.isCurrent)
        group.shutdown()
    }

    @Test("children inherit the preference")
    func children() async throws {
        let group = try EventLoopGroup()
        let loop = group.loops[0]
        let all = await withTaskExecutorPreference(loop.executor) {
            await withTaskGroup(of: Bool.self) { tasks in
                for _ in 0..<4 { tasks.addTask { loop.isCurrent } }
                return await tasks.reduce(true) { $0 && $1 }
            }
        }
        #expect(all)
        group.shutdown()
    }

    @Test("a task goes on elsewhere when its loop has ended")
    func afterTheEnd() async throws {
        let group = try EventLoopGroup()
        let loop = group.loops[0]
        let seen = await withTaskExecutorPreference(loop.executor) {
            let before = loop.isCurrent
            loop.stop()
            // Until the mailbox is closed the loop still serves us.
            while loop.isCurrent { await Task.yield() }
            await Task.yield()
            return [before, loop.isCurrent]
        }
        #expect(seen == [true, false])
        group.shutdown()
    }
}
