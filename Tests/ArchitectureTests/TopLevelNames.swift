/// Which of a room's files use which others, by the names of the types that each declares at its top level, and by
/// those of the members that it alone declares.
struct TopLevelNames {
    /// By path, the paths of the files whose types a file names.
    let uses: [String: Set<String>]
    /// By path, the paths of the files whose members a file names. A lower bound: a member counts if its name is long,
    /// and no other declaration of all sources has it.
    let memberUses: [String: Set<String>]

    /// - Parameters:
    ///   - files: the files of a room.
    ///   - members: by its name, the path of the file that declares a member. See ``membersDeclaredOnce(in:)``.
    init(of files: [SourceTree.File], members: [Substring: String] = [:]) {
        var owners: [Substring: String] = [:]
        for file in files {
            for name in Self.declared(in: file.code) { owners[name] = file.path }
        }
        let paths = Set(files.map(\.path))
        func uses(_ names: (SourceTree.File) -> [Substring], _ owners: [Substring: String]) -> [String: Set<String>] {
            Dictionary(
                uniqueKeysWithValues: files.map { file in
                    let used = Set(names(file).compactMap { owners[$0] })
                    return (file.path, used.intersection(paths).subtracting([file.path]))
                }
            )
        }
        self.uses = uses(\.words, owners)
        memberUses = uses(\.memberWords, members)
    }

    /// The members of types in `files`, by their names, that only one declaration has. Names that Swift or Foundation
    /// has too are left out.
    static func membersDeclaredOnce(in files: [SourceTree.File]) -> [Substring: String] {
        var counts: [Substring: Int] = [:]
        var owners: [Substring: String] = [:]
        for file in files {
            // A line at a time: the engine would try each place in the file.
            for declaration in file.code.utf8.split(separator: UInt8(ascii: "\n"))
                .compactMap({ Substring($0).prefixMatch(of: member) })
            {
                let (_, indentation, marks, kind, name) = declaration.output
                counts[name, default: 0] += 1
                if indentation.count == 4, kind != "case", !marks.contains("private") { owners[name] = file.path }
            }
        }
        let foreign: Set<Substring> = [
            "hasPrefix", "unicodeScalars", "setCookie", "localizedDescription", "singleValueContainer", "description",
        ]
        return owners.filter { counts[$0.key] == 1 && $0.key.count >= 8 && !foreign.contains($0.key) }
    }

    nonisolated(unsafe) private static let member =
        /( *)((?:@\w+(?:\([^)]*\))? +|[a-z]+(?:\(set\))? )*)(func|var|let|case) +(\w+)/

    /// The circles by the names of types alone.
    var circles: [[String]] { Self.circles(uses) }

    /// The circles by the names of types and of members.
    var circlesWithMembers: [[String]] { Self.circles(uses.merging(memberUses) { $0.union($1) }) }

    /// The files in which one can go from each to each of the others and back, largest circle first. Files that are in
    /// none are left out.
    private static func circles(_ uses: [String: Set<String>]) -> [[String]] {
        var places: [String: Int] = [:]
        var lowest: [String: Int] = [:]
        var stack: [String] = []
        var found: [[String]] = []
        // Tarjan's algorithm.
        func visit(_ file: String) {
            let place = places.count
            places[file] = place
            lowest[file] = place
            stack.append(file)
            for next in (uses[file] ?? []).sorted() {
                if places[next] == nil {
                    visit(next)
                    lowest[file] = min(lowest[file] ?? place, lowest[next] ?? place)
                } else if stack.contains(next) {
                    lowest[file] = min(lowest[file] ?? place, places[next] ?? place)
                }
            }
            guard lowest[file] == place, let start = stack.firstIndex(of: file) else { return }
            let circle = Array(stack[start...])
            stack.removeSubrange(start...)
            if circle.count > 1 { found.append(circle.sorted()) }
        }
        for file in uses.keys.sorted() where places[file] == nil { visit(file) }
        return found.sorted { $0.count > $1.count }
    }

    static func declared(in code: String) -> [Substring] {
        var names: [Substring] = []
        var depth = 0
        let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        for line in code.split(separator: "\n") {
            if depth == 0 {
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
                for (keyword, name) in zip(words, words.dropFirst()) where kinds.contains(keyword) {
                    names.append(name)
                    break
                }
            }
            for octet in line.utf8 {
                if octet == UInt8(ascii: "{") { depth += 1 } else if octet == UInt8(ascii: "}") { depth -= 1 }
            }
        }
        return names
    }
}
