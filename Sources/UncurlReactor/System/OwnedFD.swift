internal import CUncurlLinux

/// A file descriptor with exactly one owner. It is closed when the owner is released.
///
/// `close` is never repeated after EINTR: Linux has released the number by then, and another thread may already have it
/// (close(2), NOTES).
public struct OwnedFD: ~Copyable, Sendable {
    /// The descriptor's number, valid as long as this value is.
    public let number: CInt

    /// Takes over `number`; nothing else may close it from here on.
    public init(taking number: CInt) {
        self.number = number
        #if DEBUG
        FaultPlan.current?.opened(number)
        #endif
    }

    deinit {
        #if DEBUG
        FaultPlan.current?.closed(number)
        #endif
        _ = close(number)
    }

    /// Gives the descriptor away without closing it.
    public consuming func release() -> CInt {
        let number = number
        #if DEBUG
        FaultPlan.current?.closed(number)
        #endif
        discard self
        return number
    }
}
