/// Reads one file's declarations. What stands in bodies is passed over.
struct DeclarationReader {
    private struct Token {
        let text: Substring
        let line: Int
    }

    private struct Scope {
        /// Nil in a body, where nothing is public.
        let name: String?
        var isPublic = false
        var isEnum = false
        var isProtocol = false
        var isPublicExtension = false
    }

    private static let modifiers: Set<Substring> = [
        "public", "open", "internal", "package", "private", "fileprivate", "static", "class", "final", "override",
        "mutating", "nonmutating", "consuming", "borrowing", "indirect", "required", "convenience", "lazy", "weak",
        "unowned", "nonisolated", "prefix", "postfix", "infix", "dynamic", "distributed",
    ]
    private static let types: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "extension"]
    private static let members: Set<Substring> = [
        "func", "init", "subscript", "var", "let", "typealias", "associatedtype", "case",
    ]

    private let path: String
    private let lines: [Substring]
    private let tokens: [Token]
    private var index = 0
    private var scopes: [Scope] = [Scope(name: "", isPublic: true)]
    private(set) var declarations: [PublicDeclarations.Declaration] = []
    private(set) var parents: [String: Set<String>] = [:]

    init(path: String, text: String, code: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        tokens = Self.tokens(of: code)
    }

    private static func tokens(of code: String) -> [Token] {
        var found: [Token] = []
        for (number, line) in code.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var rest = line[...]
            while let first = rest.first {
                let isWord = { (character: Character) in
                    character.isLetter || character.isNumber || character == "_" || character == "@" || character == "#"
                }
                let length =
                    if first.isWhitespace || first == "`" {
                        0
                    } else if isWord(first) {
                        rest.prefix(while: isWord).count
                    } else {
                        // The arrow closes no generics.
                        rest.hasPrefix("==") || rest.hasPrefix("->") ? 2 : 1
                    }
                // A member's name is no keyword: `Life.open`, `.public`.
                let isMember = found.last?.text == "." && isWord(first)
                let text = isMember && Self.modifiers.contains(rest.prefix(length)) ? "_" : rest.prefix(length)
                if length > 0 { found.append(Token(text: text, line: number)) }
                rest = rest.dropFirst(max(1, length))
            }
        }
        return found
    }

    private var current: Token? { index < tokens.count ? tokens[index] : nil }

    mutating func read() {
        while let token = current {
            switch token.text {
            case "{":
                scopes.append(Scope(name: nil))
                index += 1
            case "}":
                if scopes.count > 1 { scopes.removeLast() }
                index += 1
            case _ where scopes.last?.name != nil: readMember()
            default: index += 1
            }
        }
    }

    /// A declaration with its attributes and modifiers, or one token of something else.
    private mutating func readMember() {
        let start = index
        var modifiers: Set<Substring> = []
        while let token = current {
            if token.text.hasPrefix("@") {
                index += 1
                skipParentheses()
            } else if Self.modifiers.contains(token.text), !isTypeKeyword {
                index += 1
                // `private(set)` says nothing of reading.
                if current?.text == "(" { skipParentheses() } else { modifiers.insert(token.text) }
            } else {
                break
            }
        }
        guard let keyword = current else { return }
        if Self.types.contains(keyword.text) {
            readType(keyword.text, modifiers, from: tokens[start].line)
        } else if Self.members.contains(keyword.text) {
            readName(keyword.text, modifiers, from: tokens[start].line)
        } else {
            index = max(index, start + 1)
        }
    }

    /// `class` is a modifier before `func` and `var`.
    private var isTypeKeyword: Bool {
        guard current?.text == "class", index + 1 < tokens.count else { return false }
        return !["func", "var", "let", "subscript", "override", "final"].contains(tokens[index + 1].text)
    }

    private mutating func readType(_ keyword: Substring, _ modifiers: Set<Substring>, from line: Int) {
        guard let outer = scopes.last else { return }
        index += 1
        var name = ""
        // `extension URLSession.Delegate`
        while let token = current, token.text == "." || token.text.first.map({ $0.isLetter || $0 == "_" }) == true,
            token.text != "where"
        {
            if token.text != "." { name = String(token.text) }
            index += 1
            if current?.text != ".", token.text != "." { break }
        }
        var inherited: Set<String> = []
        var clause: [Substring] = []
        while let token = current, token.text != "{" {
            clause.append(token.text)
            index += 1
        }
        var ofGenerics = clause.first == "<" ? clause.firstIndex(of: ">") ?? 0 : 0
        while ofGenerics < clause.count, clause[ofGenerics] == ">" { ofGenerics += 1 }
        if ofGenerics < clause.count, clause[ofGenerics] == ":" {
            inherited = Set(clause[(ofGenerics + 1)...].prefix { $0 != "where" }.map(String.init))
        }
        parents[name, default: []].formUnion(inherited)
        let says = !modifiers.isDisjoint(with: ["public", "open"])
        let isExtension = keyword == "extension"
        let isPublic = outer.isPublic && (isExtension || says || outer.isPublicExtension || outer.isProtocol)
        if isPublic, !isExtension { add(name, modifiers, line, inherited: inherited) }
        scopes.append(
            Scope(
                name: name,
                isPublic: isPublic,
                isEnum: keyword == "enum",
                isProtocol: keyword == "protocol",
                isPublicExtension: isExtension && says
            )
        )
        index += 1
    }

    private mutating func readName(_ keyword: Substring, _ modifiers: Set<Substring>, from line: Int) {
        guard let outer = scopes.last else { return }
        index += 1
        let says = !modifiers.isDisjoint(with: ["public", "open"])
        let isHidden = !modifiers.isDisjoint(with: ["private", "fileprivate", "internal", "package"])
        let isPublic =
            outer.isPublic && !isHidden
            && (says || outer.isPublicExtension || outer.isProtocol || (outer.isEnum && keyword == "case"))
        switch keyword {
        case "func", "init", "subscript":
            let name = keyword == "func" ? functionName() : String(keyword)
            let labels = parameterLabels()
            // Operators have no words for their arguments.
            let isOperator = !(name.first.map { $0.isLetter || $0 == "_" } ?? false)
            let arguments = isOperator ? "" : "(" + labels.map { $0 + ":" }.joined() + ")"
            if isPublic { add(name + arguments, modifiers, line) }
        case "case" where !outer.isEnum: break
        default:
            var isNext = true
            while isNext {
                let name = current.map { String($0.text) } ?? ""
                index += 1
                if isPublic { add(name, modifiers, line, isCase: keyword == "case") }
                guard keyword == "case" else { break }
                // `case a(Int), b` declares two, with the same words.
                skipParentheses()
                isNext = current?.text == ","
                if isNext { index += 1 }
            }
        }
    }

    private mutating func functionName() -> String {
        var name = ""
        while let token = current, token.text != "(", !(token.text == "<" && !name.isEmpty && name != "<") {
            name += token.text
            index += 1
        }
        return name
    }

    /// The words by which arguments are named, of the parentheses that come next, behind generics.
    private mutating func parameterLabels() -> [String] {
        while let token = current, token.text != "(", token.text != "{" { index += 1 }
        guard current?.text == "(" else { return [] }
        var labels: [String] = []
        var depth = 0
        var isNext = true
        while let token = current {
            switch token.text {
            case "(", "[", "<", "{": depth += 1
            case ")", "]", ">", "}": depth -= 1
            case "," where depth == 1: isNext = true
            default:
                if depth == 1, isNext, token.text.first.map({ $0.isLetter || $0 == "_" }) == true {
                    labels.append(String(token.text))
                    isNext = false
                }
            }
            index += 1
            if depth == 0 { break }
        }
        return labels
    }

    private mutating func skipParentheses() {
        guard current?.text == "(" else { return }
        var depth = 0
        while let token = current {
            if token.text == "(" { depth += 1 }
            if token.text == ")" { depth -= 1 }
            index += 1
            if depth == 0 { return }
        }
    }

    private mutating func add(
        _ name: String,
        _ modifiers: Set<Substring>,
        _ line: Int,
        isCase: Bool = false,
        inherited: Set<String> = []
    ) {
        declarations.append(
            PublicDeclarations.Declaration(
                file: path,
                line: line + 1,
                scope: scopes.compactMap(\.name).filter { !$0.isEmpty },
                name: name,
                isDocumented: isDocumented(above: line),
                isOverride: modifiers.contains("override"),
                isRequirement: scopes.last?.isProtocol ?? false,
                isCase: isCase,
                inherited: inherited
            )
        )
    }

    /// Comments of other kinds may stand between the documentation and the declaration.
    private func isDocumented(above line: Int) -> Bool {
        var number = line - 1
        while number >= 0 {
            let text = lines[number].drop { $0 == " " }
            if text.hasPrefix("///") { return true }
            guard text.hasPrefix("//") else { return false }
            number -= 1
        }
        return false
    }
}
