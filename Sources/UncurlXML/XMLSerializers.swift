// XML has a module of its own, so that only programs that import it link libxml2.

public import FoundationXML
internal import Synchronization
@_exported public import Uncurl

/// Returns XML that has not been parsed. Whether it is well-formed shows when its events are read.
public struct XMLParserResponseSerializer: ResponseSerializer {
    /// Which answers are acceptable: by default those with the status 200 to 299 and one of the ``contentTypes``.
    public var validation: ResponseValidation

    /// `application/xml`, `text/xml`, and types with the suffix `+xml` (RFC 7303), such as `application/atom+xml`.
    public static let contentTypes: AcceptableTypes = ["application/xml", "text/xml"]

    /// Makes a serializer with this validation.
    public init(validation: ResponseValidation = ResponseValidation(contentTypes: contentTypes)) {
        self.validation = validation
    }

    /// - Throws: `SerializationFailure` with the reason `xml`, where the octets are not text in their encoding.
    public func serialize(_ answer: ReceivedResponse) throws -> XMLContent {
        try XMLContent(answer)
    }
}

/// Reads a document as a tree, for code that walks it or queries it with XPath.
public struct XMLDocumentResponseSerializer: ResponseSerializer {
    /// Which answers are acceptable: by default those with the status 200 to 299 and one of
    /// ``XMLParserResponseSerializer/contentTypes``.
    public var validation: ResponseValidation

    /// Makes a serializer with this validation.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: XMLParserResponseSerializer.contentTypes)
    ) {
        self.validation = validation
    }

    /// - Throws: `SerializationFailure` with the reason `xml`, where the document is not well-formed or is nested too
    ///   deeply.
    public func serialize(_ answer: ReceivedResponse) throws -> XMLTree {
        let content = try XMLContent(answer)
        do {
            return try XMLTree(content)
        } catch {
            throw SerializationFailure(.xml, answer: answer, underlying: error)
        }
    }
}

extension ResponseSerializer where Self == XMLParserResponseSerializer {
    /// A document as events: ``XMLParserResponseSerializer`` with its defaults.
    public static var xml: XMLParserResponseSerializer { XMLParserResponseSerializer() }
}

extension ResponseSerializer where Self == XMLDocumentResponseSerializer {
    /// A document as a tree: ``XMLDocumentResponseSerializer`` with its defaults.
    public static var xmlDocument: XMLDocumentResponseSerializer { XMLDocumentResponseSerializer() }
}

/// A well-formed document as a tree. It may be shared between threads although `XMLDocument` may not, because each
/// caller gets an `XMLDocument` of its own.
public final class XMLTree: Sendable {
    /// The source of the tree.
    public let content: XMLContent
    /// The first document. Later callers get a new one.
    private let first: Mutex<XMLDocument?>

    /// The most levels of nesting, which is libxml2's own limit.
    public static let maximumDepth = 256

    /// - Throws: ``XMLFailure``
    public init(_ content: XMLContent) throws {
        // Foundation's documents recover from any error, print their complaints, and trap on empty data.
        var depth = 0
        try content.forEachEvent { event in
            switch event {
            case .start: depth += 1
            case .end: depth -= 1
            case .text, .cdata, .comment, .instruction: break
            }
            guard depth <= Self.maximumDepth else { throw XMLFailure.tooDeep(limit: Self.maximumDepth) }
        }
        self.content = content
        first = Mutex(try Self.document(content))
    }

    /// A document that no other code refers to. It loads nothing from outside.
    public func makeDocument() throws -> sending XMLDocument {
        if let document = first.withLock({ document in
            let taken = document
            document = nil
            return taken
        }) {
            return document
        }
        return try Self.document(content)
    }

    private static func document(_ content: XMLContent) throws -> sending XMLDocument {
        try XMLDocument(data: content.data, options: [.nodeLoadExternalEntitiesNever, .nodePreserveCDATA])
    }
}
