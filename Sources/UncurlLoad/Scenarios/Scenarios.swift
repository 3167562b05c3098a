/// The visits of a run's virtual users. All threads share them.
package final class Scenarios: Sendable {
    /// Rows of values. Each visit has one of them.
    ///
    /// - first: The number of the first column's variable. The others follow it.
    package typealias Table = (first: Int, rows: [[[UInt8]]], isRandom: Bool)

    package let all: [Scenario]
    /// The steps, one for each of the run's inputs, in the same order.
    let steps: [ScenarioStep]
    package let tables: [Table]
    private let variables: [[UInt8]]
    private let sums: [UInt64]

    package init(_ all: [Scenario], steps: [ScenarioStep], tables: [Table] = [], variables: [[UInt8]] = []) {
        (self.all, self.steps, self.tables, self.variables) = (all, steps, tables, variables)
        sums = all.map(\.weight).runningSums
    }

    /// Whether a visit depends on the number of visits before it.
    var isNumbered: Bool { tables.contains { !$0.isRandom && $0.rows.count > 1 } }

    var inspects: Bool { steps.contains { $0.inspects } }

    /// Returns a visit, and the values that it begins with.
    func begin(_ number: UInt64, _ shard: Shard, _ random: inout RandomStream) -> (ScenarioVisit, [[UInt8]]) {
        var values = variables
        for table in tables where !table.rows.isEmpty {
            let row =
                table.isRandom
                ? Int.random(in: table.rows.indices, using: &random)
                : Int(shard.place(of: number, in: UInt64(table.rows.count)))
            for (column, value) in table.rows[row].enumerated() where values.indices.contains(table.first + column) {
                values[table.first + column] = value
            }
        }
        return (ScenarioVisit(all[sums.index(byChance: &random)]), values)
    }
}

/// A part of a visit, as a file describes it.
package indirect enum ScenarioPart: Sendable {
    /// A request, given by the number of its step.
    case step(Int)
    case pause(Pause)
    case loop(Int, [ScenarioPart])
    /// One of several ways, chosen by their weights.
    case choice([Way])

    package typealias Way = (weight: UInt64, parts: [ScenarioPart])

    /// Returns the least number of requests. A visit or a round without a request would begin again without end.
    package static func leastRequests(_ parts: [ScenarioPart]) -> Int {
        parts.reduce(0) { sum, part in
            switch part {
            case .step: sum + 1
            case .pause: sum
            case .loop(_, let parts): sum + leastRequests(parts)
            case .choice(let ways): sum + (ways.map { leastRequests($0.parts) }.min() ?? 0)
            }
        }
    }
}

/// A scenario as a list of instructions, so that a visit's place in it is a number.
package struct Scenario: Sendable {
    fileprivate enum Instruction: Sendable {
        case send(Int)
        case pause(Pause)
        /// Begins a loop at that depth of nesting.
        case enter(depth: Int)
        /// Ends a round. The next round begins at `from`, until there were `rounds`.
        case again(depth: Int, rounds: Int, from: Int)
        /// Continues at one of these places, chosen by the sums of their weights.
        case choose([Int], sums: [UInt64])
        case jump(Int)
    }

    fileprivate private(set) var instructions: [Instruction] = []
    fileprivate private(set) var depth = 0

    package let name: String
    /// How often it is chosen, relative to the others.
    let weight: UInt64

    package init(name: String, weight: UInt64, _ parts: [ScenarioPart]) {
        (self.name, self.weight) = (name, weight)
        append(parts, depth: 0)
    }

    private mutating func append(_ parts: [ScenarioPart], depth: Int) {
        self.depth = max(self.depth, depth)
        for part in parts {
            switch part {
            case .step(let step): instructions.append(.send(step))
            case .pause(let pause): instructions.append(.pause(pause))
            case .loop(let rounds, let parts):
                instructions.append(.enter(depth: depth))
                let start = instructions.count
                append(parts, depth: depth + 1)
                instructions.append(.again(depth: depth, rounds: rounds, from: start))
            case .choice(let ways): append(ways, depth)
            }
        }
    }

    private mutating func append(_ ways: [ScenarioPart.Way], _ depth: Int) {
        let place = instructions.count
        instructions.append(.jump(0))
        var (starts, ends): ([Int], [Int]) = ([], [])
        for way in ways {
            starts.append(instructions.count)
            append(way.parts, depth: depth)
            ends.append(instructions.count)
            instructions.append(.jump(0))
        }
        for end in ends { instructions[end] = .jump(instructions.count) }
        instructions[place] = .choose(starts, sums: ways.map(\.weight).runningSums)
    }
}

/// A visit's way through a scenario: which request is next, and after which pause.
package struct ScenarioVisit: Sendable {
    private let scenario: Scenario
    private var place = 0
    /// The number of rounds made, by the depth of the loop.
    private var rounds: [Int]

    package init(_ scenario: Scenario) {
        self.scenario = scenario
        rounds = [Int](repeating: 0, count: scenario.depth)
    }

    /// Returns the next request's step, nil at the end, and the nanoseconds to rest before it.
    package mutating func next(_ random: inout RandomStream) -> (step: Int?, pause: UInt64) {
        var pause: UInt64 = 0
        while place < scenario.instructions.count {
            let instruction = scenario.instructions[place]
            place += 1
            switch instruction {
            case .send(let step): return (step, pause)
            case .pause(let length): pause &+= length.length(&random)
            case .enter(let depth): rounds[depth] = 0
            case .again(let depth, let count, let start):
                rounds[depth] += 1
                if rounds[depth] < count { place = start }
            case .choose(let places, let sums): place = places[sums.index(byChance: &random)]
            case .jump(let target): place = target
            }
        }
        return (nil, pause)
    }
}
