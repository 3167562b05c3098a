public import URLLoading

/// How many interceptors wait for each other: one that sends a request through its own manager is asked about that
/// request too.
enum InterceptionDepth {
    /// A credential that is fetched through a manager whose interceptor fetches another is two. What goes deeper than
    /// this comes to no end.
    static let deepest = 16

    @TaskLocal private static var depth = 0

    /// Runs what interceptors do, one level deeper.
    static func within<Made>(_ body: () async throws -> Made) async throws -> Made {
        guard depth < deepest else { throw InterceptionFailure.tooDeep(limit: deepest) }
        return try await $depth.withValue(depth + 1, operation: body)
    }
}

/// What is wrong with how interceptors are used.
@frozen public enum InterceptionFailure: Error, Hashable, Sendable {
    /// An interceptor sends requests through the manager that asks it: so many of them wait for each other.
    case tooDeep(limit: Int)
}

extension InterceptionFailure {
    /// An interceptor hears of it from the last request that it sent, and tells it on: one word for all levels.
    init?(beneath error: any Error) {
        switch error {
        case let failure as InterceptionFailure: self = failure
        case UncurlError.adaptation(let cause as InterceptionFailure): self = cause
        case UncurlError.retry(let cause as InterceptionFailure, _): self = cause
        default: return nil
        }
    }
}

extension InterceptionFailure: LocalizedError, CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooDeep(let limit):
            "\(limit) interceptors wait for each other: an interceptor sends requests that it is asked about itself"
        }
    }

    public var errorDescription: String? { description }
}
