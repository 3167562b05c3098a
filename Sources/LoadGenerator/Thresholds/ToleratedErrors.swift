/// Errors that a condition has said how many are too many of.
package struct ToleratedErrors: Hashable, Sendable {
    /// Requests and connections that failed, however.
    package var failed = false
    /// Of these, some classes.
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

    /// Nothing has failed but what may.
    func covers(_ failures: FailureLog) -> Bool { failed || failures.count { !kinds.contains($0.kind) } == 0 }
}
