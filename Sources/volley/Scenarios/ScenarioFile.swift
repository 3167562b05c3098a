import UncurlLoad
import UncurlText

/// A checked scenario file: the requests of its steps, and the order of the steps. It numbers steps and variables in
/// order while it is read.
struct ScenarioFile {
    private let file: String
    /// The steps' requests in the file's order, with their placeholders marked.
    private(set) var input = RequestInput()
    private(set) var slots = TemplateSlots()
    private(set) var keepsCookies = false
    private(set) var scenarios = Scenarios([], steps: [])
    private var steps: [ScenarioStep] = []
    private var tables: [Scenarios.Table] = []
    /// The initial value of each variable, by number.
    private var values: [[UInt8]] = []
    private var numbers: [String: Int] = [:]
    private var fields: [String] = []

    init(path: String) throws(UsageError) {
        try self.init(try readFile(path, for: "--scenario"), path)
    }

    init(_ bytes: [UInt8], _ path: String) throws(UsageError) {
        file = path
        try read(ScenarioNode(file: path, try Self.tree(bytes, path)))
    }

    /// Reads YAML if the file name says so, otherwise JSON.
    private static func tree(_ bytes: [UInt8], _ path: String) throws(UsageError) -> JSONTree {
        if [".yaml", ".yml"].contains(where: { path.lowercased().hasSuffix($0) }) {
            do throws(YAMLReader.Problem) {
                return try YAMLReader.read(bytes)
            } catch {
                throw UsageError("\(quoted(path)), \(error)")
            }
        }
        return try JSONTree.read(bytes, path, uniqueNames: true)
    }

    /// The summary that `volley check` prints.
    var summary: String {
        let names = RequestNames(input.drafts).all
        return "\(several(scenarios.all.count, "scenario")) (\(scenarios.all.map(\.name).joined(separator: ", "))), "
            + several(input.drafts.count, "request") + (names.isEmpty ? "" : ": " + names.joined(separator: ", "))
    }
}

extension ScenarioFile {
    private mutating func read(_ root: ScenarioNode) throws(UsageError) {
        try root.check("$schema url fields cookies variables data steps scenarios")
        if let url = root["url"] { input.url = try url.text() }
        if let flag = root["cookies"] { keepsCookies = try flag.bool() }
        for (name, value) in try root["variables"]?.members() ?? [] {
            values[try declare(name, at: value)] = Array(try value.text().utf8)
        }
        for (name, value) in try root["data"]?.members() ?? [] { try readTable(name, value) }
        // The variables that every step may use. A value from an answer is known only after the step that extracts it.
        slots.variables = numbers
        if let node = root["fields"] { fields = try readFields(node) }
        var all: [Scenario] = []
        if let node = root["steps"] {
            guard root["scenarios"] == nil else { throw node.problem("and scenarios exclude each other") }
            all = [Scenario(name: "visit", weight: 1, try readVisit(node))]
        } else if let node = root["scenarios"] {
            for (index, node) in try node.elements().enumerated() {
                slots.scenarioVariables = [:]
                try node.check("name weight steps")
                guard let steps = node["steps"] else { throw node.problem("has no steps") }
                let name = try node["name"]?.text() ?? "scenario \(index + 1)"
                let weight = UInt64(try node["weight"]?.count() ?? 1)
                all.append(Scenario(name: name, weight: weight, try readVisit(steps)))
            }
        }
        guard !all.isEmpty else { throw root.problem("has neither steps nor scenarios") }
        scenarios = Scenarios(all, steps: steps, tables: tables, variables: values)
    }

    // MARK: Values

    private mutating func declare(_ name: String, at node: ScenarioNode) throws(UsageError) -> Int {
        let isWord = name.utf8.allSatisfy { Self.letters.contains($0) }
        guard isWord, !name.isEmpty, (try? TemplateValue(name)) == nil else {
            throw node.problem(
                "is no name for a value: use letters, digits, _ and ., and none of \(TemplateValue.names)"
            )
        }
        if let number = numbers[name] { return number }
        values.append([])
        numbers[name] = values.count - 1
        return values.count - 1
    }

    private static let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.".utf8)

    private mutating func readTable(_ name: String, _ node: ScenarioNode) throws(UsageError) {
        try node.check("file order")
        guard let path = try node["file"]?.text(), !path.isEmpty else { throw node.problem("has no file") }
        let isRandom =
            switch try node["order"]?.text() {
            case nil: false
            case let text? where text.isSame(as: "in-order"): false
            case let text? where text.isSame(as: "random"): true
            case .some: throw node.problem("has an order that is neither in-order nor random")
            }
        // A relative path starts at the folder of the scenario file.
        let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        let data = try DataFile(path.begins(with: "/") ? path : folder + path)
        let first = values.count
        for column in data.columns {
            guard try declare("\(name).\(column)", at: node) >= first else {
                throw node.problem("has the column \(quoted(column)), whose name another value has")
            }
        }
        tables.append((first, data.rows, isRandom))
    }

    private mutating func protect(
        _ text: String,
        at node: ScenarioNode,
        in escape: TemplateValue.Escape? = nil
    ) throws(UsageError) -> String {
        do throws(UsageError) {
            return try slots.protect(text, in: escape)
        } catch {
            let names = Set(slots.variables.keys).union(slots.scenarioVariables.keys)
            let known = names.sorted().prefix(20).joined(separator: ", ")
            throw node.problem("cannot be filled in: \(error)\(known.isEmpty ? "" : ", or \(known)")")
        }
    }

    private mutating func readFields(_ node: ScenarioNode) throws(UsageError) -> [String] {
        var fields: [String] = []
        for (name, value) in try node.members() {
            fields.append("\(name): \(try protect(try value.text(), at: value))")
        }
        return fields
    }

    // MARK: Steps

    private mutating func readVisit(_ node: ScenarioNode) throws(UsageError) -> [ScenarioPart] {
        let parts = try readParts(node)
        guard ScenarioPart.leastRequests(parts) > 0 else { throw node.problem("may go by without a request") }
        return parts
    }

    private mutating func readParts(_ node: ScenarioNode) throws(UsageError) -> [ScenarioPart] {
        var parts: [ScenarioPart] = []
        for node in try node.elements() {
            if let count = node["loop"] {
                try node.check("loop steps")
                guard let steps = node["steps"] else { throw node.problem("has no steps") }
                parts.append(.loop(try count.count(), try readVisit(steps)))
            } else if let ways = node["choose"] {
                try node.check("choose")
                parts.append(.choice(try readWays(ways)))
            } else if node["url"] != nil {
                parts += try readRequest(node)
            } else if let pause = node["pause"] {
                try node.check("pause")
                parts.append(.pause(try Pause(try pause.text(), for: pause.place)))
            } else {
                throw node.problem("is no step: it needs a url, a pause, a loop or choose")
            }
        }
        return parts
    }

    private mutating func readWays(_ node: ScenarioNode) throws(UsageError) -> [ScenarioPart.Way] {
        var ways: [ScenarioPart.Way] = []
        for node in try node.elements() {
            try node.check("weight steps")
            guard let steps = node["steps"] else { throw node.problem("has no steps") }
            ways.append((UInt64(try node["weight"]?.count() ?? 1), try readParts(steps)))
        }
        guard !ways.isEmpty else { throw node.problem("has nothing to choose from") }
        return ways
    }

    private mutating func readRequest(_ node: ScenarioNode) throws(UsageError) -> [ScenarioPart] {
        try node.check("name method url fields body json form extract check pause continue")
        guard let url = node["url"] else { return [] }
        let number = input.drafts.count
        var draft = RequestDraft(url: try url.text(), place: node.inputPlace)
        guard !draft.url.isEmpty else { throw url.problem("is empty") }
        draft.name = try node["name"]?.text()
        draft.url = try protect(draft.url, at: url)
        if let fields = node["fields"] { draft.headers = try readFields(fields) }
        let content = try readContent(node)
        draft.body = content?.bytes
        draft.method = try node["method"]?.text() ?? (content == nil ? "GET" : "POST")
        if let type = content?.type { draft.headers = draft.headers.adding(["Content-Type: \(type)"]) }
        draft.sharedHeaders = fields
        try input.add(draft)
        steps.append(try readStep(node))
        var parts: [ScenarioPart] = [.step(number)]
        if let pause = node["pause"] { parts.append(.pause(try Pause(try pause.text(), for: pause.place))) }
        return parts
    }

    private mutating func readContent(_ node: ScenarioNode) throws(UsageError) -> (bytes: [UInt8], type: String?)? {
        let given = ["body", "json", "form"].filter { node[$0] != nil }
        guard given.count <= 1 else { throw node.problem("has \(given[0]) and \(given[1]): a request has one content") }
        if let body = node["body"] { return (Array(try protect(try body.text(), at: body).utf8), nil) }
        if let json = node["json"] {
            return (Array(try filled(json.tree, at: json).line().utf8), "application/json")
        }
        guard let form = node["form"] else { return nil }
        var bytes: [UInt8] = []
        for (name, value) in try form.members() {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            let pair = [try protect(name, at: value, in: .form), try protect(try value.text(), at: value, in: .form)]
            bytes += pair.map { TemplateValue.Escape.form.apply(to: Array($0.utf8)) }.joined(separator: "=".utf8)
        }
        return (bytes, "application/x-www-form-urlencoded")
    }

    /// A document with the placeholders in its texts marked.
    private mutating func filled(_ tree: JSONTree, at node: ScenarioNode) throws(UsageError) -> JSONTree {
        switch tree {
        case .null, .bool, .integer, .number: return tree
        case .string(let text): return .string(try protect(text, at: node, in: .json))
        case .array(let elements):
            var all: [JSONTree] = []
            for element in elements { all.append(try filled(element, at: node)) }
            return .array(all)
        case .object(let members):
            var all: [(String, JSONTree)] = []
            for (name, value) in members {
                all.append((try protect(name, at: node, in: .json), try filled(value, at: node)))
            }
            return .object(all)
        }
    }

    // MARK: Answers

    private mutating func readStep(_ node: ScenarioNode) throws(UsageError) -> ScenarioStep {
        var checks: ResponseChecks?
        var expectations: [ScenarioStep.Expectation] = []
        if let check = node["check"] {
            try check.check("status fields body json")
            var headers: [String] = []
            for (name, value) in try check["fields"]?.members() ?? [] {
                if case .null = value.tree {
                    headers.append(name)
                } else if let template = try filledCheck(try value.text(), at: value) {
                    expectations.append(.field(name, template))
                } else {
                    headers.append("\(name): \(try value.text())")
                }
            }
            var body = try check["body"]?.text()
            if let node = check["body"], let text = body, let template = try filledCheck(text, at: node) {
                expectations.append(.content(template))
                body = nil
            }
            let all = try ResponseChecks(
                statuses: try check["status"]?.text(),
                headers: headers,
                body: body,
                names: ("\(check.place).status", "\(check.place).fields", "\(check.place).body")
            )
            checks = all.isEmpty ? nil : all
            for (pointer, value) in try check["json"]?.members() ?? [] {
                let pointer = try Self.pointer(pointer, at: value)
                let wanted = Array(try filled(value.tree, at: value).line().utf8)
                let template = slots.template(wanted)
                try checkFilling(template, at: value)
                expectations.append(template.isFixed ? .json(pointer, value.tree) : .filledJSON(pointer, template))
            }
        }
        var extractions: [Extraction] = []
        for (name, value) in try node["extract"]?.members() ?? [] {
            extractions.append(try readExtraction(name, value))
        }
        // Later steps may name these values.
        for extraction in extractions { slots.scenarioVariables[extraction.name] = numbers[extraction.name] }
        let goesOn = try node["continue"]?.bool() ?? false
        return ScenarioStep(checks: checks, expectations: expectations, extractions: extractions, goesOn: goesOn)
    }

    private mutating func filledCheck(_ text: String, at node: ScenarioNode) throws(UsageError) -> Template? {
        let text = try protect(text, at: node)
        let template = slots.template(text)
        try checkFilling(template, at: node)
        return template.isFixed ? nil : template
    }

    /// Refuses what would be drawn anew for the check, so that it has nothing to do with the request.
    private func checkFilling(_ template: Template, at node: ScenarioNode) throws(UsageError) {
        guard template.isOfVariables else {
            throw node.problem(
                "is filled in with a new value: a check can have values of the visit, such as extracted ones"
            )
        }
    }

    private mutating func readExtraction(_ name: String, _ node: ScenarioNode) throws(UsageError) -> Extraction {
        try node.check("json field cookie pattern default")
        let given = ["json", "field", "cookie", "pattern"].filter { node[$0] != nil }
        guard given.count == 1, let source = node[given[0]] else {
            throw node.problem("needs one of json, field, cookie and pattern")
        }
        let text = try source.text()
        let found: ExtractionSource
        switch given[0] {
        case "json": found = .json(try Self.pointer(text, at: source))
        case "field": found = .field(text)
        case "cookie": found = .cookie(text)
        default:
            do throws(UsageError) {
                found = .pattern(try BytePattern(text))
            } catch {
                throw source.problem("is no pattern: \(error)")
            }
        }
        let number = try declare(name, at: node)
        return (
            name, number, found, try node["default"].map { value throws(UsageError) in Array(try value.text().utf8) }
        )
    }

    private static func pointer(_ text: String, at node: ScenarioNode) throws(UsageError) -> JSONPointer {
        guard let pointer = JSONPointer(text) else {
            throw node.problem("is no JSON pointer: use such as /items/0/id (RFC 6901)")
        }
        return pointer
    }
}

/// A part of a scenario file and its position: `"shop.json": steps[2].check`.
struct ScenarioNode {
    let tree: JSONTree
    private let file: String
    private let path: String

    init(file: String, _ tree: JSONTree) { (self.file, self.tree, path) = (file, tree, "") }

    private init(_ parent: ScenarioNode, _ tree: JSONTree, _ step: String) {
        (file, self.tree) = (parent.file, tree)
        path =
            parent.path.isEmpty && step.begins(with: ".")
            ? String(Substring(step.utf8.dropFirst())) : parent.path + step
    }

    var place: String { path.isEmpty ? quoted(file) : inputPlace.inMessages }

    var inputPlace: InputPlace { InputPlace(file: file, path: path) }

    func problem(_ text: String) -> UsageError { UsageError("\(place) \(text)") }

    /// The member of this name; nil where it is missing or null.
    subscript(_ name: String) -> ScenarioNode? {
        guard let value = tree.members?.first(where: { $0.0.isSame(as: name) })?.1 else { return nil }
        return ScenarioNode(self, value, "." + name)
    }

    func elements() throws(UsageError) -> [ScenarioNode] {
        guard let elements = tree.elements else { throw problem("is no array") }
        return elements.enumerated().map { ScenarioNode(self, $1, "[\($0)]") }
    }

    /// The members in the file's order, including those that are null.
    func members() throws(UsageError) -> [(name: String, value: ScenarioNode)] {
        guard case .object(let members) = tree else { throw problem("is no object") }
        return members.map { ($0, ScenarioNode(self, $1, "." + $0)) }
    }

    func check(_ words: String) throws(UsageError) {
        let names = words.parts(at: " ")
        guard case .object(let members) = tree else { throw problem("is no object") }
        for (name, _) in members where !names.contains(where: { $0.isSame(as: name) }) {
            throw problem("has \(quoted(name)), which is unknown: there are \(names.joined(separator: ", "))")
        }
    }

    /// A text, or a number as it is written.
    func text() throws(UsageError) -> String {
        switch tree {
        case .string(let text): return text
        case .integer(let number): return String(number)
        case .number(let digits): return digits
        case .null, .bool, .array, .object: throw problem("is no text")
        }
    }

    func bool() throws(UsageError) -> Bool {
        guard let value = tree.bool else { throw problem("is neither true nor false") }
        return value
    }

    /// An integer from 1 to a million.
    func count() throws(UsageError) -> Int {
        guard let number = tree.integer, (1...1_000_000).contains(number) else {
            throw problem("is no whole number from 1 to 1000000")
        }
        return Int(number)
    }
}
