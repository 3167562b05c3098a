import Foundation
import TestSupport

/// - Parameter arguments: without a timeout among them, it is a minute: wrk's two seconds pass on a loaded machine.
func volley(_ arguments: [String], interruptOnce condition: (() -> Bool)? = nil) throws -> EndedProgram {
    let isTimed = !Set(arguments).isDisjoint(with: ["-T", "--timeout"])
    return try EndedProgram(
        built: "volley",
        (isTimed ? [] : ["--timeout", "60s"]) + arguments,
        interruptOnce: condition
    )
}

extension EndedProgram {
    /// What `--format json` wrote.
    var report: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(out.utf8))) as? [String: Any] ?? [:]
    }

    func number(_ section: String, _ name: String) -> Int? {
        (report[section] as? [String: Any])?[name] as? Int
    }
}
