import LoadGenerator

/// Finds the highest rate that is good enough: doubling, then bisection, then the same rate once more to be sure.
/// Decides, and runs nothing.
///
/// ```
///   bracketing ──bad / good ≤ 1.05──▶ confirming ──good twice──▶ found
///                                       │     ▲
///                                       └─bad─┘ a lower rate: 5 % lower, then 10 %, 21 %, 46 % …
/// ```
struct RateSearch: Sendable {
    enum Step: Hashable, Sendable {
        case trial(Rate)
        /// The highest rate that was good, twice.
        case found(Rate)
        /// No rate was good.
        case none
    }

    /// What a trial has shown of its rate.
    enum Trial: Hashable, Sendable {
        case good, bad
        /// It missed the goal, and volley was the limit: of this rate nothing is known.
        case unclear
    }

    private enum Phase: Hashable, Sendable {
        case bracketing
        /// - Parameters:
        ///   - goods: how often the rate was good.
        ///   - drop: by what it is divided if it is not.
        case confirming(goods: Int, drop: Double)
        case done
    }

    /// How near to the first rate that fails one has to come.
    static let precision = 1.05
    /// 2^20 up or down, and the bisection behind it; a machine whose speed changes all the time finds no end otherwise.
    static let trialLimit = 48

    private var good: Double?
    private var bad: Double?
    private var rate: Double
    private var phase = Phase.bracketing
    private var trials = 0
    private var wasUnclear = false
    /// The rate above the one that was found was missed when volley was the limit: the server may take more.
    private(set) var isLimitedAbove = false

    init(from rate: Rate) { self.rate = rate.perSecond }

    var step: Step {
        if phase == .done { return .found(Rate(nearest: rate)) }
        guard trials < Self.trialLimit, rate >= 1e-3, rate <= Rate.highest.perSecond else {
            return good.map { .found(Rate(nearest: $0)) } ?? .none
        }
        return .trial(Rate(nearest: rate))
    }

    /// The next trial is the last, if it is good.
    var isConfirming: Bool { if case .confirming(goods: 1, _) = phase { true } else { false } }

    /// How far the rate that was found may lie below one that is good, as a share of it; infinite if none was bad.
    var uncertainty: Double { bad.map { $0 / rate - 1 } ?? .infinity }

    /// What came of the last trial. One that is unclear is made again, once.
    mutating func record(_ trial: Trial) {
        trials += 1
        if trial == .unclear, !wasUnclear {
            wasUnclear = true
            return
        }
        wasUnclear = false
        let isGood = trial == .good
        if !isGood { isLimitedAbove = trial == .unclear }
        switch phase {
        case .bracketing: bracket(isGood)
        case .confirming(let goods, let drop): confirm(isGood, goods, drop)
        case .done: break
        }
    }

    private mutating func bracket(_ isGood: Bool) {
        if isGood { good = rate } else { bad = rate }
        switch (good, bad) {
        case (let good?, let bad?) where bad / good <= Self.precision:
            phase = .confirming(goods: 1, drop: Self.precision)
            rate = good
        case (let good?, let bad?): rate = (good * bad).squareRoot()
        case (let good?, nil): rate = good * 2
        case (nil, let bad?): rate = bad / 2
        case (nil, nil): break
        }
    }

    /// Good once and bad once is no rate to rely on. Each time the next is farther below, so that the search ends soon
    /// where everything is now good and now bad.
    private mutating func confirm(_ isGood: Bool, _ goods: Int, _ drop: Double) {
        if isGood {
            phase = goods == 1 ? .done : .confirming(goods: 1, drop: drop)
        } else {
            (good, bad) = (nil, rate)
            phase = .confirming(goods: 0, drop: drop * drop)
            rate /= drop
        }
    }
}
