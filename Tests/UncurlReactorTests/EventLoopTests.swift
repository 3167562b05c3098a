import Glibc
import TestSupport
import Testing

@testable import UncurlReactor

@Suite("Event loop", .ownThread)
struct EventLoopTests {
    // MARK: Registrations

    @Test("a handler hears that bytes wait, and after a hand-over the other handler does")
    func handOver() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let (ours, theirs) = Wire.pair()
        defer { for end in [ours, theirs] { close(end) } }
        let second = Probe { _ in loop.stop() }
        let first = Probe()
        let token = try loop.register(ours, .read, first)
        first.onReady = { _ in loop.handOver(token, to: second) }
        Wire.send(theirs, "x")
        bench.run()
        #expect(first.seen == [.readable])
        #expect(second.seen == [.readable])
    }

    @Test("10,000 times, an event of a batch never reaches the socket that took a closed one's number", .scenario(39))
    func staleTokens() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let trial = StaleTrial(loop, times: 10_000)
        loop.post { [bound = LoopBound(trial, on: loop)] in bound.value.begin() }
        bench.run()
        #expect(trial.crossed == 0)
        #expect(trial.reused == 10_000)
        #expect(loop.registrations == 0)
    }

    @Test("interest decides what is reported, and changes at once")
    func interest() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let (ours, theirs) = Wire.pair()
        defer { for end in [ours, theirs] { close(end) } }
        let probe = Probe()
        let token = try loop.register(ours, [], probe)
        Wire.send(theirs, "x")
        bench.after(turns: 3) {
            #expect(probe.seen == [])
            try? loop.setInterest(token, .write)
            probe.onReady = { _ in
                try? loop.setInterest(token, .read)
                probe.onReady = { _ in loop.stop() }
            }
        }
        bench.run()
        #expect(probe.seen == [.writable, .readable])
    }

    @Test("a message learns what has come at sockets before it was posted, and each handler is called all the same")
    func news() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let (speaking, speaker) = Wire.pair()
        let (ended, ender) = Wire.pair()
        let (quiet, silent) = Wire.pair()
        let (paused, other) = Wire.pair()
        defer { for end in [speaking, speaker, ended, quiet, silent, paused, other] { close(end) } }
        let probes = [Probe(), Probe(), Probe(), Probe()]
        let interests: [Interest] = [.read, .read, .read, []]
        let tokens = try zip([speaking, ended, quiet, paused], zip(interests, probes)).map {
            try loop.register($0, $1.0, $1.1)
        }
        probes[1].onReady = { _ in loop.suspend(tokens[1]) }
        probes[0].onReady = { _ in
            // Not in a message.
            #expect(tokens.allSatisfy { loop.mayHaveNews($0) })
            loop.stop()
        }
        bench.after(turns: 1) {
            // All registrations are older than the look.
            #expect(!loop.mayHaveNews(tokens[2]))
            let late = Instant.current().advanced(by: .milliseconds(1))
            Wire.send(speaker, "x")
            // A child process that another test is starting may still have a copy of the descriptor.
            shutdown(ender, Int32(SHUT_RDWR))
            close(ender)
            while Instant.current() < late {}
            #expect(tokens.map { loop.mayHaveNews($0) } == [true, true, false, true])
        }
        bench.run()
        #expect(probes[0].seen == [.readable])
        #expect(probes[1].seen.count == 1)
        #expect(probes[2].seen.isEmpty)
    }

    @Test("a look that fails counts as news")
    func unknownNews() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let (ours, theirs) = Wire.pair()
        defer { for end in [ours, theirs] { close(end) } }
        let token = try loop.register(ours, .read, Probe())
        bench.after(turns: 1) {
            loop.faults = FaultPlan(failures: [.init(call: 1, of: .epollWait, with: .invalidArgument)])
            #expect(loop.mayHaveNews(token))
            loop.stop()
        }
        bench.run()
    }

    @Test("a paused reader whose peer hangs up is told once, suspends itself, and the loop does not spin")
    func suspended() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let ends = try Peer().connected()
        let probe = Probe()
        let token = try loop.register(ends.client.number, [], probe)
        probe.onReady = { _ in loop.suspend(token) }
        ends.server.resetNow()
        bench.when(
            { !probe.seen.isEmpty },
            then: {
                bench.after(turns: 50) {
                    #expect(probe.seen.count == 1)
                    #expect(!probe.seen[0].isDisjoint(with: [.hungUp, .failed]))
                    // What is changed meanwhile counts from the return on.
                    probe.onReady = { _ in loop.stop() }
                    try? loop.setInterest(token, .read)
                    try? loop.resume(token)
                }
            }
        )
        bench.run()
        #expect(probe.seen.count == 2)
        #expect(probe.seen.last?.contains(.readable) == true)
        loop.suspend(token)
        loop.deregister(token)
        #expect(loop.registrations == 0)
    }

    @Test("without suspension the same peer is reported every turn")
    func unsuspended() throws {
        let bench = try LoopBench()
        let ends = try Peer().connected()
        let probe = Probe()
        _ = try bench.loop.register(ends.client.number, [], probe)
        ends.server.resetNow()
        bench.when({ probe.seen.count > 20 }, then: { bench.loop.stop() })
        bench.run()
        #expect(probe.seen.count > 20)
    }

    @Test("a closed descriptor cannot be registered, and takes no slot")
    func badDescriptor() throws {
        let loop = try EventLoop()
        #expect(throws: Errno(code: EBADF)) { try loop.register(-1, .read, Probe()) }
        #expect(loop.registrations == 0)
    }

    @Test("a handler may end inside the loop's calls, and its deinit may call the loop")
    func handlerEnds() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let (ours, theirs) = Wire.pair()
        defer { for end in [ours, theirs] { close(end) } }
        loop.post {
            let far = Instant.never
            do {
                let token = try loop.register(ours, .read, Leaver(loop, loop.arm(at: far, Alarm())))
                loop.handOver(token, to: Leaver(loop, loop.arm(at: far, Alarm())))
                #expect(loop.armedTimers == 1)
                loop.deregister(token)
                #expect(loop.armedTimers == 0)
                let timer = loop.arm(at: far, Leaver(loop, loop.arm(at: far, Alarm())))
                loop.cancel(timer)
                #expect(loop.armedTimers == 0)
                _ = try loop.register(ours, .read, Leaver(loop, loop.arm(at: far, Alarm())))
                _ = loop.arm(at: far, Leaver(loop, loop.arm(at: far, Alarm())))
            } catch {
                Issue.record(error)
            }
            loop.stop()
        }
        bench.run()
        #expect(loop.registrations == 0)
        #expect(loop.armedTimers == 0)
    }

    @Test(
        "what the look before a timer finds is handled at a time read after that look, not at the turn's",
        .timeLimit(.minutes(1))
    )
    func lookBeforeTimer() throws {
        let bench = try LoopBench(manual: true)
        let loop = bench.loop
        let clock = try #require(bench.clock)
        let (ours, theirs) = Wire.pair()
        defer { for end in [ours, theirs] { close(end) } }
        let start = loop.now
        var heard: Instant?
        let timer = Alarm { _ in loop.stop() }
        _ = loop.arm(at: start.advanced(by: .milliseconds(1)), timer)
        _ = try loop.register(ours, .read, Probe { _ in heard = heard ?? loop.now })
        loop.post { [bound = LoopBound(loop, on: loop)] in
            clock.advance(by: .milliseconds(20), waking: bound.value)
            bound.value.post {
                // The timer has run out in this turn, and the message works for a while after its look at the clock.
                Wire.send(theirs, "x")
                clock.advance(by: .microseconds(7), waking: bound.value)
            }
        }
        bench.run()
        #expect(timer.fired.count == 1)
        #expect(heard == start.advanced(by: .milliseconds(20) + .microseconds(7)))
    }

    // MARK: Fairness

    @Test("a handler that always has work left over holds up neither sockets nor timers nor messages")
    func again() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let (busy, quiet) = (Wire.pair(), Wire.pair())
        let ends = [busy.0, busy.1, quiet.0, quiet.1]
        let greedy = Probe()
        let token = try loop.register(busy.0, .read, greedy)
        greedy.onReady = { _ in loop.reschedule(token) }
        loop.reschedule(token)
        let alarm = Alarm()
        _ = loop.arm(at: loop.now, alarm)
        let patient = Probe { _ in _ = loop.post { loop.stop() } }
        _ = try loop.register(quiet.0, .read, patient)
        bench.when({ !alarm.fired.isEmpty && greedy.seen.count > 100 }, then: { Wire.send(quiet.1, "x") })
        bench.run()
        #expect(greedy.seen.allSatisfy { $0 == .rescheduled })
        #expect(patient.seen.first == .readable)
        for end in ends { close(end) }
    }

    @Test("a letter posted by a letter waits for the next turn")
    func letterChains() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let order = Shared<[Int]>([])
        loop.post {
            loop.post {
                order.change { $0.append(3) }
                loop.stop()
            }
            order.change { $0.append(1) }
        }
        loop.post { order.change { $0.append(2) } }
        bench.run()
        #expect(order.value == [1, 2, 3])
    }

    // MARK: Timers

    @Test("timers fire when a manual clock passes them, in their order, and only then")
    func manualTimers() throws {
        let bench = try LoopBench(manual: true)
        let (loop, clock) = (bench.loop, try #require(bench.clock))
        let fired = Shared<[Int]>([])
        let alarms = [30, 10, 20].map { milliseconds in
            let alarm = Alarm { _ in fired.change { $0.append(milliseconds) } }
            _ = loop.arm(at: loop.now.advanced(by: .milliseconds(milliseconds)), alarm)
            return alarm
        }
        bench.after(turns: 3) {
            #expect(fired.value == [])
            clock.advance(by: .milliseconds(20), waking: loop)
            bench.after(turns: 3) {
                #expect(fired.value.first == 10)
                #expect(!fired.value.contains(30))
                clock.advance(by: .milliseconds(30), waking: loop)
                bench.after(turns: 3) { loop.stop() }
            }
        }
        bench.run()
        #expect(fired.value == [10, 20, 30])
        #expect(alarms.allSatisfy { $0.fired.count == 1 })
    }

    @Test("on the real clock a timer is not early and ends a sleeping wait")
    func realTimer() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let deadline = Instant.current().advanced(by: .milliseconds(12))
        _ = loop.arm(at: deadline, Alarm { _ in loop.stop() })
        bench.run()
        #expect(Instant.current() >= deadline)
        #expect(Instant.current().nanoseconds(since: deadline) < 30_000_000_000)
    }

    @Test("a message's time is not before the message was posted: a timer that it arms is not early")
    func messageTime() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let posted = Shared(Instant.never)
        _ = loop.arm(
            at: loop.now,
            Alarm { _ in
                // The turn grows old before the message is posted.
                while Instant.current().nanoseconds(since: loop.now) < 1_000_000 {}
                posted.change { $0 = .current() }
                loop.post {
                    #expect(loop.now >= posted.value)
                    loop.stop()
                }
            }
        )
        bench.run()
        #expect(posted.value < .never)
    }

    @Test("a timer may arm and cancel others from within its call")
    func nestedTimers() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let victim = Alarm { _ in Issue.record("a cancelled timer fired") }
        let target = loop.arm(at: loop.now.advanced(by: .milliseconds(1)), victim)
        let last = Alarm { _ in loop.stop() }
        _ = loop.arm(
            at: loop.now,
            Alarm { _ in
                loop.cancel(target)
                _ = loop.arm(at: loop.now, last)
            }
        )
        bench.run()
        #expect(last.fired.count == 1)
    }

    @Test("bytes that came before a deadline are read before its timer fires, though a signal ended the wait")
    func interruptedWait() throws {
        let bench = try LoopBench(manual: true)
        let (loop, clock) = (bench.loop, try #require(bench.clock))
        let (ours, theirs) = Wire.pair()
        defer { for end in [ours, theirs] { close(end) } }
        let order = Shared<[String]>([])
        let reader = Probe { _ in order.change { if $0.last != "bytes" { $0.append("bytes") } } }
        let token = try loop.register(ours, .read, reader)
        let timer = Alarm { _ in
            order.change { $0.append("timer") }
            loop.deregister(token)
            loop.stop()
        }
        bench.after(turns: 1) {
            _ = loop.arm(at: loop.now.advanced(by: .seconds(1)), timer)
            // The next wait ends with EINTR; by then the bytes are there and the deadline has passed.
            loop.faults = FaultPlan(failures: [.init(call: 1, of: .epollWait, with: .interrupted)])
            Wire.send(theirs, "x")
            clock.advance(by: .seconds(2), waking: loop)
        }
        bench.run()
        #expect(order.value == ["bytes", "timer"])
    }

    @Test("bytes that came while another handler held the loop are read before the timer that ran out meanwhile")
    func heldLoop() throws {
        let bench = try LoopBench(manual: true)
        let (loop, clock) = (bench.loop, try #require(bench.clock))
        let (ours, theirs) = Wire.pair()
        let (slow, waker) = Wire.pair()
        defer { for end in [ours, theirs, slow, waker] { close(end) } }
        let order = Shared<[String]>([])
        let reader = Probe { _ in order.change { if $0.last != "bytes" { $0.append("bytes") } } }
        let token = try loop.register(ours, .read, reader)
        let holder = Probe()
        let holding = try loop.register(slow, .read, holder)
        holder.onReady = { _ in
            loop.deregister(holding)
            Wire.send(theirs, "x")
            clock.advance(by: .seconds(2), waking: loop)
            loop.stamp()
        }
        let timer = Alarm { _ in
            order.change { $0.append("timer") }
            loop.deregister(token)
            loop.stop()
        }
        _ = loop.arm(at: loop.now.advanced(by: .seconds(1)), timer)
        Wire.send(waker, "x")
        bench.run()
        #expect(order.value == ["bytes", "timer"])
    }

    @Test("messages that came while a handler held the loop are delivered before the timer that ran out meanwhile")
    func heldMessages() throws {
        let bench = try LoopBench(manual: true)
        let (loop, clock) = (bench.loop, try #require(bench.clock))
        let (slow, waker) = Wire.pair()
        defer { for end in [slow, waker] { close(end) } }
        let order = Shared<[String]>([])
        let holder = Probe()
        let holding = try loop.register(slow, .read, holder)
        holder.onReady = { _ in
            loop.deregister(holding)
            loop.post { order.change { $0.append("message") } }
            clock.advance(by: .seconds(2), waking: loop)
            loop.stamp()
        }
        let timer = Alarm { _ in
            order.change { $0.append("timer") }
            loop.stop()
        }
        _ = loop.arm(at: loop.now.advanced(by: .seconds(1)), timer)
        Wire.send(waker, "x")
        bench.run()
        #expect(order.value == ["message", "timer"])
    }

    @Test("on a manual clock the suspend-proof time is the same time")
    func sinceBoot() throws {
        let bench = try LoopBench(manual: true)
        #expect(bench.loop.sinceBoot == bench.loop.now)
    }

    // MARK: Ending

    @Test("a message that a loop has taken runs, even if the loop ends before the poster has signalled it")
    func takenLast() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let run = Shared(false)
        // What a thread does that is held up in the middle of its post, after the loop's last look.
        loop.post { #expect(loop.executor.take(.call { run.change { $0 = true } })) }
        loop.stop()
        bench.run()
        #expect(run.value)
    }

    @Test("letters posted before the stop are delivered, later ones refused, and everything is let go")
    func stopping() throws {
        let bench = try LoopBench()
        let loop = bench.loop
        let (ours, theirs) = Wire.pair()
        defer { for end in [ours, theirs] { close(end) } }
        var probe: Probe? = Probe()
        weak let weakProbe = probe
        _ = try loop.register(ours, .read, probe!)
        probe = nil
        _ = loop.arm(at: .never, Alarm())
        let delivered = Shared(0)
        loop.post { delivered.change { $0 += 1 } }
        loop.stop()
        loop.stop()
        loop.post { delivered.change { $0 += 1 } }
        #expect(weakProbe != nil)
        bench.run()
        #expect(delivered.value == 2)
        #expect(weakProbe == nil)
        #expect(loop.registrations == 0)
        #expect(loop.armedTimers == 0)
        #expect(!loop.post { Issue.record("ran after the end") })
        #expect(!loop.isCurrent)
    }
}

/// Two sockets ready in one batch; the first to be called closes the other and registers a new one, which gets
/// its number and its slot.
private final class StaleTrial {
    private let loop: EventLoop
    private let times: Int
    private var rounds = 0
    private var tokens: [CInt: Token] = [:]
    private var peers: [CInt] = []
    private(set) var crossed = 0
    private(set) var reused = 0

    init(_ loop: EventLoop, times: Int) {
        self.loop = loop
        self.times = times
    }

    /// Begins a round. In some, a parallel test has taken the number; these do not count.
    func begin() {
        guard reused < times, rounds < 10 * times else { return loop.stop() }
        rounds += 1
        for _ in 0..<2 {
            let (ours, theirs) = Wire.pair()
            tokens[ours] = try? loop.register(ours, .read, Probe { _ in self.firstReady(ours) })
            peers.append(theirs)
            Wire.send(theirs, "x")
        }
    }

    private func firstReady(_ first: CInt) {
        guard let second = tokens.keys.first(where: { $0 != first }), let token = tokens[second] else { return }
        loop.deregister(token)
        close(second)
        let (ours, theirs) = Wire.pair()
        let innocent = Probe { _ in self.crossed += 1 }
        tokens[ours] = try? loop.register(ours, .read, innocent)
        peers.append(theirs)
        if ours == second { reused += 1 }
        tokens[second] = tokens[ours]
        if let token = tokens[first] { loop.deregister(token) }
        close(first)
        // A turn later the batch is over.
        loop.post { [bound = LoopBound(self, on: loop)] in bound.value.end(ours) }
    }

    private func end(_ open: CInt) {
        if let token = tokens[open] { loop.deregister(token) }
        close(open)
        for peer in peers { close(peer) }
        peers = []
        tokens = [:]
        begin()
    }
}

/// Calls the loop as it ends.
private final class Leaver: ReadinessHandler, TimerHandler {
    private let loop: EventLoop
    private let timer: TimerID

    init(_ loop: EventLoop, _ timer: TimerID) {
        self.loop = loop
        self.timer = timer
    }

    func ready(_ readiness: Readiness) {}
    func timerFired(_ id: TimerID) {}

    deinit { loop.cancel(timer) }
}
