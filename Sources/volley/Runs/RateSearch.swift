import UncurlLoad

/// Finds the highest rate that keeps a goal: it doubles the rate, then bisects, then confirms the result by another
/// run. It only decides which rate is tried next; the caller makes the runs.
///
/// ```
///   bracketing ──bad / good ≤ 1.05──▶ confirming ──good twice──▶ found
///                                       │     ▲
///                                       └─bad─┘ a lower rate: 5 % lower, then 10 %, 21 %, 46 % …
/// ```
struct RateSearch: Sendable {
    enum Step: Hashable, Sendable {
        case trial(Rate)
        /// The highest rate that was good twice.
        case found(Rate)
        /// No rate was good.
        case none
    }

    /// The result of a trial at one rate.
    enum Trial: Hashable, Sendable {
        case good, bad
        /// The goal was missed, but volley was the limit, so nothing is known of this rate.
        case unclear
    }

    private enum Phase: Hashable, Sendable {
        case bracketing
        /// - Parameters:
        ///   - goods: how often the rate was good.
        ///   - drop: the divisor of the rate if it is not good.
        case confirming(goods: Int, drop: Double)
        case done
    }

    /// The search ends when the first bad rate is at most this factor above the last good one.
    static let precision = 1.05
    /// The most trials: enough for a factor of 2^20 and the bisection. Without this limit, a search on a machine of
    /// changing speed might never end.
    static let trialLimit = 48

    private var good: Double?
    private var bad: Double?
    private var rate: Double
    private var phase = Phase.bracketing
    private var trials = 0
    private var wasUnclear = false
    /// Whether a higher rate was missed while volley was the limit: then the server may take more.
    private(set) var isLimitedAbove = false
    /// The search does not go below this rate, in requests per second.
    private let lowest: Double

    /// - Parameters:
    ///   - rate: The first rate.
    ///   - lowest: The rate at which a trial has one request. A lower rate would not even have that.
    init(from rate: Rate, notBelow lowest: Rate) {
        self.rate = rate.perSecond
        self.lowest = min(lowest.perSecond, rate.perSecond)
    }

    var step: Step {
        if phase == .done { return .found(Rate(nearest: rate)) }
        guard trials < Self.trialLimit, rate >= lowest, rate <= Rate.highest.perSecond else {
            return good.map { .found(Rate(nearest: $0)) } ?? .none
        }
        return .trial(Rate(nearest: rate))
    }

    /// Whether the next trial is the last if it is good.
    var isConfirming: Bool { if case .confirming(goods: 1, _) = phase { true } else { false } }

    /// How far the highest good rate may be above the found one, as a share of the found one. Infinite if no rate was
    /// bad.
    var uncertainty: Double { bad.map { $0 / rate - 1 } ?? .infinity }

    /// Records the result of the last trial. An unclear trial is repeated once.
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

    /// A rate that was good once and bad once is not reliable. Each such rate lowers the next by a larger step, so that
    /// the search ends soon where results vary.
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
