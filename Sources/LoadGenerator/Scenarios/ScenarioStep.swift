package import TextCoding

/// The step of a request: the conditions of its answer, and the values to take from the answer. This is a class, so
/// that thousands of users share one step.
package final class ScenarioStep: Sendable {
    /// A value that the content must have, as JSON.
    package struct Expectation: Sendable {
        let pointer: JSONPointer
        let value: JSONTree

        package init(_ pointer: JSONPointer, _ value: JSONTree) { (self.pointer, self.value) = (pointer, value) }

        func isMet(by document: JSONTree?) -> Bool {
            document.flatMap { pointer.value(in: $0) }?.isSameValue(as: value) == true
        }
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
        readsFields = extractions.contains { !$0.readsContent }
        readsContent = !expectations.isEmpty || extractions.contains { $0.readsContent }
        readsJSON = !expectations.isEmpty || extractions.contains { $0.readsJSON }
    }

    /// Whether any part of an answer is read.
    var inspects: Bool { readsFields || readsContent || checks?.isEmpty == false }

    /// Checks the answer, and takes values from it for the requests that follow. Returns what was wrong, in words that
    /// no server chooses.
    func read(_ response: LoadResponse, into variables: inout [[UInt8]]) -> String? {
        guard readsFields || readsContent else { return nil }
        let document = readsJSON ? try? JSONReader.read(response.body) : nil
        for expectation in expectations where !expectation.isMet(by: document) {
            return "json \(oneLine(expectation.pointer.description))"
        }
        for extraction in extractions {
            guard let value = extraction.value(in: response, document) ?? extraction.fallback else {
                return "extract \(oneLine(extraction.name))"
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
