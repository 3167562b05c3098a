import Glibc

/// The wall clock of this process. It can be stepped if `Fuzz/clock.c` was loaded before the program, as `tools/chaos`
/// does.
enum WallClock {
    private static let setter = dlsym(nil, "uncurl_set_clock").map {
        unsafeBitCast($0, to: (@convention(c) (Int64) -> Void).self)
    }

    static var canStep: Bool { setter != nil }

    /// Sets the clock a number of seconds ahead of the machine's clock, or behind it if the number is negative.
    static func step(ahead seconds: Int) { setter?(Int64(seconds)) }
}
