public import FoundationXML
internal import Synchronization
internal import Uncurl

/// A well-formed document, read. It may be shared between threads although `XMLDocument` may not: each caller gets a
/// document of its own.
public final class XMLTree: Sendable {
    /// The document that the tree was made of.
    public let content: XMLContent
    /// The first document. Later callers get one that is made anew.
    private let first: Mutex<XMLDocument?>

    /// libxml2's own: what is nested deeper is not built.
    public static let maximumDepth = 256

    /// - Throws: ``XMLFailure``
    public init(_ content: XMLContent) throws {
        // Foundation's documents recover from anything, print their complaints, and trap on nothing at all.
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
