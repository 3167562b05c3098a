public import Uncurl

/// Why octets are no XML document that is read here.
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
    /// Trees of more levels are not built: libxml2 stops at the same number.
    case tooDeep(limit: Int)

    /// Where there is no document type there are no declarations, whatever text looks like one.
    static func refuseEntities(_ data: Data) throws(XMLFailure) {
        guard data.firstRange(of: Data("<!DOCTYPE".utf8)) != nil else { return }
        guard data.firstRange(of: Data("<!ENTITY".utf8)) == nil else { throw .entities }
    }
}

extension XMLFailure: CustomStringConvertible, LocalizedError {
    public var description: String {
        switch self {
        case .notWellFormed(let code, let line, let column):
            "the XML is not well-formed at line \(line), column \(column) (error \(code))"
        case .incomplete: "the XML ends before its root element does"
        case .entities: "the XML declares entities"
        case .tooDeep(let limit): "the XML is nested deeper than \(limit) levels"
        }
    }

    public var errorDescription: String? { description }
}
