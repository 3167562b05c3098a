import FacadeTestSupport
import Foundation
import Synchronization
import TestSupport
import Testing
import Uncurl
import UncurlTestKit
import UncurlTestServer

@testable import UncurlExtras

@Suite("Terminal progress bar", .timeLimit(.minutes(5)))
struct TerminalProgressBarTests {
    private let clock = TestClock()
    private let written = Sightings<String>()

    private func output(isTerminal: Bool, width: Int = 80) -> TerminalOutput {
        TerminalOutput(isTerminal: isTerminal, width: { width }, write: { [written] in written.add($0) })
    }

    private final class Source: Sendable {
        private let state: Mutex<TerminalProgressBar.Snapshot>
        init(_ total: Int64?) { state = Mutex(.init(completed: 0, total: total)) }
        func look() -> TerminalProgressBar.Snapshot { state.withLock { $0 } }
        func set(_ completed: Int64, _ phase: TerminalProgressBar.Snapshot.Phase = .running) {
            state.withLock { ($0.completed, $0.phase) = (completed, phase) }
        }
    }

    private final class FakeTask: URLSessionTask, @unchecked Sendable {
        let now = Mutex((state: URLSessionTask.State.running, received: Int64(0), sent: Int64(0)))
        override var state: URLSessionTask.State { now.withLock { $0.state } }
        override var countOfBytesReceived: Int64 { now.withLock { $0.received } }
        override var countOfBytesSent: Int64 { now.withLock { $0.sent } }
        override var countOfBytesExpectedToReceive: Int64 { 1_000 }
        let head = Mutex<URLResponse?>(nil)
        override var response: URLResponse? { head.withLock { $0 } }
        override var countOfBytesExpectedToSend: Int64 { 500 }
    }

    @Test(
        "on a terminal the line is written over: share, bar, amount, speed, time left; it ends with the transfer",
        .rows("K5")
    )
    func terminal() async {
        let bar = TerminalProgressBar("file", output: output(isTerminal: true), clock: clock)
        let source = Source(10_000_000)
        bar.follow { source.look() }
        await clock.waitForSleepers()
        #expect(written.all == ["\rfile    0%  [........................................]  0 B of 10.0 MB\u{1B}[K"])
        source.set(2_500_000)
        clock.advance(by: .seconds(1))
        #expect(await written.wait { $0.count == 2 })
        #expect(written.all[1].hasPrefix("\rfile   25%  ["))
        #expect(written.all[1].hasSuffix("]  2.5 MB of 10.0 MB  2.5 MB/s  0:03 left\u{1B}[K"))
        await clock.waitForSleepers()
        source.set(10_000_000, .completed)
        clock.advance(by: .seconds(1))
        await bar.waitForEnd()
        #expect(
            written.all.last?.contains("100%") == true
                && written.all.last?.hasSuffix("10.0 MB of 10.0 MB  done\u{1B}[K\n") == true
        )
        #expect(clock.sleeperCount == 0)
    }

    @Test("in a file each tenth has a line, and none is written over", .rows("K5"))
    func file() async {
        let bar = TerminalProgressBar(output: output(isTerminal: false), clock: clock)
        let source = Source(1_000)
        bar.follow { source.look() }
        for completed in stride(from: Int64(0), through: 1_000, by: 25) {
            await clock.waitForSleepers()
            source.set(completed, completed == 1_000 ? .completed : .running)
            clock.advance(by: .milliseconds(100))
        }
        await bar.waitForEnd()
        let lines = written.all
        #expect(
            lines.count >= 11 && lines.count <= 12
                && lines.allSatisfy { $0.hasSuffix("\n") && !$0.contains("\r") && !$0.contains("\u{1B}") }
        )
        #expect(lines.last?.contains("done") == true)
    }

    @Test("where the length is not known, the amount is shown, and a line now and then", .rows("K5"))
    func unknownLength() async {
        let bar = TerminalProgressBar(output: output(isTerminal: false), clock: clock)
        let source = Source(nil)
        bar.follow { source.look() }
        for second in 1...11 {
            await clock.waitForSleepers()
            source.set(Int64(second) * 1_000)
            clock.advance(by: .seconds(1))
        }
        await clock.waitForSleepers()
        #expect(written.all.count == 3, "at 0, 5 and 10 seconds")
        source.set(11_000, .failed("connection lost"))
        clock.advance(by: .seconds(1))
        await bar.waitForEnd()
        #expect(written.all.last?.contains("11.0 kB") == true && written.all.last?.contains("connection lost") == true)
    }

    @Test("a bar follows a task until its end, then another, and never one that has ended", .rows("K5"))
    func tasks() async {
        let bar = TerminalProgressBar(output: output(isTerminal: true), clock: clock)
        let (first, second, ended) = (FakeTask(), FakeTask(), FakeTask())
        ended.now.withLock { $0.state = .completed }
        #expect(!bar.bind(to: ended) && bar.bind(to: first, .upload))
        await clock.waitForSleepers()
        #expect(await written.wait { $0.last?.contains("0 B of 500 B") == true })
        #expect(bar.bind(to: second))
        #expect(!bar.bind(to: ended), "nothing changes")
        #expect(await written.wait { $0.last?.contains("0 B of 1.0 kB") == true })
        second.now.withLock { $0 = (.suspended, 400, 0) }
        await clock.runToNextDeadline()
        #expect(await written.wait { $0.last?.contains(" 40%") == true && $0.last?.contains("paused") == true })
        second.now.withLock { $0 = (.completed, 1_000, 0) }
        await clock.runToNextDeadline()
        await bar.waitForEnd()
        #expect(written.all.last?.contains("done") == true && first.state == .running)
        #expect(bar.bind(to: first))
        await clock.waitForSleepers()
        bar.unbind()
        #expect(await Sightings<Void>.eventually { clock.sleeperCount == 0 })
    }

    @Test("what a resumed download had before its response does not count for its speed", .rows("K5"))
    func resumedDownload() async throws {
        let bar = TerminalProgressBar(output: output(isTerminal: true), clock: clock)
        let task = FakeTask()
        let url = try #require(URL(string: "http://example.com/"))
        #expect(bar.bind(to: task))
        for step in 1...10 {
            await clock.waitForSleepers()
            if step == 3 {
                task.head.withLock {
                    $0 = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
                }
            }
            if step >= 3 { task.now.withLock { $0.received = 4_000_000_000 + Int64(step - 3) * 100_000 } }
            await clock.runToNextDeadline()
        }
        await clock.waitForSleepers()
        #expect(written.all.last?.contains("1.0 MB/s") == true, "\(written.all)")
        #expect(!written.all.contains { $0.contains("GB/s") })
        bar.unbind()
    }

    @Test("a bar follows a request from its first attempt to its last, and says why it failed", .rows("K5"))
    func transfers() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        let bar = TerminalProgressBar(output: output(isTerminal: true, width: 400), clock: clock)
        manager.interceptors = [.retrying { $0.attempt.retryCount == 0 ? .retry : .doNotRetry }]
        let transfer = manager.transfer("status/404", serializer: .data)
        #expect(bar.bind(to: transfer.control))
        await clock.waitForSleepers()
        #expect(await written.wait { $0.last?.contains("paused") == true })
        transfer.resume()
        #expect(await transfer.response.retryCount == 1)
        await clock.runToNextDeadline()
        await bar.waitForEnd()
        #expect(written.all.last?.contains("404") == true, "\(written.all)")
        #expect(!bar.bind(to: transfer.control))
    }

    @Test("a transfer that failed shows its reason at any width, and neither a bar nor 100%")
    func reason() async throws {
        let server = try TestServer.start()
        let manager = server.manager()
        for width in [40, 80, 400] {
            let bar = TerminalProgressBar("a.iso", output: output(isTerminal: true, width: width), clock: clock)
            let transfer = manager.transfer("status/404", serializer: .data)
            #expect(bar.bind(to: transfer.control))
            await clock.waitForSleepers()
            transfer.resume()
            _ = await transfer.response
            await clock.runToNextDeadline()
            await bar.waitForEnd()
            let line = try #require(written.all.last)
            #expect(line.contains("a.iso  unacceptable status 404") && !line.contains("%"), "\(line)")
        }
    }

    @Test("a manager's task whose answer was refused shows the reason")
    func refusedTask() async throws {
        let server = try TestServer.start()
        let bar = TerminalProgressBar(output: output(isTerminal: true), clock: clock)
        let manager = server.manager()
        let queue = DispatchQueue(label: "completion")
        manager.completionQueue = queue
        let ended = Word<Bool>()
        let request = URLRequest(url: server.location("/status/404"))
        let task = manager.dataTask(with: request, serializer: .data) { _ in ended.give(true) }
        #expect(bar.bind(to: task))
        await clock.waitForSleepers()
        task.resume()
        _ = await ended.wait("the end of the task")
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        await clock.runToNextDeadline()
        await bar.waitForEnd()
        #expect(written.all.last?.contains("unacceptable status 404") == true, "\(written.all)")
    }

    @Test("a narrow terminal loses the bar, then what matters less, and no line is wider than it", .rows("K5"))
    func narrow() {
        var line = ProgressLine(
            label: "a-long-name.iso",
            completed: 512_000,
            total: 1_024_000,
            rate: 20_480,
            remaining: 25
        )
        for width in 0...120 {
            let text = line.text(width: width)
            #expect(text.count < max(1, width), "\(width): \(text)")
        }
        #expect(line.text(width: 120).contains("[") && !line.text(width: 60).contains("["))
        #expect(line.text(width: 30).contains("50%"))
        line.total = nil
        for turn in 0..<100 {
            line.turn = turn
            let text = line.text(width: 100)
            #expect(text.contains("<=>") && text.count < 100)
        }
    }

    @Test("numbers as people read them", .rows("K5"))
    func numbers() {
        let pairs: [(Double, String)] = [
            (0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (1_550, "1.6 kB"), (999_949, "999.9 kB"),
            (999_951, "1.0 MB"),
            (2.5e9, "2.5 GB"), (-4, "0 B"),
        ]
        for (count, text) in pairs { #expect(ProgressLine.bytes(count) == text) }
        for (seconds, text) in [
            (0, "0:00"), (4.2, "0:05"), (61, "1:01"), (3_600, "1:00:00"), (86_399, "23:59:59"),
            (Double.infinity, "days"),
        ] {
            #expect(ProgressLine.clock(seconds) == text)
        }
        var line = ProgressLine(completed: 999_999, total: 1_000_000)
        #expect(line.percent == 99)
        line.completed = 1_000_000
        #expect(line.percent == 100)
    }

    @Test("the speed follows, without the leaps of single packets", .rows("K5"))
    func rate() throws {
        var rate = ProgressSpeed()
        #expect(rate.value == nil && rate.remaining(10) == nil)
        for second in 0...30 { rate.note(Int64(second) * 1_000, at: Double(second)) }
        let steady = try #require(rate.value)
        #expect(abs(steady - 1_000) < 1)
        rate.note(40_000, at: 31)
        let leapt = try #require(rate.value)
        #expect(leapt > 1_500 && leapt < 4_000)
        for second in 32...60 { rate.note(40_000, at: Double(second)) }
        #expect((rate.value ?? 0) < 10)
        rate.note(30_000, at: 61)
        #expect((rate.value ?? -1) >= 0)
    }

    @Test("control characters in a server's text do not reach the terminal")
    func label() async {
        let bar = TerminalProgressBar("a\u{1B}[2J\nb", output: output(isTerminal: true), clock: clock)
        let source = Source(10)
        source.set(10, .completed)
        bar.follow { source.look() }
        await bar.waitForEnd()
        #expect(written.all.first?.hasPrefix("\ra[2Jb  100%") == true)
    }

    @Test(
        "negative numbers are shown as zero; control characters of labels and errors do not reach the terminal",
        .rows("K5")
    )
    func hostile() async {
        let bar = TerminalProgressBar("a\u{9B}2Jb", output: output(isTerminal: true), clock: clock)
        for (completed, total) in [(Int64.min, Int64.max), (.max, .min), (.max - 1, .max), (-1, -1)] {
            bar.follow { .init(completed: completed, total: total) }
            await clock.waitForSleepers()
            clock.advance(by: .nanoseconds(100_000_001))
            await clock.waitForSleepers()
            bar.unbind()
            await bar.waitForEnd()
        }
        #expect(!written.all.contains { $0.contains("100%") && $0.contains("9.2 EB of 9.2 EB") })
        bar.follow { .init(completed: 0, total: 1, phase: .failed("no\u{1B}[2J\n\u{9B}31m")) }
        await bar.waitForEnd()
        #expect(written.all.last?.contains("no[2J31m") == true)
        #expect(!written.all.contains { $0.contains("\u{9B}") })
    }
}
