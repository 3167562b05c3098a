public import Uncurl

/// Why octets cannot be read as an XML document.
public enum XMLFailure: Error, Sendable, Hashable {
    /// - Parameters:
    ///   - code: of `XMLParser.ErrorCode`.
    ///   - line: from 1, as is the column.
    case notWellFormed(code: Int, line: Int, column: Int)
    /// The end came before the root element's, or there was none.
    case incomplete
    /// The document declares entities: they can name files of this machine and grow without measure, and Foundation's
    /// parser drops their text without a word.
    case entities
    /// A processing instruction without content, `<?p?>`, anywhere: Foundation's parser traps on it.
    case emptyInstruction
    /// An encoding that is not known here, or octets that are no text in it.
    case encoding
    /// Trees of more levels are not built: libxml2 stops at the same number.
    case tooDeep(limit: Int)

    /// What Foundation's parser must not see. Where there is no document type there are no declarations, whatever
    /// text looks like one; other places are not told apart: that would be half a parser.
    static func refuse(_ data: Data) throws(XMLFailure) {
        if data.firstRange(of: Data("<!DOCTYPE".utf8)) != nil, data.firstRange(of: Data("<!ENTITY".utf8)) != nil {
            throw .entities
        }
        var rest = data[...]
        while let start = rest.firstRange(of: Data("<?".utf8)) {
            rest = rest[start.upperBound...]
            // Blanks end the target; whatever follows them is content, be it empty.
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
        case .encoding: "the XML is in an encoding that is not known, or not in the one it tells"
        case .tooDeep(let limit): "the XML is nested deeper than \(limit) levels"
        }
    }

    public var errorDescription: String? { description }
}
