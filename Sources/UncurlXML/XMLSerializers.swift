// XML, apart from the rest: it links libxml2, and only who imports it pays for that.
@_exported public import Uncurl

/// XML that has not been read yet: whether it is any shows when its events are asked for.
public struct XMLParserResponseSerializer: ResponseSerializer {
    public var validation: ResponseValidation

    public static let contentTypes: AcceptableTypes = ["application/xml", "text/xml"]

    public init(validation: ResponseValidation = ResponseValidation(contentTypes: contentTypes)) {
        self.validation = validation
    }

    public func serialize(_ answer: ReceivedResponse) throws -> XMLContent {
        try XMLContent(answer)
    }
}

/// A document as a tree, for whoever wants to walk it or ask it by XPath.
public struct XMLDocumentResponseSerializer: ResponseSerializer {
    public var validation: ResponseValidation

    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: XMLParserResponseSerializer.contentTypes)
    ) {
        self.validation = validation
    }

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
    public static var xml: XMLParserResponseSerializer { XMLParserResponseSerializer() }
}

extension ResponseSerializer where Self == XMLDocumentResponseSerializer {
    public static var xmlDocument: XMLDocumentResponseSerializer { XMLDocumentResponseSerializer() }
}
