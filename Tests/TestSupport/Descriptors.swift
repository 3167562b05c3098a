import Glibc

/// Takes a process's descriptors away. For a process of a test's own.
public enum Descriptors {
    /// Takes all that are free, and returns them; nil if their number cannot be limited.
    public static func taken() -> [CInt]? {
        var limit = rlimit(rlim_cur: 256, rlim_max: 256)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        var taken: [CInt] = []
        while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
        return taken
    }
}
