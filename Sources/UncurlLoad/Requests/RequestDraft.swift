/// One request of an input file, read and not yet checked against the run.
package struct RequestDraft: Hashable, Sendable {
    package var method: String
    /// The URL: absolute, or a path for the run's own URL.
    package var url: String
    /// The fields, each as `Name: value`.
    package var headers: [String]
    /// The fields that all requests of the file have; a field of the request itself takes precedence over one of the
    /// same name. All drafts hold one array.
    package var sharedHeaders: [String] = []
    /// The names, in lower case, of fields that the run would add and this request does without.
    package var leftOut: Set<String> = []
    package var body: [UInt8]?
    /// The whole request, octet by octet; nil for a request that is made of its method, fields and body.
    package var verbatim: [UInt8]?
    /// How often the request is taken, relative to the others.
    package var weight: UInt64 = 1
    /// The time in nanoseconds after the file's first request, if the file contains it.
    package var offset: UInt64?
    /// The place in the file, for error messages.
    package var place: InputPlace
    /// The request's name in the figures. Nil for its method and path.
    package var name: String?
    /// The URL as it was written, before its places were marked.
    package var written: String

    package init(
        method: String = "GET",
        url: String,
        headers: [String] = [],
        body: [UInt8]? = nil,
        place: InputPlace,
        name: String? = nil
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.place, self.name, written) = (place, name, url)
    }

    package var allHeaders: [String] { headers.adding(sharedHeaders) }
}

package struct InputPlace: Hashable, Sendable, CustomStringConvertible {
    private let file: String
    private let rest: String

    /// - Parameter line: Counted from 1. JSON documents count requests instead of lines.
    package init(file: String, line: Int, unit: String = "line") {
        (self.file, rest) = (file, ", \(unit) \(line)")
    }

    package init(file: String, path: String) { (self.file, rest) = (file, ": \(path)") }

    package var description: String { file + rest }
    /// The place in the form for a message about its text.
    package var inMessages: String { quoted(file) + rest }
}

package struct RequestInput: Sendable {
    package var drafts: [RequestDraft] = []
    /// Notes about what was left out, for the report.
    package var notes: [String] = []
    /// The URL that paths belong to, if the file contains one.
    package var url: String?

    /// The limit. A request is a kilobyte of memory; a longer file should be cut, or sharded.
    package static let limit = 1_000_000
    package let limit: Int

    package init(limit: Int = RequestInput.limit) { self.limit = limit }
}

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
