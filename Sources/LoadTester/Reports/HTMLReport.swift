enum HTMLReport { static func text(_ result: RunResult) -> String { "" } }
