/// What requests are called in the figures by name: those that their file names, or else each by its method and path,
/// as it is written there.
package struct RequestNames: Sendable {
    /// In the order of their first appearance; empty where there is nothing to tell apart.
    package let all: [String]
    private let places: [String: Int]

    /// A histogram of 270 KB each and thread.
    package static let limit = 100
    /// What is beyond the limit.
    package static let others = "(others)"

    /// Where the names were given, those beyond the limit share one. Where they are paths, that many are no names: a
    /// log is full of numbers.
    package init(_ drafts: [RequestDraft]) {
        let areGiven = drafts.contains { $0.name != nil }
        var all: [String] = []
        var places: [String: Int] = [:]
        for draft in drafts where places[draft.usualName] == nil {
            if all.count == Self.limit - 1 {
                guard areGiven else {
                    (self.all, self.places) = ([], [:])
                    return
                }
                all.append(Self.others)
            }
            places[draft.usualName] = min(all.count, Self.limit - 1)
            if all.count < Self.limit { all.append(draft.usualName) }
        }
        (self.all, self.places) = all.count > 1 ? (all, places) : ([], [:])
    }

    /// Those that a program says its requests will have; of one, too.
    package init(given names: [String]) {
        all = Array(names.prefix(Self.limit))
        places = Dictionary(all.enumerated().map { ($1, $0) }) { first, _ in first }
    }

    /// nil: not told apart.
    package func place(of draft: RequestDraft) -> Int? { places[draft.usualName] }
}

extension RequestDraft {
    /// The name that was given, or `GET /path` without the query; a template's places stay as they were written.
    var usualName: String { name ?? "\(method) \(written.prefix { $0 != "?" && $0 != "#" })" }
}
