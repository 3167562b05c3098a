import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Mailbox", .ownThread)
struct MailboxTests {
    /// How often the eventfd was written since it was last read.
    private func wakes(_ mailbox: LoopExecutor) -> UInt64 {
        var count: UInt64 = 0
        return read(mailbox.wakeup.number, &count, 8) == 8 ? count : 0
    }

    @Test("a thousand posts before the loop looks wake it once")
    func coalescing() throws {
        let mailbox = try LoopExecutor()
        for _ in 0..<1_000 { #expect(mailbox.post(.call {})) }
        #expect(wakes(mailbox) == 1)
        var messages: [LoopExecutor.Message] = []
        mailbox.drain(into: &messages)
        #expect(messages.count == 1_000)
        #expect(!mailbox.isSignalled)
        mailbox.wake()
        #expect(wakes(mailbox) == 1)
    }

    @Test("the loop's own thread signals itself without a system call")
    func ownThread() throws {
        let mailbox = try LoopExecutor()
        mailbox.adopt()
        _ = mailbox.post(.call {})
        #expect(wakes(mailbox) == 0)
        #expect(mailbox.isSignalled)
    }

    @Test("a closed mailbox takes nothing")
    func closed() throws {
        let mailbox = try LoopExecutor()
        mailbox.close()
        #expect(!mailbox.post(.call {}))
        #expect(wakes(mailbox) == 0)
    }

    @Test("messages of each of eight threads arrive whole and in order")
    func order() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let (threads, each) = (8, 500)
        let seen = Shared<[[Int]]>(Array(repeating: [], count: threads))
        let senders = try (0..<threads).map { sender in
            try LoopThread(name: "sender") {
                for index in 0..<each { loop.post { seen.change { $0[sender].append(index) } } }
                loop.post { if seen.value.allSatisfy({ $0.count == each }) { loop.stop() } }
            }
        }
        bench.run()
        for sender in senders { sender.join() }
        for messages in seen.value { #expect(messages == Array(0..<each)) }
    }
}
