internal import Foundation

/// The directories of this program's stores, by the XDG Base Directory Specification 0.8.
enum StoreDirectories {
    /// For what can be deleted at any time: `$XDG_CACHE_HOME/<program>`, mostly `~/.cache/<program>`.
    static var cache: String { base("XDG_CACHE_HOME", "/.cache") + "/" + program }

    /// For what a program remembers from one run to the next: `$XDG_STATE_HOME/<program>`, mostly
    /// `~/.local/state/<program>`.
    static var state: String { base("XDG_STATE_HOME", "/.local/state") + "/" + program }

    /// The directory of the folders of background sessions.
    ///
    /// - Parameter base: the parent directory; nil for ``state``.
    static func background(in base: String?) -> String { (base ?? state) + "/background" }

    /// For what is meant to last: `$XDG_DATA_HOME/<program>`, mostly `~/.local/share/<program>`.
    static var data: String { data(of: program) }

    /// The directory of what several programs share: `$XDG_DATA_HOME/<folder>`.
    static func data(of folder: String) -> String { base("XDG_DATA_HOME", "/.local/share") + "/" + folder }

    private static func base(_ variable: String, _ usual: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        // "If an implementation encounters a relative path … it should consider the path invalid and ignore it."
        return environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory() + usual
    }

    /// The program's name as one path component: nothing in a name may lead elsewhere.
    private static var program: String {
        let name = ProcessInfo.processInfo.processName.replacingOccurrences(of: "/", with: "_")
        return name.isEmpty || name.hasPrefix(".") ? "_" + name : name
    }
}
