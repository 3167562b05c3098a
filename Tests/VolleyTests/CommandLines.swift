@testable import UncurlLoad
@testable import UncurlLoadReports
@testable import UncurlLocust
@testable import volley

/// A command line as a user types it, without the program's name.
func invocation(_ line: [String]) throws(UsageError) -> Invocation {
    switch try Program.parse(line: line) {
    case .run(let command): return try Invocation(command)
    case .command: throw UsageError("another command")
    case .information(let text): throw UsageError("information: \(text)")
    }
}

func invocation(_ line: String...) throws(UsageError) -> Invocation { try invocation(line) }

/// The options that it sets.
func options(_ line: [String]) throws(UsageError) -> LoadOptions { try invocation(line).load }

func options(_ line: String...) throws(UsageError) -> LoadOptions { try options(line) }

/// The error message for the user; nil where there is none.
func complaint(_ line: String...) -> String? {
    do {
        switch try Program.parse(line: line) {
        case .run(let command): _ = try Invocation(command)
        case .information, .command: break
        }
        return nil
    } catch {
        return error.description
    }
}

func plan(_ line: String..., limits: SystemLimits = .usual) throws -> RunPlan {
    guard case .run(let command) = try Program.parse(line: line) else { throw UsageError("no run") }
    let options = try LoadOptions(command)
    return try RunPlan(options, limits)
}
