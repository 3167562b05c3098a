/// Sixteen closures, which few tasks have: an object of their own, so that the other tasks hold only a reference.
final class HooksBox: Sendable {
    let values: TaskHooks

    init(_ values: TaskHooks) { self.values = values }
}
