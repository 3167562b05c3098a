public import UncurlReactor

/// An instant that may not have come, in eight bytes: an optional instant takes sixteen, and ten thousand exchanges
/// hold five each.
@propertyWrapper
public struct CompactInstant: Hashable, Sendable {
    private var nanoseconds: Int64 = 0

    /// Makes an instant that has not come.
    public init() {}

    /// The instant; nil until it has come.
    public var wrappedValue: Instant? {
        get { nanoseconds == 0 ? nil : Instant(nanoseconds: nanoseconds) }
        set { nanoseconds = newValue?.nanoseconds ?? 0 }
    }
}
