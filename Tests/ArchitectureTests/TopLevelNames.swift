/// Which of a room's files use which others, by the names of the types that each declares at its top level. A lower
/// bound: members are not looked at.
struct TopLevelNames {
    /// By path, the paths of the files whose types a file names.
    let uses: [String: Set<String>]

    init(of files: [SourceTree.File]) {
        var owners: [Substring: String] = [:]
        for file in files {
            for name in Self.declared(in: file.code) { owners[name] = file.path }
        }
        uses = Dictionary(
            uniqueKeysWithValues: files.map { file in
                (file.path, Set(file.words.compactMap { owners[$0] }).subtracting([file.path]))
            }
        )
    }

    /// The files in which one can go from each to each of the others and back, largest circle first. Files that are in
    /// none are left out.
    var circles: [[String]] {
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

    private static func declared(in code: String) -> [Substring] {
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
            for character in line {
                if character == "{" { depth += 1 } else if character == "}" { depth -= 1 }
            }
        }
        return names
    }
}
