import TestSupport
import Testing

/// What `print` shows of a value.
@Suite("Descriptions", .ownThread)
struct DescriptionRuleTests {
    /// The rooms that programs for users import.
    private static let rooms = ["Uncurl", "UncurlExtras", "UncurlLoad", "UncurlTestKit", "UncurlXML", "URLLoading"]

    @Test("each public structure with storage of its own, but for iterators, says what it prints")
    func descriptions() {
        let files = SourceTree.sources.filter { file in Self.rooms.contains { file.path.hasPrefix("Sources/\($0)/") } }
        let code = files.map(\.code).joined()
        let extended = code.matches(of: /extension ([\w.]+):([^{]*)\{/)
        var described: Set<Substring> = []
        for match in extended where Self.describes(match.output.2) {
            described.insert(match.output.1.split(separator: ".").last ?? "")
        }
        var count = 0
        for file in files {
            for match in file.code.matches(of: /(?m)^( *)public struct (\w+)([^{]*)\{\n/) {
                let (indent, name, clause) = (match.output.1, match.output.2, match.output.3)
                let rest = file.code[match.range.upperBound...]
                let body = rest[..<(rest.firstRange(of: "\n\(indent)}")?.lowerBound ?? rest.endIndex)]
                let members = body.split(separator: "\n").filter { $0.hasPrefix(indent + "    ") }
                let hidden = members.filter { $0.dropFirst(indent.count).contains(Self.hidden) }
                guard !hidden.isEmpty, !clause.contains("AsyncIteratorProtocol") else { continue }
                count += 1
                #expect(described.contains(name) || Self.describes(clause), "\(file.path): \(name) prints \(hidden)")
            }
        }
        #expect(count > 40)
    }

    /// A stored property that is not public.
    private static var hidden: Regex<(Substring, Substring?)> {
        /^ {4}(private |fileprivate |package |internal )?(?:let|var) [^{]*$/
    }

    private static func describes(_ clause: Substring) -> Bool {
        clause.contains(/\b(Custom(Debug)?StringConvertible|\w*Error|RandomAccessCollection)\b/)
    }
}
