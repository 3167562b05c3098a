internal import Foundation

/// What a delegate hears of. Nothing else is queued for it: an event that is not heard costs nothing.
package struct TaskInterests: OptionSet, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Not as a literal: that makes a set of a collection, in code that looks its types up at run time.
    package static let none: TaskInterests = []
    package static let creation = TaskInterests(rawValue: 1 << 0)
    package static let delay = TaskInterests(rawValue: 1 << 1)
    package static let connectivity = TaskInterests(rawValue: 1 << 2)
    package static let redirect = TaskInterests(rawValue: 1 << 3)
    package static let challenge = TaskInterests(rawValue: 1 << 4)
    package static let bodyStream = TaskInterests(rawValue: 1 << 5)
    package static let sent = TaskInterests(rawValue: 1 << 6)
    package static let informational = TaskInterests(rawValue: 1 << 7)
    /// The head of the answer, and what is done with what follows.
    package static let response = TaskInterests(rawValue: 1 << 8)
    package static let content = TaskInterests(rawValue: 1 << 9)
    package static let caching = TaskInterests(rawValue: 1 << 10)
    /// Bytes written to a file, and where a download goes on.
    package static let written = TaskInterests(rawValue: 1 << 11)
    package static let metrics = TaskInterests(rawValue: 1 << 12)
    /// How much has come of content that is kept in memory.
    package static let received = TaskInterests(rawValue: 1 << 15)
    /// What concerns WebSockets.
    package static let socket = TaskInterests(rawValue: 1 << 13)
    /// What concerns stream tasks.
    package static let stream = TaskInterests(rawValue: 1 << 14)

    package static let all = TaskInterests(rawValue: .max)
}
