import UncurlEngine
import UncurlHTTP1
import UncurlReactor

/// One exchange of the soak: checks every byte, pauses and cancels by the dice, and tells its walk how it ended.
final class Visit: ExchangeDelegate, TimerHandler {
    private unowned let walk: Walk
    private let errand: Errand
    /// Whether the dice may pause and cancel it.
    private let meddles: Bool
    private var id: ExchangeID?
    private var received = 0
    private var isCorrupt = false
    private var outcomes = 0
    private var upload: ArraySlice<[UInt8]>
    private var waitsForBody = false
    private var isPaused = false
    private var isCancelled = false
    private var timers: [(id: TimerID, call: (Visit) -> Void)] = []

    var target: String { errand.request.target }

    init(_ errand: Errand, walk: Walk, meddles: Bool) {
        self.meddles = meddles
        self.errand = errand
        self.walk = walk
        upload = errand.upload[...]
    }

    func start() {
        id = walk.engine.start(errand.request, delegate: self)
        if meddles, walk.dice.chance(8) { later(within: 100) { $0.cancel() } }
    }

    func exchange(_ id: ExchangeID, didReceive head: ResponseHead) {}

    func exchange(_ id: ExchangeID, didReceive bytes: Span<UInt8>) {
        if let pattern = errand.pattern {
            for index in bytes.indices where bytes[index] != pattern.byte(received + index) { isCorrupt = true }
        }
        received += bytes.count
        guard meddles, !isPaused, walk.dice.chance(8) else { return }
        isPaused = true
        walk.pauses += 1
        walk.engine.pause(id)
        later(within: 60) { visit in
            visit.isPaused = false
            if let id = visit.id { visit.walk.engine.resume(id) }
        }
    }

    func exchange(_ id: ExchangeID, needsBodyAt offset: UInt64) -> BodyPart {
        guard let part = upload.first else { return .end(trailers: nil) }
        if !waitsForBody, walk.dice.chance(30) {
            waitsForBody = true
            later(within: 20) { visit in if let id = visit.id { visit.walk.engine.bodyReady(id) } }
            return .later
        }
        waitsForBody = false
        upload = upload.dropFirst()
        return .bytes(part)
    }

    func exchange(_ id: ExchangeID, didFinish outcome: Outcome, report: ExchangeReport) {
        outcomes += 1
        for timer in timers { walk.engine.loop.cancel(timer.id) }
        timers = []
        self.id = nil
        walk.ended(self, verdict(outcome), report)
    }

    func timerFired(_ id: TimerID) {
        guard let index = timers.firstIndex(where: { $0.id == id }) else { return }
        timers.remove(at: index).call(self)
    }

    private func later(within milliseconds: Int, _ call: @escaping (Visit) -> Void) {
        let loop = walk.engine.loop
        let id = loop.arm(at: loop.now.advanced(by: .milliseconds(walk.dice.below(milliseconds))), self)
        timers.append((id, call))
    }

    private func cancel() {
        guard let id else { return }
        isCancelled = true
        walk.engine.cancel(id)
    }

    private func verdict(_ outcome: Outcome) -> Verdict {
        if outcomes > 1 { return .wrong("a second outcome") }
        if isCorrupt { return .wrong("bytes of somebody else's") }
        switch outcome {
        case .failed(.cancelled):
            return isCancelled ? .cancelled : .wrong("cancelled by nobody")
        case .completed:
            if case .failure = errand.expectation { return .wrong("a cut answer passed for whole") }
            if let size = errand.size, size != received {
                return .wrong("\(received) of \(size) bytes passed for whole")
            }
            return .whole
        case .failed(let error):
            switch (errand.expectation, error) {
            case (.failure, .closedBeforeResponse), (.failure, .truncatedHead), (.failure, .truncatedBody),
                (.failure, .timedOut(.idle)), (.wholeOrClosed, .closedBeforeResponse):
                return .failed
            default:
                return .wrong("\(error)")
            }
        }
    }
}

/// How a visit ended, seen from what it was sent for.
enum Verdict {
    case whole, failed, cancelled
    /// Against what was expected, or against any expectation.
    case wrong(String)
}
