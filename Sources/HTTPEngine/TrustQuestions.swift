internal import Reactor
internal import TLS

/// Questions about certificates that wait for their answer. A number makes each answer count once, and none that comes
/// after the connection was given up.
struct TrustQuestions {
    private var waiting: [UInt64: (TrustVerdict) -> Void] = [:]
    private var last: UInt64 = 0

    var count: Int { waiting.count }

    mutating func add(_ then: @escaping (TrustVerdict) -> Void) -> UInt64 {
        last += 1
        waiting[last] = then
        return last
    }

    mutating func take(_ number: UInt64) -> ((TrustVerdict) -> Void)? { waiting.removeValue(forKey: number) }
}
