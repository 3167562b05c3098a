import Foundation
import TestSupport

func volley(_ arguments: [String], interruptOnce condition: (() -> Bool)? = nil) throws -> EndedProgram {
    try EndedProgram(built: "volley", arguments, interruptOnce: condition)
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
