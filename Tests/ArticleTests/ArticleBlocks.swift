import FacadeTestSupport
import Foundation

/// The blocks of Swift in a document, in groups: a block sees what those before it have declared, and one that imports
/// begins anew.
struct ArticleBlocks {
    struct Block {
        var line: Int
        var text: String
    }

    struct Group {
        var document: String
        var imports: [String] = []
        var blocks: [Block] = []
    }

    private(set) var groups: [Group] = []

    init(of document: String, _ text: String) {
        var open: Block?
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if var block = open {
                if line.hasPrefix("```") {
                    open = nil
                    add(block, document)
                } else {
                    block.text += line + "\n"
                    open = block
                }
            } else if line == "```swift" {
                open = Block(line: number + 2, text: "")
            }
        }
    }

    private mutating func add(_ block: Block, _ document: String) {
        let lines = block.text.split(separator: "\n", omittingEmptySubsequences: false)
        let imports = lines.filter { $0.hasPrefix("import ") }.map(String.init)
        if groups.isEmpty || !imports.isEmpty { groups.append(Group(document: document, imports: imports)) }
        var block = block
        // A blank line in its place, so that the compiler's line numbers are the document's.
        block.text = lines.map { $0.hasPrefix("import ") ? "" : $0 }.joined(separator: "\n")
        groups[groups.count - 1].blocks.append(block)
    }
}

extension ArticleBlocks.Group {
    /// Those of a package's manifest are no part of a program.
    var isManifest: Bool { imports.contains("import PackageDescription") }

    /// As a function, whose servers are the one of `base`.
    func function(_ name: String) -> String {
        var text = (imports.isEmpty ? ["import Uncurl"] : imports).joined(separator: "\n") + "\n"
        text += "func \(name)() async throws {\n"
        text +=
            "let (manager, folder, photo, place, url) = (given.manager(), given.folder, given.photo, given.place, given.url)\n"
        return text + scopes { $0.replacing(Self.server) { "(given.base + \"\($0.output.1)\")" } } + "}\n"
    }

    /// As a function that only compiles.
    func bareFunction(_ name: String, importing module: String) -> String {
        let imports = imports.isEmpty ? ["import \(module)"] : imports
        return imports.joined(separator: "\n") + "\nfunc \(name)() async throws {\n" + scopes { $0 } + "}\n"
    }

    /// Each block in a scope of its own within the one before: names may be declared again.
    private func scopes(_ written: (String) -> String) -> String {
        var text = ""
        for block in blocks {
            text += "do {\n#sourceLocation(file: \"\(document)\", line: \(block.line))\n"
            text += written(block.text) + "\n#sourceLocation()\n"
        }
        return text + String(repeating: "}\n", count: blocks.count)
    }

    /// A URL of the servers that the documents speak of.
    private static var server: Regex<(Substring, Substring)> {
        /"https?:\/\/(?:api\.example\.com|localhost:[0-9]+)(\/[^"]*)"/
    }
}
