/// The names of requests in the figures: the names in their file, or else each request's method and path as they are
/// written there.
package struct RequestNames: Sendable {
    /// The names in the order of their first appearance. Empty where there is nothing to distinguish.
    package let all: [String]
    private let places: [OctetText: Int]

    /// The most names: each costs a histogram of 270 KB a thread.
    package static let limit = 100
    /// The name of all requests beyond the limit.
    package static let others = "(others)"

    /// Given names beyond the limit share one. Paths beyond the limit are not used as names at all: those of a log
    /// often contain numbers.
    package init(_ drafts: [RequestDraft]) {
        let areGiven = drafts.contains { $0.name != nil }
        var all: [String] = []
        var places: [OctetText: Int] = [:]
        for draft in drafts {
            let name = draft.usualName
            let key = OctetText(name)
            guard places[key] == nil else { continue }
            if all.count == Self.limit - 1 {
                guard areGiven else {
                    (self.all, self.places) = ([], [:])
                    return
                }
                all.append(Self.others)
            }
            places[key] = min(all.count, Self.limit - 1)
            if all.count < Self.limit { all.append(name) }
        }
        (self.all, self.places) = all.count > 1 ? (all, places) : ([], [:])
    }

    /// Takes the names that a program gives its requests. Unlike the names of a file, a single name is kept too.
    package init(given names: [String]) {
        all = Array(names.prefix(Self.limit))
        places = Dictionary(all.enumerated().map { (OctetText($1), $0) }) { first, _ in first }
    }

    /// Returns the number of a request's name. Nil if it is not distinguished.
    package func place(of draft: RequestDraft) -> Int? { places[OctetText(draft.usualName)] }
}

extension RequestDraft {
    /// The name that was given, or `GET /path` without the query. A template's places stay as they were written.
    var usualName: String { name ?? "\(method) \(written.prefix(before: "?", "#"))" }
}
