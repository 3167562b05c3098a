// XML is a module of its own because it links libxml2. Only programs that import it pay for that.
@_exported public import Uncurl

/// XML that has not been read yet: whether it is any shows when its events are asked for.
public struct XMLParserResponseSerializer: ResponseSerializer {
    /// Which answers are read: status 200 to 299 and ``contentTypes``, unless set.
    public var validation: ResponseValidation

    /// `application/xml` and `text/xml`, with what RFC 7303 makes of them, such as `application/atom+xml`.
    public static let contentTypes: AcceptableTypes = ["application/xml", "text/xml"]

    /// Makes a serializer with this validation.
    public init(validation: ResponseValidation = ResponseValidation(contentTypes: contentTypes)) {
        self.validation = validation
    }

    /// - Throws: `SerializationFailure` with the reason `xml`, where the octets are no text in their encoding.
    public func serialize(_ answer: ReceivedResponse) throws -> XMLContent {
        try XMLContent(answer)
    }
}

/// A document as a tree, for code that walks it or queries it by XPath.
public struct XMLDocumentResponseSerializer: ResponseSerializer {
    /// Which answers are read: status 200 to 299 and ``XMLParserResponseSerializer/contentTypes``, unless set.
    public var validation: ResponseValidation

    /// Makes a serializer with this validation.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: XMLParserResponseSerializer.contentTypes)
    ) {
        self.validation = validation
    }

    /// - Throws: `SerializationFailure` with the reason `xml`, where the document is not well-formed or nested too
    ///   deep.
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
