import Foundation
import TestSupport
import Testing

/// How many files of `Sources` one thing stands in, and how many types, files and lines there are. The ceilings are
/// those of today: a change that lowers a number lowers its ceiling too, and none is raised.
@Suite("What a change touches", .ownThread)
struct TouchTests {
    struct Thing: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A regular expression of the names that it has.
        let names: String
        let rooms: Set<String>
        let files: Int
    }

    private static let loadRooms: Set = ["UncurlLoad", "UncurlLoadReports", "UncurlLocust", "volley"]
    private static let sessionRooms: Set = ["Uncurl", "URLLoading", "UncurlClient"]

    static let things = [
        Thing(
            testDescription: "a counter of a load run",
            names: #"sentAgain|sent_again"#,
            rooms: loadRooms,
            files: 4
        ),
        Thing(
            testDescription: "a histogram of a load run",
            names: #"\bfirstByte\b|first_byte|"ttfb""#,
            rooms: loadRooms,
            files: 4
        ),
        Thing(
            testDescription: "a setting of a load run",
            names: #"\bretries\b|"retry""#,
            rooms: loadRooms,
            files: 4
        ),
        Thing(
            testDescription: "an option of a request: the time until the first byte",
            names: #"firstByteTimeout|firstByteLimit"#,
            rooms: sessionRooms,
            files: 4
        ),
        Thing(
            testDescription: "an option of a request: the place that is connected to",
            names: #"\bconnectTo\b|ConnectTo\b"#,
            rooms: sessionRooms,
            files: 2
        ),
        Thing(
            testDescription: "an event of a task: it waits for connectivity",
            names:
                #"isWaitingForConnectivity|taskIsWaitingForConnectivity|\.connectivity\b|waitsForConnectivity"#,
            rooms: sessionRooms,
            files: 5
        ),
        Thing(
            testDescription: "an event of a task: a redirect",
            names:
                #"willPerform(HTTP)?Redirection|\.redirect\b|\.redirected\b|askToFollow|proposeRedirect|RedirectBehavior"#,
            rooms: sessionRooms.union(["UncurlSemantics"]),
            files: 7
        ),
        Thing(
            testDescription: "a kind of content: parts, one after another",
            names: #"\.parts\b|case parts|\[Content\]"#,
            rooms: sessionRooms.union(["UncurlEngine", "fetch"]),
            files: 5
        ),
        Thing(
            testDescription: "a setting of a session",
            names: "acceptsLegacyResponses",
            rooms: Set(SourceTree.folders(in: "Sources")),
            files: 2
        ),
        Thing(
            testDescription: "an error of the facade",
            names: "sessionInvalidated",
            rooms: Set(SourceTree.folders(in: "Sources")),
            files: 3
        ),
    ]

    @Test("a thing stands in no more files than its ceiling", arguments: things)
    func touched(thing: Thing) {
        let touched = SourceTree.sources.filter { file in
            thing.rooms.contains(file.room)
                && file.text.range(of: thing.names, options: .regularExpression) != nil
        }
        #expect(touched.count <= thing.files, "\(touched.map(\.path))")
        #expect(!touched.isEmpty, "nothing has these names: they were changed without this table")
    }

    @Test("there are no more types, files, lines and lines of code than there were")
    func size() {
        let type = #"(?m)^ *([a-z@()]+ )*(struct|class|enum|protocol|actor) [A-Z]"#
        var (types, lines, code) = (0, 0, 0)
        for file in SourceTree.sources {
            types += matches(type, in: file.text)
            let all = file.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            lines += all.count
            code += all.count { line in
                let rest = line.drop { $0 == " " }
                return !rest.isEmpty && !rest.hasPrefix("//")
            }
        }
        #expect(types <= 1_191)
        #expect(SourceTree.sources.count <= 519)
        #expect(lines <= 98_254)
        #expect(code <= 71_842)
    }

    private func matches(_ expression: String, in text: String) -> Int {
        var (count, start) = (0, text.startIndex)
        while let found = text.range(of: expression, options: .regularExpression, range: start..<text.endIndex) {
            count += 1
            start = found.upperBound
        }
        return count
    }
}
