internal import Foundation

/// The time of day as the rules of HTTP semantics count it.
enum UnixTime {
    /// In whole seconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970) }
}
