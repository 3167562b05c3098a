import TestSupport
import Testing

/// The table of errors (`Tests/ErrorTests`) against the errors that the products declare.
@Suite("Table of errors", .ownThread)
struct ErrorTableTests {
    private static let rooms = [
        "UncurlHTTP1", "UncurlSemantics", "UncurlReactor", "UncurlTLS", "UncurlWebSocket", "UncurlEngine", "URLLoading",
        "Uncurl", "UncurlExtras",
        "UncurlXML", "UncurlTestKit",
    ]

    private static let tables = SourceTree.swiftFiles(in: "Tests/ErrorTests").map(\.text).joined()

    private static let errors = PublicDeclarations.ofSources.all.filter {
        rooms.contains($0.room) && !$0.inherited.isDisjoint(with: ["Error", "LocalizedError", "CustomNSError"])
    }

    @Test("each public error type has a row, and each of its cases")
    func rows() {
        #expect(Self.errors.count >= 45)
        for error in Self.errors {
            let name = (error.scope.suffix(1) + [error.name]).joined(separator: ".")
            #expect(Self.mentions(name + "(") || Self.mentions(name + "."), "\(error) is not in the table")
            for declaration in PublicDeclarations.ofSources.all
            where declaration.isCase && declaration.file == error.file {
                guard declaration.scope == error.scope + [error.name] else { continue }
                #expect(Self.mentions("\(error.name).\(declaration.name)"), "\(declaration) is not in the table")
            }
        }
    }

    /// As a whole word.
    private static func mentions(_ text: String) -> Bool {
        tables.ranges(of: text).contains { range in
            guard text.last?.isLetter == true, range.upperBound < tables.endIndex else { return true }
            let next = tables[range.upperBound]
            return !next.isLetter && !next.isNumber
        }
    }
}

extension PublicDeclarations.Declaration {
    /// The module that declares it.
    fileprivate var room: String { file.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
}
