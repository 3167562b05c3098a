/// Holds the sixteen closures of a task's hooks. Few tasks have hooks, so a task holds only a reference.
final class HooksBox: Sendable {
    let values: TaskHooks

    init(_ values: TaskHooks) { self.values = values }
}
