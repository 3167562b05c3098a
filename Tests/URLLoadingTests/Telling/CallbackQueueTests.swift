import Foundation
import Synchronization
import TestSupport
import Testing
import UncurlReactor

@testable import URLLoading

@Suite("CallbackQueue", .timeLimit(.minutes(5)))
struct CallbackQueueTests {
    private let loop: EventLoop
    private let callbacks: CallbackQueue
    private let queue = OperationQueue()
    private let notes = Notes()

    private final class Notes: Sendable {
        private let words = Mutex<[String]>([])
        var all: [String] { words.withLock { $0 } }
        func add(_ word: String) { words.withLock { $0.append(word) } }
    }

    init() throws {
        loop = try EventLoop.nextShared()
        callbacks = CallbackQueue(on: loop)
        queue.maxConcurrentOperationCount = 1
    }

    @Test(
        "a callback added after an operation of the user's runs after it, even if an earlier callback still waits"
    )
    func behindUser() async {
        queue.isSuspended = true
        callbacks.add(on: queue) { notes.add("first") }
        await until { queue.operationCount == 1 }
        queue.addOperation { notes.add("user") }
        callbacks.add(on: queue) { notes.add("second") }
        queue.isSuspended = false
        await until { notes.all.count == 3 }
        #expect(notes.all == ["first", "user", "second"])
    }

    @Test("an operation that a callback puts on the queue runs before what comes while that callback runs")
    func behindCallback() async {
        callbacks.add(on: queue) {
            queue.addOperation { notes.add("user") }
            callbacks.add(on: queue) { notes.add("second") }
            notes.add("first")
        }
        await until { notes.all.count == 3 }
        #expect(notes.all == ["first", "user", "second"])
    }

    @Test("the callbacks of one turn of the loop are one operation")
    func together() async {
        queue.isSuspended = true
        loop.post { for number in 0..<5 { callbacks.add(on: queue) { notes.add("\(number)") } } }
        await until { queue.operationCount > 0 }
        #expect(queue.operationCount == 1)
        queue.isSuspended = false
        await until { notes.all.count == 5 }
        #expect(notes.all == ["0", "1", "2", "3", "4"])
    }

    @Test("what a callback puts on the queue runs before callbacks that had come before it, which gather meanwhile")
    func ahead() async {
        let (gate, hasBegun) = (Gate(), Gate())
        callbacks.add(on: queue) {
            hasBegun.open()
            gate.wait()
            notes.add("first")
            queue.addOperation { notes.add("user") }
        }
        await until { hasBegun.isOpen }
        for number in 0..<3 {
            callbacks.add(on: queue) { notes.add("\(number)") }
            // Each in a turn of its own.
            await withCheckedContinuation { continuation in _ = loop.post { loop.post { continuation.resume() } } }
        }
        #expect(queue.operationCount == 1)
        gate.open()
        await until { notes.all.count == 5 }
        #expect(notes.all == ["first", "user", "0", "1", "2"])
    }

    @Test("on a queue of several operations callbacks run one at a time, in order")
    func wide() async {
        queue.maxConcurrentOperationCount = 8
        let busy = Atomic(0)
        let overlaps = Atomic(0)
        for number in 0..<500 {
            callbacks.add(on: queue) {
                if busy.wrappingAdd(1, ordering: .relaxed).newValue > 1 { overlaps.add(1, ordering: .relaxed) }
                notes.add("\(number)")
                busy.wrappingSubtract(1, ordering: .relaxed)
            }
        }
        await until { notes.all.count == 500 }
        #expect(notes.all == (0..<500).map { "\($0)" } && overlaps.load(ordering: .relaxed) == 0)
    }

    @Test("no call is lost if the program cancels all operations of the queue")
    func cancelled() async {
        let gate = Gate()
        queue.addOperation {
            notes.add("user")
            gate.wait()
        }
        await until { !notes.all.isEmpty }
        callbacks.add(on: queue) { notes.add("first") }
        await until { queue.operationCount == 2 }
        queue.cancelAllOperations()
        callbacks.add(on: queue) { notes.add("second") }
        await withCheckedContinuation { continuation in _ = loop.post { continuation.resume() } }
        gate.open()
        await until { notes.all.count == 3 }
        #expect(notes.all == ["user", "first", "second"])
    }

    @Test("a call that waits for room is made once, when half of the weight is gone; if there is room, at once")
    func room() async {
        callbacks.whenRoom { notes.add("room") }
        #expect(notes.all == ["room"])
        queue.isSuspended = true
        let quarter = CallbackQueue.mostWeight / 4
        let hasRoom = (0..<4).map { number in callbacks.add(weight: quarter, on: queue) { notes.add("\(number)") } }
        #expect(hasRoom == [true, true, true, false])
        callbacks.whenRoom { notes.add("room") }
        queue.isSuspended = false
        await until { notes.all.count == 6 }
        #expect(notes.all == ["room", "0", "1", "room", "2", "3"])
    }

    @Test("a call that waits for room is not made once it has been forgotten")
    func forgotten() async {
        queue.isSuspended = true
        callbacks.add(weight: CallbackQueue.mostWeight, on: queue) { notes.add("0") }
        callbacks.whenRoom { notes.add("room") }
        callbacks.forgetRoom()
        callbacks.add(on: queue) { notes.add("1") }
        queue.isSuspended = false
        await until { notes.all.count == 2 }
        #expect(notes.all == ["0", "1"])
    }
}
