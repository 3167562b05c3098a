public import FoundationXML
public import Uncurl

/// The octets of an XML document, and the ways to read them. A value: `XMLParser`, which is none, is made anew by
/// whoever reads, on his own thread.
public struct XMLContent: Sendable, Hashable {
    public let data: Data

    /// In any encoding that the document tells of itself.
    public init(_ data: Data) {
        self.data = data
    }

    /// The charset of the content type counts before the document's own word, and a byte order mark where there is
    /// none (RFC 7303 §3). Then the octets are brought to UTF-8, and the declaration that says otherwise is left out.
    init(_ answer: ReceivedResponse) throws {
        let content = try answer.content()
        guard let encoding = answer.charset ?? Self.encoding(of: content), !content.isEmpty else {
            data = content
            return
        }
        let text = try StringResponseSerializer(encoding: encoding).serialize(answer)
        data = Data(Self.withoutDeclaration(text).utf8)
    }

    /// A parser that has read nothing yet. It knows namespaces, and loads nothing from outside. Foundation's own: it
    /// calls some documents complete that are not; ``forEachEvent(_:)`` does not.
    public func makeParser() -> XMLParser {
        let parser = XMLParser(data: data)
        parser.shouldProcessNamespaces = true
        parser.shouldResolveExternalEntities = false
        return parser
    }

    /// Calls `body` with each part of the document in its order, on the caller's thread.
    ///
    /// - Throws: ``XMLFailure`` where the document is not well-formed, after what stands before that place; or what
    /// `body`
    ///   throws, which ends the reading.
    public func forEachEvent(_ body: (XMLEvent) throws -> Void) throws {
        try XMLFailure.refuseEntities(data)
        try withoutActuallyEscaping(body) { body in
            let reader = XMLEventReader(body)
            try reader.read(makeParser())
        }
    }

    /// All parts of the document.
    public func events() throws -> [XMLEvent] {
        var events: [XMLEvent] = []
        try forEachEvent { events.append($0) }
        return events
    }

    private static func encoding(of data: Data) -> String.Encoding? {
        if data.starts(with: [0xFE, 0xFF]) || data.starts(with: [0, 0x3C]) { return .utf16BigEndian }
        if data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0x3C, 0]) { return .utf16LittleEndian }
        return nil
    }

    private static func withoutDeclaration(_ text: String) -> Substring {
        guard text.hasPrefix("<?xml"), text.dropFirst(5).first?.isWhitespace == true,
            let end = text.firstRange(of: "?>")
        else { return text[...] }
        return text[end.upperBound...]
    }
}

/// A part of a document.
public enum XMLEvent: Sendable, Hashable {
    /// - Parameters:
    ///   - name: as written, with its prefix; attributes likewise.
    ///   - namespace: nil for none.
    case start(name: String, namespace: String?, attributes: [String: String])
    case end(name: String)
    /// All the text between two other parts, references resolved.
    case text(String)
    case cdata(Data)
    case comment(String)
    case instruction(target: String, data: String?)
}
