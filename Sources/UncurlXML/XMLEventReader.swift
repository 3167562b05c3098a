internal import Foundation
internal import FoundationXML

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
        if !isRead || parser.parserError != nil { throw failure(of: parser) }
        // Foundation's parser reports no error for less than four octets.
        guard hasRoot, depth == 0 else { throw XMLFailure.incomplete }
    }

    private func failure(of parser: XMLParser) -> XMLFailure {
        let code = (parser.parserError as NSError?)?.code ?? 0
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
        failure = .notWellFormed(
            code: (parseError as NSError).code,
            line: parser.lineNumber,
            column: parser.columnNumber
        )
        parser.abortParsing()
    }
}
