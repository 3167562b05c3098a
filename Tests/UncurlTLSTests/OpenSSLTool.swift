import TestSupport

/// The distribution's own `openssl`.
enum OpenSSLTool {
    /// - Returns: the exit status.
    @discardableResult
    static func run(_ arguments: [String]) throws -> Int32 {
        try EndedProgram("/usr/bin/openssl", arguments).status
    }

    /// What it writes to both outputs.
    static func output(_ arguments: [String]) throws -> String {
        let ended = try EndedProgram("/usr/bin/openssl", arguments)
        return ended.out + ended.err
    }
}
