import TestSupport
import Testing

/// A name that asks does not act: `is…` and `has…` change nothing.
@Suite("Questions", .ownThread)
struct QuestionTests {
    /// Names that ask, by file, whose bodies assign all the same; each reviewed by hand.
    static let reviewed: Set<String> = []

    /// The names in a file that ask, and act: they are `mutating`, or assign to something that they have not declared themselves.
    static func acting(in code: String) -> [String] {
        code.matches(of: /(?m)^[^\n]*\b(func|var) ((?:is|has)[A-Z]\w*)\b[^\n]*/).compactMap { match in
            let line = String(match.0)
            if line.contains("mutating ") { return String(match.2) }
            guard let body = body(of: match.1, code[match.2.endIndex...]) else { return nil }
            // A property that can be set says so.
            if body.contains(/\b(?:set|willSet|didSet)\b/) { return nil }
            let own = Set(body.matches(of: /\bvar\s+(\w+)/).map { String($0.1) })
            let assigned = body.matches(of: /(?m)(?:^|[{;]|\bin\b)\s*(?:self\.)?(\w+)[.\[\]\w?]*\s*[-+*&|]*=(?!=)/).map
            {
                String($0.1)
            }
            return assigned.contains { $0 != "_" && !own.contains($0) } ? String(match.2) : nil
        }
    }

    /// The braces behind a declaration; nil for a requirement, and for a variable that is stored.
    private static func body(of kind: Substring, _ rest: Substring) -> Substring? {
        let head = rest.prefix { $0 != "{" && $0 != "}" }
        guard !head.contains("\n\n"), kind == "func" || !head.contains(/=|\n/) else { return nil }
        let text = rest[head.endIndex...]
        var depth = 0
        for index in text.indices {
            if text[index] == "{" { depth += 1 }
            if text[index] == "}" { depth -= 1 }
            if depth == 0 { return text[...index] }
        }
        return nil
    }

    @Test("no function or property that is named as a question changes anything")
    func questions() {
        let found = SourceTree.sources.flatMap { file in Self.acting(in: file.code).map { "\(file.path): \($0)" } }
        #expect(Set(found) == Self.reviewed)
    }

    @Test("assignments and mutating functions are found; locals, setters, comparisons and stored variables are not")
    func reading() {
        let code = """
            struct A {
                mutating func isB() -> Bool { true }
                func hasC() -> Bool {
                    var d = 1
                    d += 2
                    let e: Int = 3
                    return d == e
                }
                func isF(_ g: Int) -> Bool {
                    h = g
                    return true
                }
                var isI: Bool { lock.withLock { state in state.j = 1; return true } }
                var isK: Bool {
                    get { l }
                    set { l = newValue }
                }
                var isM = false
                func hasN()

                func issue() { o = 1 }
            }
            """
        #expect(Self.acting(in: code) == ["isB", "isF", "isI"])
    }

    /// What a title would begin with that has the number of a list in it.
    private static var id: Regex<Substring> { /^(?:[Ss]cenarios? [0-9]|[A-Z]{1,2}[0-9]{1,3}: |[0-9]{1,2}: )/ }

    @Test("no test's title begins with the number of a list; a trait holds it")
    func titles() {
        for file in SourceTree.tests {
            for match in file.text.matches(of: /@(?:Test|Suite)\(\s*"([^"]*)"/) {
                #expect(!match.1.contains(Self.id), "\(file): \(match.1)")
            }
        }
    }
}
