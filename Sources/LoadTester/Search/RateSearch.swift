/// Finds the highest rate that is good enough: doubling, then bisection, then the same rate once more to be sure. Decides, and
/// runs nothing.
///
/// ```
///   doubling ──a rate fails──▶ halving the gap ──gap < 5 %──▶ confirming ──good again──▶ found
///      └──the first fails──▶ halving down ─────▶┘                  └──fails──▶ confirming a lower one
/// ```
struct RateSearch: Sendable {
    enum Step: Hashable, Sendable {
        case trial(Rate)
        /// The highest rate that was good, twice.
        case found(Rate)
        /// No rate was good.
        case none
    }

    /// How near to the first rate that fails one has to come.
    static let precision = 1.05
    /// 2^20 up or down, and the bisection behind it; a machine whose speed changes all the time finds no end otherwise.
    static let trialLimit = 48

    private var good: Double?
    private var bad: Double?
    private var rate: Double
    private var isConfirming = false
    private var trials = 0

    init(from rate: Rate) { self.rate = rate.perSecond }

    var step: Step {
        guard trials < Self.trialLimit, rate >= 1e-3, rate <= Rate.highest.perSecond else {
            return good.map { .found(Rate(nearest: $0)) } ?? .none
        }
        return isDone ? .found(Rate(nearest: rate)) : .trial(Rate(nearest: rate))
    }

    private var isDone = false

    /// What came of the last trial.
    mutating func record(isGood: Bool) {
        trials += 1
        if isConfirming {
            if isGood {
                isDone = true
            } else {
                // Good once and bad once is no rate to rely on.
                bad = rate
                good = nil
                rate /= Self.precision
            }
            return
        }
        if isGood { good = rate } else { bad = rate }
        switch (good, bad) {
        case (let good?, let bad?) where bad / good <= Self.precision:
            isConfirming = true
            rate = good
        case (let good?, let bad?): rate = (good * bad).squareRoot()
        case (let good?, nil): rate = good * 2
        case (nil, let bad?): rate = bad / 2
        case (nil, nil): break
        }
    }
}
