/// What the virtual users of a run do in their visits. Shared by all threads.
package final class Scenarios: Sendable {
    package struct Scenario: Sendable {
        package let name: String
        let weight: UInt64
        let program: ScenarioProgram

        package init(name: String, weight: UInt64, _ parts: [ScenarioPart]) {
            (self.name, self.weight, program) = (name, weight, ScenarioProgram(parts))
        }
    }

    /// Rows of values; each visit has one of them.
    package struct Table: Sendable {
        /// The number of the first column's variable; the others follow.
        let first: Int
        package let rows: [[[UInt8]]]
        let order: RequestOrder

        package init(first: Int, rows: [[[UInt8]]], order: RequestOrder) {
            (self.first, self.rows, self.order) = (first, rows, order)
        }
    }

    package let all: [Scenario]
    /// As many as the run has inputs, in their order.
    let steps: [ScenarioStep]
    package let tables: [Table]
    /// What each visit begins with.
    private let variables: [[UInt8]]
    private let sums: [UInt64]

    package init(_ all: [Scenario], steps: [ScenarioStep], tables: [Table] = [], variables: [[UInt8]] = []) {
        (self.all, self.steps, self.tables, self.variables) = (all, steps, tables, variables)
        sums = all.map(\.weight).runningSums
    }

    /// What a visit is depends on how many were begun before.
    var isNumbered: Bool { tables.contains { $0.order == .inOrder && $0.rows.count > 1 } }

    var inspects: Bool { steps.contains { $0.inspects } }

    /// A visit, and the values it begins with.
    ///
    /// - Parameter number: the visit's among those of all threads and parts.
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
