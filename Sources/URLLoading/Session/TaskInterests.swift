internal import Foundation

/// The events that a delegate gets. Other events are not queued for it, so they cost nothing.
package struct TaskInterests: OptionSet, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Use this instead of a literal: each literal makes a set from an array, by code that looks types up at run time.
    package static let none: TaskInterests = []
    package static let creation = TaskInterests(rawValue: 1 << 0)
    package static let delay = TaskInterests(rawValue: 1 << 1)
    package static let connectivity = TaskInterests(rawValue: 1 << 2)
    package static let redirect = TaskInterests(rawValue: 1 << 3)
    package static let challenge = TaskInterests(rawValue: 1 << 4)
    package static let bodyStream = TaskInterests(rawValue: 1 << 5)
    package static let sent = TaskInterests(rawValue: 1 << 6)
    package static let informational = TaskInterests(rawValue: 1 << 7)
    /// The head of the answer, and the question what to do with its content.
    package static let response = TaskInterests(rawValue: 1 << 8)
    package static let content = TaskInterests(rawValue: 1 << 9)
    package static let caching = TaskInterests(rawValue: 1 << 10)
    /// Bytes written to a file, and the offset at which a download resumes.
    package static let written = TaskInterests(rawValue: 1 << 11)
    package static let metrics = TaskInterests(rawValue: 1 << 12)
    /// The progress of content that is kept in memory.
    package static let received = TaskInterests(rawValue: 1 << 15)
    /// The events of WebSockets.
    package static let socket = TaskInterests(rawValue: 1 << 13)
    /// The events of stream tasks.
    package static let stream = TaskInterests(rawValue: 1 << 14)

    package static let all = TaskInterests(rawValue: .max)
}
