/// The visits of a run's virtual users. All threads share them.
package final class Scenarios: Sendable {
    package struct Scenario: Sendable {
        package let name: String
        let weight: UInt64
        let program: ScenarioProgram

        package init(name: String, weight: UInt64, _ parts: [ScenarioPart]) {
            (self.name, self.weight, program) = (name, weight, ScenarioProgram(parts))
        }
    }

    /// Rows of values. Each visit has one of them.
    package struct Table: Sendable {
        /// The number of the first column's variable. The others follow it.
        let first: Int
        package let rows: [[[UInt8]]]
        let order: RequestOrder

        package init(first: Int, rows: [[[UInt8]]], order: RequestOrder) {
            (self.first, self.rows, self.order) = (first, rows, order)
        }
    }

    package let all: [Scenario]
    /// The steps, one for each of the run's inputs, in the same order.
    let steps: [ScenarioStep]
    package let tables: [Table]
    /// The values that each visit begins with.
    private let variables: [[UInt8]]
    private let sums: [UInt64]

    package init(_ all: [Scenario], steps: [ScenarioStep], tables: [Table] = [], variables: [[UInt8]] = []) {
        (self.all, self.steps, self.tables, self.variables) = (all, steps, tables, variables)
        sums = all.map(\.weight).runningSums
    }

    /// Whether a visit depends on the number of visits before it.
    var isNumbered: Bool { tables.contains { $0.order == .inOrder && $0.rows.count > 1 } }

    var inspects: Bool { steps.contains { $0.inspects } }

    /// Returns a visit, and the values that it begins with.
    ///
    /// - Parameter number: The visit's number among those of all threads and parts.
    func begin(_ number: UInt64, _ shard: Shard, _ random: inout RandomStream) -> (ScenarioVisit, [[UInt8]]) {
        var values = variables
        for table in tables where !table.rows.isEmpty {
            let row =
                switch table.order {
                case .inOrder: Int(shard.place(of: number, in: UInt64(table.rows.count)))
                case .random: Int.random(in: table.rows.indices, using: &random)
                }
            for (column, value) in table.rows[row].enumerated() where values.indices.contains(table.first + column) {
                values[table.first + column] = value
            }
        }
        return (ScenarioVisit(all[sums.index(byChance: &random)].program), values)
    }
}
