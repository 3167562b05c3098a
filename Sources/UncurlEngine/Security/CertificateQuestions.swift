internal import UncurlReactor

/// Questions about certificates that wait for their answer: whether one is trusted, or which one to show. Each question
/// has a number, so that it is answered only once, and not after its connection was given up.
struct CertificateQuestions<Answer> {
    private var waiting: [UInt64: (Answer) -> Void] = [:]
    private var last: UInt64 = 0

    var count: Int { waiting.count }

    mutating func add(_ then: @escaping (Answer) -> Void) -> UInt64 {
        last += 1
        waiting[last] = then
        return last
    }

    mutating func take(_ number: UInt64) -> ((Answer) -> Void)? { waiting.removeValue(forKey: number) }
}
