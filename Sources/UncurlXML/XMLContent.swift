public import FoundationXML
public import Uncurl

/// An XML document and the ways to read it. It is a value: each reader makes an `XMLParser` of its own, on its own
/// thread.
public struct XMLContent: Sendable, Hashable {
    /// The document in UTF-8, without a declaration of another encoding.
    public let data: Data

    /// Decodes a document. It is not parsed yet.
    ///
    /// - Parameters:
    ///   - data: the document's octets.
    ///   - encoding: takes precedence over the document's own declaration (RFC 7303 §3). Nil: the encoding of a byte
    ///     order mark, else the declared one, else UTF-8.
    /// - Throws: ``XMLFailure/encoding`` for an unknown encoding, or for octets that are not text in it.
    public init(_ data: Data, encoding: String.Encoding? = nil) throws(XMLFailure) {
        let used = if let encoding { encoding } else { try Self.encoding(of: data) }
        let answer = ReceivedResponse(response: nil, data: data)
        // The document is decoded here, because the parser knows more encodings than the checks below. The checks must
        // see the text that the parser reads.
        guard let text = try? StringResponseSerializer(encoding: used).serialize(answer) else { throw .encoding }
        self.data = Data(Self.withoutDeclaration(text).utf8)
    }

    init(_ answer: ReceivedResponse) throws {
        let content = try answer.content()
        // A byte order mark overrides the answer's charset (RFC 7303 §3).
        let encoding = try String.Encoding.marked(content) ?? answer.knownCharset()
        do throws(XMLFailure) {
            try self.init(content, encoding: encoding)
        } catch {
            throw SerializationFailure(.xml, answer: answer, underlying: error)
        }
    }

    /// Foundation's parser, which has read nothing yet. It processes namespaces and loads nothing from outside. It
    /// accepts some incomplete documents, which ``forEachEvent(_:)`` refuses.
    ///
    /// - Throws: ``XMLFailure`` where the document declares entities, or contains what the parser traps on.
    public func makeParser() throws(XMLFailure) -> XMLParser {
        try XMLFailure.refuse(data)
        let parser = XMLParser(data: data)
        parser.shouldProcessNamespaces = true
        parser.shouldResolveExternalEntities = false
        return parser
    }

    /// Calls `body` with each part of the document in order, on the caller's thread.
    ///
    /// - Throws: ``XMLFailure`` where the document is not well-formed, after the parts before that position. An error
    ///   from `body` ends the reading.
    public func forEachEvent(_ body: (XMLEvent) throws -> Void) throws {
        let parser = try makeParser()
        try withoutActuallyEscaping(body) { body in
            try XMLEventReader(body).read(parser)
        }
    }

    /// All parts of the document.
    public func events() throws -> [XMLEvent] {
        var events: [XMLEvent] = []
        try forEachEvent { events.append($0) }
        return events
    }

    private static func encoding(of data: Data) throws(XMLFailure) -> String.Encoding {
        if let marked = String.Encoding.marked(data) { return marked }
        if data.starts(with: [0, 0x3C]) { return .utf16BigEndian }
        if data.starts(with: [0x3C, 0]) { return .utf16LittleEndian }
        guard let name = declaredEncoding(data) else { return .utf8 }
        guard let encoding = String.Encoding(charset: name) else { throw .encoding }
        return encoding
    }

    /// XMLDecl ::= '<?xml' VersionInfo EncodingDecl? SDDecl? S? '?>' (XML 1.0 §2.8), which is ASCII here.
    private static func declaredEncoding(_ data: Data) -> String? {
        // No real declaration is longer. Without a declaration the document is UTF-8.
        let start = String(decoding: data.prefix(256), as: UTF8.self)
        guard start.hasPrefix("<?xml"), let end = start.firstRange(of: "?>") else { return nil }
        let declaration = start[..<end.lowerBound]
        guard let word = declaration.firstRange(of: "encoding") else { return nil }
        let rest = declaration[word.upperBound...].drop { $0.isWhitespace || $0 == "=" }
        guard let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
        return String(rest.dropFirst().prefix { $0 != quote })
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
    ///   - name: the name as it is written, with its prefix, as are the attributes' names.
    ///   - namespace: the namespace; nil for none.
    case start(name: String, namespace: String?, attributes: [String: String])
    /// An element's end tag, or the end of an empty element. The name is as it is written.
    case end(name: String)
    /// All the text between two other parts, with references resolved.
    case text(String)
    /// The octets of a CDATA section, in UTF-8.
    case cdata(Data)
    /// The text between `<!--` and `-->`.
    case comment(String)
    /// A processing instruction. `data` is nil where nothing follows the target.
    case instruction(target: String, data: String?)
}
