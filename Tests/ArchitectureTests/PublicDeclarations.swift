import Foundation

/// The public declarations of a room's files, as far as their text shows them: types, members, enum cases and protocol
/// requirements.
struct PublicDeclarations {
    struct Declaration: Hashable, CustomStringConvertible {
        let file: String
        let line: Int
        /// The types around it, outermost first.
        let scope: [String]
        /// Such as `adapt(_:for:)`.
        let name: String
        let isDocumented: Bool
        let isOverride: Bool
        /// Whether a protocol declares it, as a requirement or in an extension with a default.
        let isRequirement: Bool
        /// Whether it is a case of an enum.
        let isCase: Bool
        /// The names in its inheritance clause, of a type.
        let inherited: Set<String>

        var description: String { "\(file):\(line): \((scope + [name]).joined(separator: "."))" }
    }

    /// Those of all rooms, read once.
    static let ofSources = PublicDeclarations(of: SourceTree.sources)

    private(set) var all: [Declaration] = []
    /// Each type's name with the names in its inheritance clauses, those of its extensions included.
    private var parents: [String: Set<String>] = [:]

    init(of files: [SourceTree.File]) {
        for file in files {
            var reader = DeclarationReader(path: file.path, text: file.text, code: file.code)
            reader.read()
            all += reader.declarations
            parents.merge(reader.parents) { $0.union($1) }
        }
    }

    /// Those without a documentation comment. A member that implements a requirement, or overrides a method, has the
    /// words of what it implements.
    var undocumented: [Declaration] {
        var requirements: [String: Set<String>] = [:]
        for declaration in all where declaration.isRequirement {
            requirements[declaration.scope.last ?? "", default: []].insert(declaration.name)
        }
        return all.filter { declaration in
            guard !declaration.isDocumented, !declaration.isOverride else { return false }
            if Self.wellKnown.contains(declaration.name) { return false }
            guard let type = declaration.scope.last, !declaration.isRequirement else { return true }
            return !ancestors(of: type).contains { requirements[$0]?.contains(declaration.name) ?? false }
        }
    }

    func ancestors(of type: String) -> Set<String> {
        var found: Set<String> = [type]
        var open = [type]
        while let next = open.popLast() {
            for parent in parents[next] ?? [] where found.insert(parent).inserted { open.append(parent) }
        }
        return found
    }

    /// Requirements of protocols of Swift and of Foundation, which their own documentation describes.
    static let wellKnown: Set<String> = [
        "==", "<", "hash(into:)", "description", "debugDescription", "errorDescription", "failureReason",
        "recoverySuggestion", "errorDomain", "errorCode", "errorUserInfo", "encode(to:)", "init(from:)", "rawValue",
        "init(rawValue:)", "makeAsyncIterator()", "makeIterator()", "next()", "next(isolation:)", "startIndex",
        "endIndex", "index(after:)", "init(stringLiteral:)", "init(arrayLiteral:)", "init(dictionaryLiteral:)",
        "init(integerLiteral:)", "init(floatLiteral:)", "init(booleanLiteral:)", "init(nilLiteral:)", "Element",
        "AsyncIterator", "Iterator", "subscript(position:)", "now", "minimumResolution", "sleep(until:tolerance:)",
        "advanced(by:)", "duration(to:)",
    ]
}
