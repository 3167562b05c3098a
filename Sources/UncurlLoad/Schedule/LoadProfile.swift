/// When each request of an open-loop run is due: successive stages, each with a constant rate or with one that changes
/// evenly.
///
/// Request i, from 0 on, is due at the first whole nanosecond at which the integral of the rate reaches i. No rounding
/// error accumulates, and no request is missing or doubled between two stages. The unit of the integral is a rate unit
/// times a nanosecond, in 128 bits.
package struct LoadProfile: Hashable, Sendable {
    package let stages: [LoadStage<Rate>]
    /// The times of recorded requests, in order. If there are any, there are no stages.
    private let recorded: [UInt64]
    /// The time at which each stage begins, and its value of the integral; those of the end behind them.
    private let times: [UInt64]
    private let positions: [UInt128]

    private static let request = UInt128(Rate.unitsPerRequest) * 1_000_000_000

    package init(_ stages: [LoadStage<Rate>]) {
        self.stages = stages
        recorded = []
        var (times, positions): ([UInt64], [UInt128]) = ([0], [0])
        for (place, stage) in stages.enumerated() {
            times.append(times[place] + stage.duration)
            positions.append(positions[place] + stage.position(at: stage.duration))
        }
        (self.times, self.positions) = (times, positions)
    }

    package init(rate: Rate, duration: UInt64) {
        self.init([LoadStage(duration: duration, from: rate, to: rate)])
    }

    /// Makes a profile of recorded instants, in nanoseconds after the start.
    package init(recorded: [UInt64]) {
        stages = []
        self.recorded = recorded.sorted()
        (times, positions) = ([(recorded.max() ?? 0) + 1], [UInt128(recorded.count) * Self.request])
    }

    /// Whether the instants are recorded ones, each of which belongs to a certain request.
    var isRecorded: Bool { !recorded.isEmpty }

    package var duration: UInt64 { times[times.count - 1] }
    private var whole: UInt128 { positions[positions.count - 1] }

    /// The number of requests that come due.
    package var count: UInt64 {
        // A request exactly at the end belongs to a stage after it.
        UInt64(clamping: (whole + Self.request - 1) / Self.request)
    }

    /// Returns the number of requests that are due by `time`, in nanoseconds after the start.
    package func count(by time: UInt64) -> UInt64 {
        guard time < duration else { return count }
        guard recorded.isEmpty else { return UInt64(recorded.count(upTo: time)) }
        guard let stage = times.dropLast().lastIndex(where: { $0 <= time }) else { return 0 }
        let position = positions[stage] + stages[stage].position(at: time - times[stage])
        let reached = min(count, UInt64(clamping: position / Self.request + 1))
        // Where the rate is 0, the request that the integral has just reached belongs to the next stage.
        var first = 0
        guard reached > 0, let last = due(reached - 1, from: &first), last > time else { return reached }
        return reached - 1
    }

    /// Returns the nanoseconds after the start at which request `index` is due. Nil beyond the end.
    ///
    /// - Parameter stage: The stage to begin with; it becomes the stage of the request. A caller whose indices rise
    ///   passes it again.
    package func due(_ index: UInt64, from stage: inout Int) -> UInt64? {
        let (wanted, overflow) = UInt128(index).multipliedReportingOverflow(by: Self.request)
        guard !overflow, wanted < whole else { return nil }
        return recorded.isEmpty ? time(reaching: wanted, from: &stage) : recorded[Int(index)]
    }

    /// Returns the time when the integral of the rate reaches `position`, in requests, for random arrivals.
    package func due(position: Double, from stage: inout Int) -> UInt64? {
        guard position < 1e27, recorded.isEmpty else { return nil }
        let wanted = UInt128(position * Double(Self.request))
        return wanted < whole ? time(reaching: wanted, from: &stage) : nil
    }

    /// A request exactly between two stages belongs to the later one. A stage at rate 0 has none.
    private func time(reaching wanted: UInt128, from stage: inout Int) -> UInt64 {
        while stage + 1 < stages.count, positions[stage + 1] <= wanted { stage += 1 }
        return times[stage] + stages[stage].time(reaching: wanted - positions[stage])
    }

    package var firstRate: Rate {
        stages.lazy.flatMap { [$0.from, $0.to] }.first { $0 > .zero } ?? .zero
    }

    package var peak: Rate { stages.lazy.map { max($0.from, $0.to) }.max() ?? .zero }

    /// The profile as text: `1000/s`; `1000/s for 30s, then up to 5000/s within 1m`.
    package var description: String {
        if !recorded.isEmpty { return "\(recorded.count) requests at the times they were recorded" }
        if stages.count == 1, let only = stages.first, only.from == only.to { return "\(only.to)" }
        return stages.map { $0.text { "\($0)" } }.joined(separator: ", ")
    }
}

/// How many connections a closed loop keeps busy over time: successive stages, each with a constant number or with one
/// that changes evenly.
package typealias CrowdProfile = [LoadStage<UInt64>]

extension CrowdProfile {
    package var duration: UInt64 { reduce(0) { $0 &+ $1.duration } }
    package var peak: UInt64 { map { Swift.max($0.from, $0.to) }.max() ?? 0 }
    /// The number for a warm-up: the first number that is not zero.
    package var firstCount: UInt64 { lazy.flatMap { [$0.from, $0.to] }.first { $0 > 0 } ?? 0 }

    /// Returns the number at `time`, in nanoseconds after the start. After the end, it is that of the end.
    package func count(at time: UInt64) -> UInt64 {
        var start: UInt64 = 0
        for stage in self where stage.duration > 0 {
            if time - start < stage.duration {
                let rise = Double(stage.to) - Double(stage.from)
                return UInt64(Double(stage.from) + rise * Double(time - start) / Double(stage.duration))
            }
            start += stage.duration
        }
        return last?.to ?? 0
    }

    /// The profile as text: `100 connections for 30 s, from 100 to 500 connections within 1 min`.
    package var words: String { map { $0.text(" connections", grouped) }.joined(separator: ", ") }
}

/// A stage of a load, in which a value is constant or changes evenly.
package struct LoadStage<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The length in nanoseconds.
    package let duration: UInt64
    package let from: Value
    package let to: Value

    package init(duration: UInt64, from: Value, to: Value) {
        (self.duration, self.from, self.to) = (duration, from, to)
    }

    fileprivate func text(_ unit: String = "", _ text: (Value) -> String) -> String {
        let span = timeText(duration)
        return from == to
            ? "\(text(to))\(unit) for \(span)" : "from \(text(from)) to \(text(to))\(unit) within \(span)"
    }
}

extension LoadStage<Rate> {
    /// Returns the integral from the stage's start to `time`, rounded down.
    fileprivate func position(at time: UInt64) -> UInt128 {
        let time = UInt128(time)
        guard from != to else { return UInt128(from.units) * time }
        let span = 2 * UInt128(duration)
        // units · time² / (2 · duration), in an order that stays within 128 bits.
        let change = UInt128(from < to ? to.units - from.units : from.units - to.units) * time
        let (whole, rest) = change.quotientAndRemainder(dividingBy: span)
        let area = whole * time + rest * time / span
        let base = UInt128(from.units) * time
        return from < to ? base + area : base - area
    }

    /// Returns the first nanosecond at which the integral has reached `wanted`, which is before the stage ends.
    fileprivate func time(reaching wanted: UInt128) -> UInt64 {
        guard from != to else {
            let (time, rest) = wanted.quotientAndRemainder(dividingBy: UInt128(from.units))
            return UInt64(clamping: time) + (rest > 0 ? 1 : 0)
        }
        // A guess in floating point, then bisection over whole numbers around it.
        let (start, slope) = (Double(from.units), (Double(to.units) - Double(from.units)) / Double(duration))
        let root = (start * start + 2 * slope * Double(wanted)).squareRoot()
        let guess = 2 * Double(wanted) / (start + root)
        let middle = guess.isFinite && guess > 0 ? UInt64(min(guess, Double(duration))) : 0
        var (low, high, step) = (middle, middle, UInt64(16))
        while low > 0, position(at: low) >= wanted {
            low = low > step ? low - step : 0
            step *= 4
        }
        step = 16
        while high < duration, position(at: high) < wanted {
            high = min(duration, high + step)
            step *= 4
        }
        while low < high {
            let half = low + (high - low) / 2
            if position(at: half) >= wanted { high = half } else { low = half + 1 }
        }
        return low
    }
}
