public import FoundationXML
internal import Synchronization
internal import Uncurl

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
