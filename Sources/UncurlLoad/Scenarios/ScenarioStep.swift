internal import UncurlHTTP1
import UncurlSemantics
package import UncurlText

/// The step of a request: the conditions of its answer, and the values to take from the answer. This is a class, so
/// that thousands of users share one step.
package final class ScenarioStep: Sendable {
    /// What an answer must have. The templates are filled with the values that the visit has so far.
    package enum Expectation: Sendable {
        /// A value of the content, which is JSON.
        case json(JSONPointer, JSONTree)
        /// The same, filled in. A text is also met by a number that is written so: the values of a visit are texts.
        case filledJSON(JSONPointer, Template)
        case field(String, Template)
        /// Bytes that must occur in the content.
        case content(Template)

        /// Returns the kind of what is missing, in words that no server chooses, and what was found and wanted.
        func problem(in response: LoadResponse, _ document: JSONTree?, _ variables: [[UInt8]]) -> Problem? {
            switch self {
            case .json(let pointer, let wanted):
                return Self.problem(pointer, document, wanted) { $0.isSameValue(as: wanted) }
            case .filledJSON(let pointer, let template):
                // A value within a text was escaped, so this is JSON.
                let wanted = (try? JSONReader.read(template.filled(with: variables))) ?? .null
                return Self.problem(pointer, document, wanted) { found in
                    found.isSameValue(as: wanted) || wanted.string.map { $0.isSame(as: found.line()) } == true
                }
            case .field(let name, let template):
                let wanted = template.filled(with: variables)
                let values = response.fields.values(of: name)
                if values.contains(where: { $0.utf8.elementsEqual(wanted) }) { return nil }
                let found = values.isEmpty ? "is not there" : "is \(values.map { quoted($0) }.joined(separator: ", "))"
                return ScenarioStep.problem(
                    "header \(oneLine(name))",
                    "the field \(oneLine(name)) \(found)",
                    Self.text(wanted)
                )
            case .content(let template):
                let wanted = template.filled(with: variables)
                var matched = 0
                let search = ByteSearch(wanted)
                search.advance(&matched, over: response.body.span)
                if search.isFound(matched) { return nil }
                return ScenarioStep.problem(
                    "body",
                    "the content is \(Self.text(response.body))",
                    Self.text(wanted) + " in it"
                )
            }
        }

        private static func problem(
            _ pointer: JSONPointer,
            _ document: JSONTree?,
            _ wanted: JSONTree,
            isMet: (JSONTree) -> Bool
        ) -> Problem? {
            let found = document.flatMap { pointer.value(in: $0) }
            if let found, isMet(found) { return nil }
            let name = oneLine(pointer.description)
            let state =
                document == nil
                ? "the content is no JSON" : "\(name) is \(found.map { oneLine($0.line()) } ?? "not there")"
            return ScenarioStep.problem("json \(name)", state, oneLine(wanted.line()))
        }

        private static func text(_ bytes: [UInt8]) -> String {
            quoted(String(decoding: bytes.prefix(400), as: UTF8.self))
        }

        var readsFields: Bool { if case .field = self { true } else { false } }
        var readsJSON: Bool {
            switch self {
            case .json, .filledJSON: true
            case .field, .content: false
            }
        }
    }

    /// Why an answer is not as wanted: the kind, by which failures are counted, and what was found and is wanted.
    typealias Problem = (kind: String, words: String)

    private static func problem(_ kind: String, _ found: String, _ wanted: String) -> Problem {
        (kind, "\(found), and \(wanted) is wanted")
    }

    /// The checks of the answer. Nil for those of the run.
    let checks: ResponseChecks?
    private let expectations: [Expectation]
    private let extractions: [Extraction]
    /// Whether the visit continues after an answer that was not a success.
    let goesOn: Bool
    let readsFields: Bool
    let readsContent: Bool
    private let readsJSON: Bool

    package init(
        checks: ResponseChecks? = nil,
        expectations: [Expectation] = [],
        extractions: [Extraction] = [],
        goesOn: Bool = false
    ) {
        (self.checks, self.expectations, self.extractions) = (checks, expectations, extractions)
        self.goesOn = goesOn
        readsFields = expectations.contains(where: \.readsFields) || extractions.contains { !$0.source.readsContent }
        readsContent = expectations.contains { !$0.readsFields } || extractions.contains { $0.source.readsContent }
        readsJSON = expectations.contains(where: \.readsJSON) || extractions.contains { $0.source.readsJSON }
    }

    var inspects: Bool { readsFields || readsContent || checks?.isEmpty == false }

    /// Checks the answer, and takes values from it for the requests that follow. Returns what was wrong.
    func read(_ response: LoadResponse, into variables: inout [[UInt8]]) -> Problem? {
        guard readsFields || readsContent else { return nil }
        let document = readsJSON ? try? JSONReader.read(response.body) : nil
        for expectation in expectations {
            if let problem = expectation.problem(in: response, document, variables) { return problem }
        }
        for extraction in extractions {
            guard let value = extraction.source.value(in: response, document) ?? extraction.fallback else {
                let name = oneLine(extraction.name)
                return ScenarioStep.problem("extract \(name)", "the answer has no \(name)", "one")
            }
            if variables.indices.contains(extraction.variable) { variables[extraction.variable] = value }
        }
        return nil
    }
}

extension JSONTree {
    /// Whether both are the same value. Numbers may be written differently, and the order of members does not count.
    fileprivate func isSameValue(as other: JSONTree) -> Bool {
        switch (self, other) {
        case (.array(let mine), .array(let theirs)):
            mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.isSameValue(as: $1) }
        case (.object(let mine), .object(let theirs)):
            mine.count == theirs.count && Self.haveSameValues(mine, theirs)
        case (.number, .number), (.number, .integer), (.integer, .number): number == other.number
        case (.integer(let mine), .integer(let theirs)): mine == theirs
        case (.bool(let mine), .bool(let theirs)): mine == theirs
        // RFC 8259 §8.3: texts are compared code unit by code unit.
        case (.string(let mine), .string(let theirs)): OctetText(mine) == OctetText(theirs)
        case (.null, .null): true
        case (.null, _), (.bool, _), (.integer, _), (.number, _), (.string, _), (.array, _), (.object, _): false
        }
    }

    private static func haveSameValues(_ mine: [(String, JSONTree)], _ theirs: [(String, JSONTree)]) -> Bool {
        let values = Dictionary(mine.map { (OctetText($0.0), $0.1) }) { first, _ in first }
        return theirs.allSatisfy { values[OctetText($0.0)]?.isSameValue(as: $0.1) == true }
    }
}

/// The extraction of a value from an answer, for the requests that follow.
///
/// - variable: The number of the variable that receives the value.
/// - fallback: The value where the answer has none. Without it, such an answer fails the request.
package typealias Extraction = (name: String, variable: Int, source: ExtractionSource, fallback: [UInt8]?)

package enum ExtractionSource: Sendable {
    case json(JSONPointer)
    case field(String)
    case cookie(String)
    /// A pattern in the content: its first group, or the whole match.
    case pattern(BytePattern)

    /// - Parameter document: The content, if it is JSON.
    func value(in response: LoadResponse, _ document: JSONTree?) -> [UInt8]? {
        switch self {
        case .json(let pointer):
            switch document.flatMap({ pointer.value(in: $0) }) {
            case .string(let text)?: Array(text.utf8)
            case let other?: Array(other.line().utf8)
            case nil: nil
            }
        case .field(let name): response.fields.octets(of: name).first.map(Array.init)
        case .cookie(let name):
            response.fields.values(of: "Set-Cookie").lazy.compactMap { SetCookieLine($0) }.first { $0.name == name }.map
            { Array($0.value.utf8) }
        case .pattern(let pattern): pattern.first(in: response.body).map { Array($0) }
        }
    }

    var readsContent: Bool {
        switch self {
        case .json, .pattern: true
        case .field, .cookie: false
        }
    }

    var readsJSON: Bool { if case .json = self { true } else { false } }
}
