public import Uncurl

/// Why octets cannot be read as an XML document.
public enum XMLFailure: Error, Sendable, Hashable {
    /// - Parameters:
    ///   - code: a code of `XMLParser.ErrorCode`.
    ///   - line: counted from 1, as is the column.
    case notWellFormed(code: Int, line: Int, column: Int)
    /// The octets end before the root element does, or there is no root element.
    case incomplete
    /// The document declares entities. An entity can name a local file or expand without limit, and Foundation's parser
    /// drops its text silently.
    case entities
    /// The document has a processing instruction without content, `<?p?>`. Foundation's parser traps on it.
    case emptyInstruction
    /// The encoding is unknown, or the octets are not text in it.
    case encoding
    /// The document has more levels than the limit, which is libxml2's.
    case tooDeep(limit: Int)

    /// Refuses what Foundation's parser must not get. Only a document with a document type declaration can declare
    /// entities. The check does not distinguish positions: it also finds these octets in comments and CDATA sections,
    /// because to tell positions apart would take a parser.
    static func refuse(_ data: Data) throws(XMLFailure) {
        if data.firstRange(of: Data("<!DOCTYPE".utf8)) != nil, data.firstRange(of: Data("<!ENTITY".utf8)) != nil {
            throw .entities
        }
        var rest = data[...]
        while let start = rest.firstRange(of: Data("<?".utf8)) {
            rest = rest[start.upperBound...]
            // Whitespace ends the target. What follows is content, even if it is empty.
            let target = rest.prefix { $0 != UInt8(ascii: "?") && $0 > 0x20 }
            if data[target.endIndex...].starts(with: "?>".utf8) { throw .emptyInstruction }
        }
    }
}

extension XMLFailure: CustomStringConvertible, LocalizedError {
    public var description: String {
        switch self {
        case .notWellFormed(let code, let line, let column):
            "the XML is not well-formed at line \(line), column \(column) (error \(code))"
        case .incomplete: "the XML ends before its root element does"
        case .entities: "the XML declares entities"
        case .emptyInstruction: "the XML has a processing instruction without content"
        case .encoding: "the encoding of the XML is unknown, or the XML is not text in the declared encoding"
        case .tooDeep(let limit): "the XML is nested deeper than \(limit) levels"
        }
    }

    public var errorDescription: String? { description }
}
