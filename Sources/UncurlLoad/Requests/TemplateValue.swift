/// The value that `{{…}}` stands for.
package enum TemplateValue: Hashable, Sendable {
    /// A count of requests: no two of a run have the same, whichever threads send them.
    case counter(from: UInt64)
    case random(UInt64, UInt64)
    /// This number of random hexadecimal digits, or of letters and digits.
    case hex(Int)
    case text(Int)
    case uuid
    /// The lines of a file in turn, all threads together, or one at random.
    case line(TemplateLines)
    case randomLine(TemplateLines)
    case thread
    /// The virtual user's number, that is the connection's, from 0.
    case user
    /// Milliseconds since 1970.
    case time
    /// A new trace's context in the form of the field of that name (W3C Trace Context).
    case traceparent
    /// A variable of the virtual user, by its number among a scenario's variables.
    case variable(Int)
    /// Another value, within a string of that kind.
    indirect case escaped(TemplateValue, Escape)

    /// The kinds of strings that have an escape syntax.
    package enum Escape: String, Hashable, Sendable {
        /// A string of JSON (RFC 8259 §7).
        case json
        /// A name or value of a form (application/x-www-form-urlencoded).
        case form
    }

    /// Whether it depends on how many requests were sent before.
    var isNumbered: Bool {
        switch self {
        case .counter, .line: true
        case .random, .hex, .text, .uuid, .randomLine, .thread, .user, .time, .traceparent, .variable: false
        case .escaped(let value, _): value.isNumbered
        }
    }

    /// The longest value. A longer one belongs in a body file.
    package static let longest: UInt64 = 65_536

    package static let names =
        "counter, counter:FROM, random:LOW-HIGH, hex:N, text:N, uuid, line:FILE, random-line:FILE, thread, user, time, "
        + "traceparent"

    package init(_ text: String) throws(TemplateProblem) {
        let parts = text.parts(at: ":", most: 2).map { $0.trimmed }
        guard parts[0].isASCII else { throw .unknown(text) }
        let argument = parts.count == 2 ? parts[1] : nil
        switch (parts[0], argument) {
        case ("counter", nil): self = .counter(from: 0)
        case ("counter", let from?): self = .counter(from: try Self.number(from, text))
        case ("random", let range?):
            let ends = range.parts(at: "-").map(String.init)
            guard ends.count == 2 else { throw .unknown(text) }
            let (low, high) = (try Self.number(ends[0], text), try Self.number(ends[1], text))
            guard low <= high else { throw .unknown(text) }
            self = .random(low, high)
        case ("hex", let count?): self = .hex(try Self.length(count, text))
        case ("text", let count?): self = .text(try Self.length(count, text))
        case ("uuid", nil): self = .uuid
        case ("line", let path?): self = .line(try TemplateLines(path))
        case ("random-line", let path?): self = .randomLine(try TemplateLines(path))
        case ("thread", nil): self = .thread
        case ("user", nil): self = .user
        case ("time", nil): self = .time
        case ("traceparent", nil): self = .traceparent
        default: throw .unknown(text)
        }
    }

    private static func number(_ text: String, _ all: String) throws(TemplateProblem) -> UInt64 {
        guard let number = UInt64(text) else { throw .unknown(all) }
        return number
    }

    private static func length(_ text: String, _ all: String) throws(TemplateProblem) -> Int {
        guard let number = UInt64(text), (1...longest).contains(number) else { throw .unknown(all) }
        return Int(number)
    }

}

/// A file's lines, octet for octet, read once and shared by all threads. A byte order mark, carriage returns before
/// line feeds, and empty lines are left out.
package struct TemplateLines: Hashable, Sendable {
    package let path: String
    package let lines: [[UInt8]]

    package init(_ path: String) throws(TemplateProblem) {
        self.path = path
        var bytes: [UInt8]
        do throws(FileProblem) { bytes = try Files.read(path) } catch { throw .file(error) }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        lines = bytes.split(separator: 0x0A).map { Array($0.last == 0x0D ? $0.dropLast() : $0) }.filter { !$0.isEmpty }
        guard !lines.isEmpty else { throw .empty(path) }
    }

    package static func == (left: TemplateLines, right: TemplateLines) -> Bool { left.path == right.path }
    package func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

/// Why a text with places cannot be filled in.
package enum TemplateProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text contains the mark of places.
    case mark(String)
    /// The text between `{{` and `}}` is no value.
    case unknown(String)
    case file(FileProblem)
    /// A file of lines contains no line.
    case empty(String)

    package var description: String {
        switch self {
        case .mark(let mark): "\(mark) may not stand in a text: volley marks places with it"
        case .unknown(let text): "{{\(oneLine(text))}} is unknown: use \(TemplateValue.names)"
        case .file(let problem): "\(problem): \(problem.advice)"
        case .empty(let path): "\(quoted(path)) has no line in it"
        }
    }
}
