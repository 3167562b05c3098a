internal import Foundation
internal import FoundationXML
public import Uncurl

/// Converts the calls of `XMLParser` to events. One object reads one document, on one thread.
final class XMLEventReader: NSObject, XMLParserDelegate {
    private let body: (XMLEvent) throws -> Void
    private var pending = ""
    private var depth = 0
    private var hasRoot = false
    private var thrown: (any Error)?
    private var failure: XMLFailure?

    init(_ body: @escaping (XMLEvent) throws -> Void) {
        self.body = body
    }

    func read(_ parser: XMLParser) throws {
        parser.delegate = self
        let isRead = parser.parse()
        if let thrown { throw thrown }
        if let failure { throw failure }
        if !isRead || parser.parserError != nil { throw failure(of: parser, parser.parserError) }
        // Foundation's parser reports no error for less than four octets.
        guard hasRoot, depth == 0 else { throw XMLFailure.incomplete }
    }

    private func failure(of parser: XMLParser, _ error: (any Error)?) -> XMLFailure {
        let code = (error as NSError?)?.code ?? 0
        return .notWellFormed(code: code, line: parser.lineNumber, column: parser.columnNumber)
    }

    private func tell(_ event: XMLEvent, _ parser: XMLParser) {
        flush(parser)
        pass(event, parser)
    }

    /// Text comes in pieces, around each reference and at the end of each buffer.
    private func flush(_ parser: XMLParser) {
        guard !pending.isEmpty else { return }
        let text = pending
        pending = ""
        pass(.text(text), parser)
    }

    private func pass(_ event: XMLEvent, _ parser: XMLParser) {
        guard thrown == nil, failure == nil else { return }
        do {
            try body(event)
        } catch {
            thrown = error
            parser.abortParsing()
        }
    }

    func parser(
        _ parser: XMLParser,
        didStartElement elementName: String,
        namespaceURI: String?,
        qualifiedName qName: String?,
        attributes attributeDict: [String: String]
    ) {
        hasRoot = true
        depth += 1
        let namespace = namespaceURI.flatMap { $0.isEmpty ? nil : $0 }
        tell(.start(name: qName ?? elementName, namespace: namespace, attributes: attributeDict), parser)
    }

    func parser(
        _ parser: XMLParser,
        didEndElement elementName: String,
        namespaceURI: String?,
        qualifiedName qName: String?
    ) {
        depth -= 1
        tell(.end(name: qName ?? elementName), parser)
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { pending += string }

    func parser(_ parser: XMLParser, foundCDATA CDATABlock: Data) { tell(.cdata(CDATABlock), parser) }

    func parser(_ parser: XMLParser, foundComment comment: String) { tell(.comment(comment), parser) }

    func parser(_ parser: XMLParser, foundProcessingInstructionWithTarget target: String, data: String?) {
        tell(.instruction(target: target, data: data), parser)
    }

    /// libxml2 continues after some errors. Its later events do not belong to a well-formed document.
    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        guard thrown == nil, failure == nil else { return }
        failure = failure(of: parser, parseError)
        parser.abortParsing()
    }
}

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
