public import URLLoading

/// Counts how many interceptors wait for each other. An interceptor that sends a request through its own manager is
/// called for that request too.
enum InterceptionDepth {
    /// The greatest depth. A credential that is fetched through a manager whose interceptor fetches another credential
    /// has a depth of two; a depth beyond 16 is an endless recursion.
    static let deepest = 16

    @TaskLocal private static var depth = 0

    /// Runs an interceptor's code, one level deeper.
    static func within<Made>(_ body: () async throws -> Made) async throws -> Made {
        guard depth < deepest else { throw InterceptionFailure.tooDeep(limit: deepest) }
        return try await $depth.withValue(depth + 1, operation: body)
    }
}

/// A wrong use of interceptors.
@frozen public enum InterceptionFailure: Error, Hashable, Sendable {
    /// An interceptor sends requests through the manager that calls it, and this many of them wait for each other.
    case tooDeep(limit: Int)
}

extension InterceptionFailure {
    /// Finds this failure beneath the error of a request that an interceptor sent, so that every level reports the same
    /// failure.
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
            "\(limit) interceptors wait for each other: an interceptor sends requests through the manager that calls it"
        }
    }

    public var errorDescription: String? { description }
}
