/// The errors whose number a condition limits.
package struct ToleratedErrors: Hashable, Sendable {
    /// Whether all failed requests and connections are among them.
    package var failed = false
    /// The classes of failures that are among them.
    package var kinds: Set<FailureClass> = []
    package var httpErrors = false
    package var unsent = false

    package var isEmpty: Bool { self == ToleratedErrors() }

    mutating func formUnion(_ other: ToleratedErrors) {
        failed = failed || other.failed
        kinds.formUnion(other.kinds)
        httpErrors = httpErrors || other.httpErrors
        unsent = unsent || other.unsent
    }

    /// Returns whether all failures are tolerated ones.
    func covers(_ failures: FailureLog) -> Bool { failed || failures.count { !kinds.contains($0.kind) } == 0 }
}
