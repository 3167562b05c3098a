import UncurlEngine
import UncurlReactor

/// Keeps so many exchanges under way at once until it is told to end. Loop-confined.
final class Walk {
    struct Tally: Sendable {
        var begun = 0
        var whole = 0
        var failed = 0
        var cancelled = 0
        var retried = 0
        var reused = 0
        var wrong = 0
        /// The first few, with the request's target.
        var complaints: [String] = []

        var ended: Int { whole + failed + cancelled + wrong }
    }

    private static let complaintsKept = 20

    let engine: Engine
    var dice: Dice
    var pauses = 0
    private(set) var tally = Tally()
    private let errand: (UInt64, inout Dice) throws -> Errand
    private let limit: Int
    private let meddles: Bool
    private var isEnding = false
    private var visits: [ObjectIdentifier: Visit] = [:]
    private let whenOver: () -> Void

    /// - Parameters:
    ///   - limit: exchanges in all.
    ///   - meddles: pauses and cancels by the dice.
    ///   - whenOver: called once, when nothing is begun any more and everything has ended.
    init(
        _ engine: Engine,
        seed: UInt64,
        limit: Int = .max,
        meddles: Bool = true,
        errand: @escaping (UInt64, inout Dice) throws -> Errand,
        whenOver: @escaping () -> Void
    ) {
        self.engine = engine
        dice = Dice(seed: seed)
        self.limit = limit
        self.meddles = meddles
        self.errand = errand
        self.whenOver = whenOver
    }

    var underWay: Int { visits.count }

    func start(_ parallel: Int) { for _ in 0..<parallel { next() } }

    func end() { isEnding = true }

    func ended(_ visit: Visit, _ verdict: Verdict, _ report: ExchangeReport) {
        guard visits.removeValue(forKey: ObjectIdentifier(visit)) != nil else {
            return complain("an outcome for nobody")
        }
        switch verdict {
        case .whole: tally.whole += 1
        case .failed: tally.failed += 1
        case .cancelled: tally.cancelled += 1
        case .wrong(let reason): complain("\(reason) (\(visit.target), status \(report.status ?? 0))")
        }
        if report.retried { tally.retried += 1 }
        if report.reusedConnection { tally.reused += 1 }
        next()
        if isEnding || tally.begun >= limit, visits.isEmpty { whenOver() }
    }

    private func complain(_ text: String) {
        tally.wrong += 1
        if tally.complaints.count < Walk.complaintsKept { tally.complaints.append(text) }
    }

    private func next() {
        guard !isEnding, tally.begun < limit else { return }
        tally.begun += 1
        do {
            let visit = Visit(try errand(UInt64(tally.begun), &dice), walk: self, meddles: meddles)
            visits[ObjectIdentifier(visit)] = visit
            visit.start()
        } catch {
            complain("no request: \(error)")
        }
    }
}
